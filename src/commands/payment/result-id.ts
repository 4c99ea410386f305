/**
 * The secret name of a paid answer. Request ids are in answers, callbacks, histories and logs, so an answer does not open
 * by one: it opens by an id that is derived from the master key, and that no event, log line or other answer holds. Each
 * node can make it again, for a caller who repeats a payment identifier.
 */
import { timingSafeEqual } from 'node:crypto';
import { MasterKeyMissing, type MasterKeys } from '../../callbacks/master-keys.ts';
import { type Problem, problem } from '../../errors.ts';

/** What an id that was presented names. It is authentic: only this service can have made it. */
export interface NamedResult {
  readonly requestId: string;
  /** The version of the master key that the id is derived from; null for an answer that was sold by its request id. */
  readonly resultKey: number | null;
}

export interface ResultIds {
  /** The version that new ids are derived from. */
  readonly newest: number;
  /** @throws MasterKeyMissing if this node does not have the version */
  idOf(result: NamedResult): string;
  /** Null for an id that was never given out. */
  read(id: string): NamedResult | Problem | null;
}

const FORM = /^r([1-9]\d{0,5})-([\w-]{43})$/;
/** Answers were sold by their request id until ids became secret; those stay readable by it. */
const REQUEST_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const ID_BYTES = 16;

export function createResultIds(masterKeys: Pick<MasterKeys, 'newest' | 'resultTagOf'>): ResultIds {
  const idOf: ResultIds['idOf'] = ({ requestId, resultKey }) => {
    if (resultKey === null) return requestId;
    const named = Buffer.from(requestId.replaceAll('-', ''), 'hex');
    return `r${resultKey}-${Buffer.concat([named, masterKeys.resultTagOf(requestId, resultKey)]).toString('base64url')}`;
  };
  return {
    newest: masterKeys.newest,
    idOf,
    read(id) {
      if (REQUEST_ID.test(id)) return { requestId: id.toLowerCase(), resultKey: null };
      const [, version, encoded] = FORM.exec(id) ?? [];
      if (version === undefined || encoded === undefined) return null;
      const result = { requestId: uuidOf(Buffer.from(encoded, 'base64url')), resultKey: Number(version) };
      try {
        return isSame(idOf(result), id) ? result : null;
      } catch (error) {
        if (error instanceof MasterKeyMissing) return resultKeyMissing();
        throw error;
      }
    },
  };
}

/** This node does not have the version of the master key that a result's id is derived from. */
export const resultKeyMissing = (): Problem =>
  problem(
    'service_unavailable',
    { component: 'signing_keys', retry_after: 60 },
    'This node cannot check the id of this result now.',
  );

function uuidOf(bytes: Buffer): string {
  const hex = bytes.subarray(0, ID_BYTES).toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

const isSame = (one: string, other: string): boolean =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));

/**
 * The secret id of a paid answer. Request ids appear in answers, callbacks, histories and logs, so they must not open
 * an answer. Result ids are derived from the master key and appear nowhere else. Every node can derive one again for a
 * caller that repeats a payment identifier.
 */
import { timingSafeEqual } from 'node:crypto';
import { MasterKeyMissing, type MasterKeys } from '../../callbacks/master-keys.ts';
import { type Problem, problem } from '../../errors.ts';

/** The answer that a presented id names. Ids are authentic: only this service can create one. */
export interface NamedResult {
  readonly requestId: string;
  /** The version of the master key that the id is derived from; null for an answer sold under its request id. */
  readonly resultKey: number | null;
}

export interface ResultIds {
  /** The version for new ids. */
  readonly newest: number;
  /** @throws MasterKeyMissing if this node does not have the version */
  idOf(result: NamedResult): string;
  /** Null for an id that was never issued. */
  read(id: string): NamedResult | Problem | null;
}

const FORM = /^r([1-9]\d{0,5})-([\w-]{43})$/;
/** Before ids became secret, an answer was sold under its request id; it stays readable by it. */
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

/** This node does not have the version of the master key that the result id is derived from. */
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

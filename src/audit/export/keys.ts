/** The table of signing keys: one row a key, with the time in which it was valid. No secret is in the log. */
import type { DomainEvent } from '../../events/event.ts';
import { SIGNING_KEY_CHANGES, type SigningKeyChange, walletOf } from '../../events/signing-key.ts';
import type { RecordedEvent } from '../../storage/event-log.ts';
import type { ReadableLog } from '../readable-log.ts';
import { ownEvent, ownEvents } from './own-events.ts';
import { RowsInOrder } from './rows-in-order.ts';
import { column, isWithin, type RowOf, type Selection, type Table } from './table.ts';

const KEY_COLUMNS = {
  wallet: column('text', 'The wallet whose callbacks the key signs.'),
  key_id: column('text', 'Id of the key, as in the signature header.'),
  change: column('text', "`created` (the wallet's first key) or `rotated`."),
  valid_from: column('time', 'When it was created.'),
  valid_until: column('time', 'The first instant at which it is no longer valid; empty while it is the current key.'),
  previous_key_id: column('text', 'The key that it replaced.'),
  next_key_id: column('text', 'The key that replaced it.'),
  master_version: column('integer', 'Version of the master key that its secret is derived from.'),
  sign_in_required: column('boolean', 'Whether the wallet asked that a proof of it be required from here on.'),
  request_id: column('text', 'The paid request that caused it.'),
  stream: column('text', 'The stream of the event that created it.'),
  revision: column('integer', 'Revision of that event.'),
  hash: column('text', 'Hash of that event.'),
} as const;

export type KeyRow = RowOf<typeof KEY_COLUMNS>;

export const keys: Table = { columns: KEY_COLUMNS, rows: keyRows };

/** Rows in the order in which the keys were created. */
export async function* keyRows(log: ReadableLog, selection: Selection, mostWaiting?: number): AsyncIterable<KeyRow> {
  const waiting = new RowsInOrder<KeyRow>({
    completed: (row) => completed(log, row),
    ...(mostWaiting !== undefined && { mostWaiting }),
  });
  for await (const { recorded, event } of ownEvents(log, ['wallet-'])) {
    const { stream, metadata } = recorded;
    if (!isKeyChange(event)) continue;
    const wallet = walletOf(stream);
    if (selection.wallet !== null && wallet !== selection.wallet) continue;
    const current = waiting.get(stream);
    if (current && event.type === 'SigningKeyRotated') waiting.set(stream, replaced(current, event));
    waiting.close(stream);
    if (isWithin(metadata.recordedAt, selection)) waiting.open(stream, created(wallet, event, recorded));
    if (waiting.areReady) yield* waiting.ready();
  }
  yield* waiting.rest();
}

const TYPES: ReadonlySet<string> = new Set(SIGNING_KEY_CHANGES.map(({ type }) => type));
const isKeyChange = (event: DomainEvent): event is SigningKeyChange => TYPES.has(event.type);

function created(
  wallet: string | null,
  event: SigningKeyChange,
  { stream, revision, metadata }: RecordedEvent,
): KeyRow {
  const { data, type } = event;
  return {
    wallet,
    key_id: data.keyId,
    change: type === 'SigningKeyCreated' ? 'created' : 'rotated',
    valid_from: data.createdAt,
    valid_until: null,
    previous_key_id: type === 'SigningKeyRotated' ? event.data.previousKeyId : null,
    next_key_id: null,
    master_version: data.masterVersion,
    sign_in_required: data.signInRequired ?? false,
    request_id: metadata.requestId,
    stream,
    revision,
    hash: metadata.hash,
  };
}

const replaced = (row: KeyRow, { data }: Extract<SigningKeyChange, { type: 'SigningKeyRotated' }>): KeyRow =>
  data.previousKeyId === row.key_id ? { ...row, valid_until: data.previousValidUntil, next_key_id: data.keyId } : row;

/** Most wallets never rotate their key, so the rotation is looked up rather than waited for. */
async function completed(log: ReadableLog, row: KeyRow): Promise<KeyRow> {
  for (const recorded of await log.read(row.stream ?? '', { from: (row.revision ?? 0) + 1 })) {
    const event = ownEvent(recorded)?.event;
    if (event && isKeyChange(event) && event.type === 'SigningKeyRotated') return replaced(row, event);
  }
  return row;
}

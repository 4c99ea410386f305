/**
 * Given a state file of `docket audit reconcile` that was read from a log, when that log was cut or changed at its end
 * since, then the file is refused; when the log only grew, then it is read on from.
 */
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readLog } from '../../../src/audit/reconcile/read-log.ts';
import { ReconcileState } from '../../../src/audit/reconcile/state.ts';
import { PaymentReleased, paymentStream, QueryFailed } from '../../../src/events/payment.ts';
import { Database } from '../../../src/storage/sqlite/driver.ts';
import { openWrittenLog, type WrittenLog } from '../written-log.ts';

const AT = '2026-03-01T12:00:00.000000Z';
const STREAM = paymentStream('a'.repeat(64));
const failed = QueryFailed.of({
  requestId: '6f9d2c1e-5a34-4b8e-9c3d-2f1a7b6c5d4e',
  code: 'case_not_found',
  status: 404,
});

let written: WrittenLog;
let state: ReconcileState;
let read: number;
const readOn = () =>
  readLog(written.log, state, (events) => {
    read = events;
  });
beforeEach(async () => {
  written = await openWrittenLog();
  state = ReconcileState.open(null);
  await written.write(STREAM, AT, failed);
  await written.write(STREAM, AT, PaymentReleased.of({ reason: 'query_failed' }));
  await readOn();
  expect(read).toBe(2);
});
afterEach(async () => {
  state.close();
  await written.close();
});

function change(sql: string): void {
  const database = new Database(join(written.directory, 'log.sqlite'));
  database.exec(sql);
  database.close();
}

it('reads on from a log that grew', async () => {
  await written.write(paymentStream('b'.repeat(64)), AT, failed);
  await readOn();
  expect(read).toBe(1);
});

it.each([
  ['cut', 'DELETE FROM events WHERE revision = 1', 'is missing'],
  [
    'given another event there',
    `UPDATE events SET metadata = json_set(metadata, '$.hash', '${'0'.repeat(64)}')`,
    'is another',
  ],
  ['moved', 'UPDATE events SET position = 9 WHERE revision = 1', 'is another'],
])('refuses a log that was %s', async (_, sql, standing) => {
  change(sql);
  await expect(readOn()).rejects.toMatchObject({
    code: 'reconcile_state_unusable',
    message: `the log was changed, cut or restored since: its event ${STREAM} 1 ${standing}`,
  });
});

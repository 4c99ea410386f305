/** `docket audit promises`, on a data folder that a service left. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EXIT } from '../../../src/cli/command.ts';
import { deliveryStream } from '../../../src/events/delivery.ts';
import { PaymentSettled, paymentStream, QueryAnswered } from '../../../src/events/payment.ts';
import { openWrittenLog, type WrittenLog } from '../../audit/written-log.ts';
import * as callback from '../../commands/delivery/delivery.fixtures.ts';
import * as paid from '../../commands/payment/payment.fixtures.ts';
import { NOON } from '../../storage/samples.ts';
import { docketInProcess } from '../../support/docket-in-process.ts';

let written: WrittenLog;
beforeAll(async () => {
  written = await openWrittenLog();
  const { DELIVERY, ORIGIN, START, minutes } = callback;
  const owed = { deliveryId: DELIVERY, target: 'a'.repeat(64), origin: ORIGIN, result: null };
  const answered = QueryAnswered.of({ ...paid.answer, callbacks: [owed] });
  const settled = PaymentSettled.of({ ...paid.settled.data, owes: { deliveries: [DELIVERY], keyCall: null } });
  await written.write(paymentStream('c'.repeat(64)), NOON, paid.authorized, answered, paid.submitted, settled);
  const failed = callback.finished(1, START, START + minutes(3));
  await written.write(deliveryStream(DELIVERY), NOON, callback.scheduled, callback.started(1, START), failed);
});
afterAll(() => written.close());

const promises = (...argv: string[]) =>
  docketInProcess(['audit', 'promises', ...argv], { DATA_DIR: written.directory });

describe('docket audit promises', () => {
  it('prints a table, and what each open callback waits for', async () => {
    const { code, out, err } = await promises();
    expect([code, err]).toEqual([EXIT.ok, '']);
    expect(out).toMatch(/^host .*open\nreceiver\.example +1 .* 1\ntotal +1 .* 1\n\nOpen:\n/);
    expect(out).toMatch(/receiver\.example {2}attempt 2 of 7 (is|was) due at 2026-06-01 12:03:00 UTC\n$/);
  });

  it('prints groups, open callbacks and the total as JSON lines', async () => {
    const { out } = await promises('--json', '--by', 'day');
    const lines = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines).toEqual([
      expect.objectContaining({ kind: 'group', by: 'day', group: '2026-03-01', promised: 1, open: 1 }),
      expect.objectContaining({
        kind: 'open',
        deliveryId: callback.DELIVERY,
        why: 'waiting',
        attempt: 2,
        dueAt: '2026-06-01T12:03:00.000000Z',
      }),
      expect.objectContaining({ kind: 'total', promised: 1, attempts: 1, acknowledged: 0, failed: 0, open: 1 }),
    ]);
  });

  it('prints only a total of zero for a period without promises', async () => {
    const { code, out } = await promises('--from', '2027-01-01T00:00:00Z');
    expect([code, out.split('\n').length]).toEqual([EXIT.ok, 3]);
    expect(out).toMatch(/\ntotal( +0){9}\n$/);
  });

  it.each([
    ['another group', ['--by', 'court'], /Allowed choices are host, wallet, day/],
    [
      'a period that ends before it begins',
      ['--from', '2026-03-02T00:00:00Z', '--to', '2026-03-01T00:00:00Z'],
      /--from is later/,
    ],
  ])('rejects %s', async (_what, argv, expected) => {
    const { code, out, err } = await promises(...argv);
    expect([code, out]).toEqual([EXIT.usage, '']);
    expect(err).toMatch(expected);
  });
});

/** The tables that an auditor exports. Given what was recorded, when a table is exported, then it has these rows. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { deliveryRows } from '../../../src/audit/export/deliveries.ts';
import { docketRows } from '../../../src/audit/export/dockets.ts';
import { keyRows } from '../../../src/audit/export/keys.ts';
import { paymentRows } from '../../../src/audit/export/payments.ts';
import type { Selection } from '../../../src/audit/export/table.ts';
import { TABLES } from '../../../src/audit/export/tables.ts';
import { STATEMENT_COLUMNS } from '../../../src/audit/receipts/statement.ts';
import { ContentRedacted } from '../../../src/events/content.ts';
import { deliveryStream } from '../../../src/events/delivery.ts';
import {
  AliasClaimed,
  BaselineCompleted,
  DocketChecked,
  DocketOpened,
  FilingRevised,
  FilingsMerged,
  FilingsRecorded,
  FilingWithdrawn,
} from '../../../src/events/docket.ts';
import { PaymentAuthorized, paymentStream } from '../../../src/events/payment.ts';
import { SigningKeyCreated, SigningKeyRotated, walletStream } from '../../../src/events/signing-key.ts';
import * as delivery from '../../commands/delivery/delivery.fixtures.ts';
import * as payment from '../../commands/payment/payment.fixtures.ts';
import { all, openWrittenLog, type WrittenLog } from '../written-log.ts';

const ALL: Selection = { wallet: null, from: null, to: null };
const OTHER_WALLET = '9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin';
const stream = (digit: string): string => paymentStream(digit.repeat(64));
const at = (second: number): string => `2026-06-01T12:00:${String(second).padStart(2, '0')}.000000Z`;

let written: WrittenLog;
beforeEach(async () => {
  written = await openWrittenLog();
});
afterEach(() => written.close());

describe('the table of payments', () => {
  const rows = (selection: Partial<Selection> = {}, mostWaiting?: number) =>
    all(paymentRows(written.log, { ...ALL, ...selection }, mostWaiting));

  it.each([
    [
      'of a query that failed is released and not charged',
      [...payment.givenBack],
      {
        status: 'released',
        charged: false,
        query_error: 'case_not_found',
        query_status: 404,
        transaction: null,
        ended_at: at(0),
      },
    ],
    [
      'of a submitted payment has no outcome',
      [...payment.claimed],
      { status: 'submitted', charged: false, transaction: payment.TRANSACTION, settled_at: null },
    ],
    [
      'of a settled payment is charged',
      [...payment.claimed, payment.settled],
      { status: 'settled', charged: true, slot: 77, settled_at: at(0), finalized_at: null },
    ],
    [
      'of a final payment says when',
      [...payment.claimed, payment.settled, payment.finalized],
      { status: 'settled', charged: true, finalized_at: at(0) },
    ],
    [
      'of an expired payment is not charged',
      [...payment.claimed, payment.expired],
      { status: 'failed', charged: false, reason: 'expired' },
    ],
    [
      'of a payment that landed late is charged',
      [...payment.claimed, payment.expired, payment.settledLate],
      { status: 'settled_late', charged: true, reason: null, ended_at: null },
    ],
    [
      'of a payment that was rolled back is not charged',
      [...payment.claimed, payment.settled, payment.rolledBack],
      { status: 'rolled_back', charged: false, reason: 'not_on_the_finalized_chain' },
    ],
  ])('the row %s', async (_what, events, expected) => {
    await written.write(stream('1'), at(0), ...events);
    expect(await rows()).toEqual([
      expect.objectContaining({
        ...expected,
        request_id: payment.REQUEST,
        wallet: payment.WALLET,
        amount: 990_000n,
        amount_usdc: 990_000n,
        payment: '1'.repeat(64),
        first_revision: 0,
        last_revision: events.length - 1,
        last_hash: written.hashOf(stream('1')),
      }),
    ]);
  });

  it('has one row for each request that presented the same payment', async () => {
    const again = PaymentAuthorized.of({ ...payment.authorization, requestId: '11111111-1111-4111-8111-111111111111' });
    await written.write(stream('1'), at(0), ...payment.givenBack);
    await written.write(stream('1'), at(1), again, payment.answered, payment.submitted);
    await written.write(stream('1'), at(2), payment.settled);
    expect(
      (await rows()).map(({ request_id, status, first_revision }) => [request_id, status, first_revision]),
    ).toEqual([
      [payment.REQUEST, 'released', 0],
      [again.data.requestId, 'settled', 3],
    ]);
  });

  it.each([[undefined], [0], [1], [2]])(
    'keeps the order of the requests and every outcome when %s rows may wait in memory',
    async (mostWaiting) => {
      await written.write(stream('1'), at(1), ...payment.claimed);
      await written.write(stream('2'), at(2), ...payment.claimed);
      await written.write(stream('3'), at(3), ...payment.givenBack);
      await written.write(stream('2'), at(4), payment.settled, payment.finalized);
      await written.write(stream('3'), at(5), ...payment.claimed, payment.settled);
      await written.write(stream('1'), at(6), payment.expired);
      await written.write(stream('1'), at(7), payment.settledLate);
      expect((await rows({}, mostWaiting)).map(({ payment: name, status }) => [name?.[0], status])).toEqual([
        ['1', 'settled_late'],
        ['2', 'settled'],
        ['3', 'released'],
        ['3', 'settled'],
      ]);
    },
  );

  it('selects by wallet and by when the request came, with the outcome that came later', async () => {
    await written.write(stream('1'), at(1), ...payment.claimed);
    await written.write(stream('2'), at(2), ...payment.claimed);
    const others = PaymentAuthorized.of({ ...payment.authorization, wallet: OTHER_WALLET });
    await written.write(stream('3'), at(2), others, payment.answered, payment.submitted);
    await written.write(stream('2'), at(9), payment.settled);
    const found = await rows({ wallet: payment.WALLET, from: at(2), to: at(2) });
    expect(found.map(({ payment: name, status }) => [name?.[0], status])).toEqual([['2', 'settled']]);
  });

  it('leaves out what another program wrote to a shared log', async () => {
    await written.write('payment-17', at(0), ...payment.claimed);
    await written.write(`payment-id-${'a'.repeat(64)}`, at(0), payment.authorized);
    expect(await rows()).toEqual([]);
  });
});

describe('the table of callbacks', () => {
  const rows = (selection: Partial<Selection> = {}, mostRemembered?: number) =>
    all(deliveryRows(written.log, { ...ALL, ...selection }, mostRemembered));
  const DELIVERY = deliveryStream(delivery.DELIVERY);
  const { START, minutes } = delivery;

  it.each([[undefined], [0]])('has one row for each attempt, with %s callbacks remembered', async (mostRemembered) => {
    const next = START + minutes(3);
    await written.write(DELIVERY, at(0), delivery.scheduled);
    await written.write(DELIVERY, at(1), delivery.started(1, START));
    await written.write(DELIVERY, at(2), delivery.finished(1, START, next, { retryAfterSeconds: 120 }));
    await written.write(DELIVERY, at(3), delivery.started(2, next));
    await written.write(DELIVERY, at(4), delivery.acknowledged(2, next));
    const found = await rows({}, mostRemembered);
    expect(
      found.map(({ attempt, outcome, response_code, revision }) => [attempt, outcome, response_code, revision]),
    ).toEqual([
      [1, 'failed', 503, 2],
      [2, 'acknowledged', 200, 4],
    ]);
    expect(found[0]).toMatchObject({
      delivery_id: delivery.DELIVERY,
      wallet: delivery.WALLET,
      origin: delivery.ORIGIN,
      scheduled_at: delivery.facts.createdAt,
      retry_after_seconds: 120,
      next_attempt_at: '2026-06-01T12:03:00.000000Z',
      key_id: delivery.KEY,
    });
    expect(Object.values(found[0] ?? {})).not.toContain(delivery.facts.target);
  });

  it('names an attempt under way and a callback that was never attempted', async () => {
    const other = 'aaaaaaaa-5a34-4b8e-9c3d-2f1a7b6c5d4e';
    await written.write(DELIVERY, at(0), delivery.scheduled, delivery.started(1, START));
    await written.write(deliveryStream(other), at(1), delivery.scheduled);
    expect((await rows()).map(({ delivery_id, outcome, attempt }) => [delivery_id, outcome, attempt])).toEqual([
      [delivery.DELIVERY, 'under_way', 1],
      [other, 'not_attempted', null],
    ]);
    expect(await rows({ wallet: OTHER_WALLET })).toEqual([]);
    expect(await rows({ from: at(1) })).toHaveLength(1);
  });

  it('has a row for a callback that an operator ended, in place of what was still to come', async () => {
    const ended = delivery.cancelled(START + minutes(1));
    await written.write(DELIVERY, at(0), delivery.scheduled);
    await written.write(DELIVERY, at(1), ended);
    expect(await rows()).toMatchObject([
      { outcome: 'cancelled', attempt: null, finished_at: ended.data.cancelledAt, next_attempt_at: null, revision: 1 },
    ]);
  });
});

describe('the table of keys', () => {
  const KEY = { keyId: 'k1', masterVersion: 1, createdAt: at(0) };
  const rotated = SigningKeyRotated.of({
    ...KEY,
    keyId: 'k2',
    createdAt: at(5),
    signInRequired: true,
    previousKeyId: 'k1',
    previousValidUntil: at(35),
  });

  it.each([[undefined], [0]])('has the time in which each key is valid when %s rows may wait', async (mostWaiting) => {
    await written.write(walletStream(payment.WALLET), at(0), SigningKeyCreated.of(KEY));
    await written.write(walletStream(OTHER_WALLET), at(1), SigningKeyCreated.of(KEY));
    await written.write(walletStream(payment.WALLET), at(5), rotated);
    const rows = await all(keyRows(written.log, ALL, mostWaiting));
    expect(
      rows.map(({ wallet, key_id, change, valid_from, valid_until, next_key_id }) => [
        wallet,
        key_id,
        change,
        valid_from,
        valid_until,
        next_key_id,
      ]),
    ).toEqual([
      [payment.WALLET, 'k1', 'created', at(0), at(35), 'k2'],
      [OTHER_WALLET, 'k1', 'created', at(0), null, null],
      [payment.WALLET, 'k2', 'rotated', at(5), null, null],
    ]);
    expect(rows.map(({ sign_in_required }) => sign_in_required)).toEqual([false, false, true]);
    const later = await all(keyRows(written.log, { ...ALL, wallet: payment.WALLET, from: at(1) }, mostWaiting));
    expect(later.map(({ key_id }) => key_id)).toEqual(['k2']);
  });
});

describe('the table of dockets', () => {
  const DOCKET = 'docket-cand-3:24-cv-00042';
  const filing = {
    filingId: 'f1',
    entryNumber: 1,
    dateFiled: '2026-05-30',
    dateEntered: null,
    enteredAt: null,
    filedAt: at(0),
    filingType: 'complaint',
    filingTypes: ['complaint'],
    sealed: false,
    availableAt: at(1),
    backfilled: true,
  };
  const content = 'd'.repeat(64);

  it('has one row an event, or one a filing, and no text', async () => {
    await written.write(
      DOCKET,
      at(1),
      DocketOpened.of({ court: 'cand', caseNumber: '3:24-cv-00042' }),
      FilingsRecorded.of({ askedAt: at(0), content, baseline: true, filings: [filing, { ...filing, filingId: 'f2' }] }),
      BaselineCompleted.of({ askedAt: at(0), filingCount: 2 }),
      DocketChecked.of({ source: 'file', askedAt: at(0), complete: true, outcome: 'complete', ingestId: null }),
      FilingRevised.of({ askedAt: at(1), content, revisedAt: at(1), changed: ['text', 'type'], filing }),
      FilingsMerged.of({ kept: 'f1', merged: 'f2', availableAt: at(1), revisedAt: at(1) }),
      FilingWithdrawn.of({ filingId: 'f1', reason: 'sealed', revisedAt: at(1) }),
    );
    await written.write(
      'docket-alias-cand-3:24-cv-42',
      at(2),
      AliasClaimed.of({ court: 'cand', number: '3:24-cv-42', core: null, stream: DOCKET }),
    );
    await written.write(
      `content-${content}`,
      at(3),
      ContentRedacted.of({
        name: content,
        replacement: null,
        stream: DOCKET,
        revision: 1,
        filingIds: [],
        reason: 'order of the court',
      }),
    );
    const rows = await all(docketRows(written.log, ALL));
    expect(rows.map(({ event, filing_id, case_number }) => [event, filing_id, case_number])).toEqual([
      ['DocketOpened', null, '3:24-cv-00042'],
      ['FilingsRecorded', 'f1', '3:24-cv-00042'],
      ['FilingsRecorded', 'f2', '3:24-cv-00042'],
      ['BaselineCompleted', null, '3:24-cv-00042'],
      ['DocketChecked', null, '3:24-cv-00042'],
      ['FilingRevised', 'f1', '3:24-cv-00042'],
      ['FilingsMerged', 'f2', '3:24-cv-00042'],
      ['FilingWithdrawn', 'f1', '3:24-cv-00042'],
      ['AliasClaimed', null, '3:24-cv-42'],
      ['ContentRedacted', null, '3:24-cv-00042'],
    ]);
    expect(rows.map(({ docket, court }) => [docket, court])).toEqual(rows.map(() => [DOCKET, 'cand']));
    expect(rows[1]).toMatchObject({ date_filed: '2026-05-30', filed_at: at(0), backfilled: true, baseline: true });
    expect(rows[5]).toMatchObject({ changed: 'text type', revised_at: at(1) });
    expect(rows[6]).toMatchObject({ merged_into: 'f1' });
    expect(await all(docketRows(written.log, { ...ALL, from: at(3) }))).toHaveLength(1);
  });
});

describe('the documented columns', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/auditing.md'), 'utf8');

  it.each(Object.entries(TABLES))('of %s are those that are written', (name, { columns }) => {
    const lines = Object.entries(columns).map(
      ([column, { type, meaning }]) => `| \`${column}\` | ${type} | ${meaning} |`,
    );
    const [, documented = ''] = new RegExp(`\n### ${name}\n\n(?:[^|\n].*\n\n?)*((?:\\|.*\n)+)`).exec(page) ?? [];
    expect(documented.trimEnd().split('\n').slice(2)).toEqual(lines);
  });

  it('of a statement are those that are written', () => {
    const names = Object.keys(STATEMENT_COLUMNS).map((name) => `\`${name}\``);
    expect(page.replace(/\s+/g, ' ')).toContain(`Its CSV has the columns ${names.join(', ')}.`);
  });
});

/**
 * Given a log with signed heads, when an auditor asks for a proof of an event or of a payment, then the stand-alone
 * verifier accepts it; and when the log cannot prove it, then the command says why.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { check } from '../../../examples/verifier/verify.ts';
import { EXIT } from '../../../src/cli/command.ts';
import { docketInProcess } from '../../support/docket-in-process.ts';
import { onDisk } from '../../support/exported-log.ts';
import {
  FAILED_PAYMENT,
  FOUNDED,
  LogWriter,
  PAYMENT,
  REQUEST,
  TRANSACTION,
  writtenLog,
} from '../../support/written-log.ts';

const proveIn = (writer: LogWriter, ...argv: string[]) =>
  onDisk(writer, (_, directory) => docketInProcess(['audit', 'prove', ...argv], { DATA_DIR: directory }));

async function verified(text: string) {
  const result = await check(Readable.from([Buffer.from(text)]), { heads: [], keys: [] }, (breach) => {
    throw new Error(JSON.stringify(breach));
  });
  const { kind, events, anchor } = JSON.parse(text);
  return { result, kind, anchor, events: events.map(({ type }: { type: string }) => type) };
}

const PAID = ['PaymentAuthorized', 'QueryAnswered', 'PaymentSubmitted', 'PaymentSettled', 'PaymentFinalized'];

describe('docket audit prove', () => {
  it.each([
    ['its request id', REQUEST],
    ['its request id in capitals', REQUEST.toUpperCase()],
    ["its transaction's signature", TRANSACTION],
    ['the hash that names its stream', PAYMENT.slice('payment-'.length)],
    ['its stream', PAYMENT],
  ])('proves a payment from its claim to its finality, named by %s', async (_, name) => {
    const { code, out } = await proveIn(writtenLog(), name);
    expect(code).toBe(EXIT.ok);
    expect(await verified(out)).toMatchObject({ kind: 'request', events: PAID, anchor: { size: 18 } });
  });

  it('proves that a failed query was released without a transfer', async () => {
    const { out } = await proveIn(writtenLog(), FAILED_PAYMENT);
    expect((await verified(out)).events).toEqual(['PaymentAuthorized', 'QueryFailed', 'PaymentReleased']);
  });

  it.each([
    ['its id', writtenLog().events[17]?.id ?? '', 'DocketChecked'],
    ['its stream and revision', 'docket-unusual@0', 'Unusual'],
    ['a stream name that holds an @', 'docket-a@b@0', 'DocketOpened'],
  ])('proves one event, named by %s', async (_, name, type) => {
    const writer = writtenLog()
      .write('docket-a@b', [['DocketOpened', 1, { court: 'cand', caseNumber: '1' }]])
      .head(2);
    const { out } = await proveIn(writer, name);
    expect(await verified(out)).toMatchObject({ kind: 'event', events: [type] });
  });

  it('writes a file', () =>
    onDisk(writtenLog(), async (_, directory) => {
      const file = join(directory, 'proof.json');
      const { code } = await docketInProcess(['audit', 'prove', REQUEST, '--out', file], { DATA_DIR: directory });
      expect(code).toBe(EXIT.ok);
      expect((await verified(readFileSync(file, 'utf8'))).events).toEqual(PAID);
    }));

  it('proves what the head of a long log covers, wherever the event is in its tree', async () => {
    const writer = new LogWriter().write('log-identity', [FOUNDED]);
    for (let count = 0; count < 40; count++) {
      writer.write('docket-x', [['DocketOpened', 1, { court: 'cand', caseNumber: String(count) }]]);
    }
    writer.head(1, { introduces: true }).anchor(41);
    await onDisk(writer, async (_, directory) => {
      for (const revision of [0, 1, 30, 31, 32, 39]) {
        const { out } = await docketInProcess(['audit', 'prove', `docket-x@${revision}`], { DATA_DIR: directory });
        expect((await verified(out)).events).toEqual(['DocketOpened']);
      }
    });
  });

  it.each([
    ['an event that no head covers yet', 'operator-projection-cases@0', /No signed head covers .*\n.*within a minute/],
    ['an event that is not there', 'log-identity@7', /The log has nothing named "log-identity@7"/],
    ['a request that is not there', '33333333-2222-4333-8444-555555555555', /The log has nothing named/],
    ['a transaction that is not there', TRANSACTION.replace('5', '4'), /The log has nothing named/],
  ])('says of %s that it cannot be proven', async (_, name, said) => {
    const { code, out, err } = await proveIn(writtenLog(), name);
    expect([code, out]).toEqual([EXIT.found, '']);
    expect(err).toMatch(said);
  });

  it('says that a payment has no outcome yet', async () => {
    const writer = new LogWriter()
      .write('log-identity', [FOUNDED])
      .write(
        PAYMENT,
        [writtenLog().appends.find(({ stream }) => stream === PAYMENT)?.events[0]].map((event) => [
          'PaymentAuthorized',
          2,
          event?.data ?? {},
        ]),
      )
      .head(1, { introduces: true });
    const { code, err } = await proveIn(writer, REQUEST);
    expect(code).toBe(EXIT.found);
    expect(err).toMatch(/has no outcome yet/);
  });

  it('proves nothing by a head that the log does not match', async () => {
    const writer = new LogWriter()
      .write('log-identity', [FOUNDED])
      .head(1, { introduces: true, root: 'ab'.repeat(32) });
    const { code, err } = await proveIn(writer, 'log-identity@0');
    expect(code).toBe(EXIT.found);
    expect(err).toMatch(/does not match its own signed head.*\n.*docket audit verify/);
  });

  it.each(['nothing', 'log-identity@', 'log-identity@-1', '@0', '$all@0', ''])(
    'rejects %j and says what it expects',
    async (name) => {
      const { code, err } = await proveIn(writtenLog(), name);
      expect(code).toBe(EXIT.usage);
      expect(err).toMatch(/names no event and no payment\.\n.*STREAM@REVISION/);
    },
  );

  it('says that a log without an identity has no heads', async () => {
    const writer = new LogWriter().write('docket-x', [['DocketOpened', 1, { court: 'cand', caseNumber: '1' }]]);
    expect((await proveIn(writer, 'docket-x@0')).err).toMatch(/has no identity yet/);
  });
});

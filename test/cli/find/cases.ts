/** `docket find`: given one id of anything that was recorded, it shows what it is, with its trail. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import bs58 from 'bs58';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EXIT } from '../../../src/cli/command.ts';
import { createFindCommand } from '../../../src/cli/find/find.ts';
import { createImportCommand } from '../../../src/cli/import/import.ts';
import { DeliveryScheduled, deliveryStream } from '../../../src/events/delivery.ts';
import { HostPaused, hostSubject, operatorStream } from '../../../src/events/operator.ts';
import { PaymentSettled, paymentStream, QueryAnswered } from '../../../src/events/payment.ts';
import { operatorActs } from '../../../src/projections/operator-acts.ts';
import { namedThing } from '../../../src/queries/named-thing.ts';
import { facts } from '../../commands/delivery/delivery.fixtures.ts';
import * as payment from '../../commands/payment/payment.fixtures.ts';
import { rawDocket, rawEntry } from '../../dockets/raw-docket.ts';
import { type MoneyWorld, openMoneyWorld } from '../money-world.ts';

const { WALLET, REQUEST } = payment;
const AT = '2026-06-01T12:00:00.000000Z';
const HASH = '1'.repeat(64);
const DELIVERY = '6f9d2c1e-5a34-4b8e-9c3d-2f1a7b6c5d4e';
const STRANGER = '3yFwqXBfZY4jBVUafQ1YEXw189y2dN3V5KQq9uzBDy1E';
const TRANSACTION = bs58.encode(Buffer.alloc(64, 7));
const SECRET = 'x'.repeat(21);
const RESULT = `r1-${Buffer.from(REQUEST.replaceAll('-', ''), 'hex').toString('base64url')}${SECRET}`;
const ORIGIN = 'https://hooks.example.com';
const URL_WITH_SECRET = `${ORIGIN}/take?token=hunter2`;

export const findCases = () =>
  describe('docket find', () => {
    let world: MoneyWorld;
    let folder: string;
    const find = (...argv: string[]) => world.run(createFindCommand, 'find', ...argv);

    beforeAll(async () => {
      world = await openMoneyWorld();
      folder = await mkdtemp(join(tmpdir(), 'docket-find-'));
      const target = await world.storage.payloads.put('target', Buffer.from(URL_WITH_SECRET));
      const callbacks = [{ deliveryId: DELIVERY, target, origin: ORIGIN, result: null }];
      const answered = QueryAnswered.of({ ...payment.answer, courts: [{ court: 'cand', cases: 1 }], callbacks });
      const owes = { deliveries: [DELIVERY], keyCall: null };
      const settled = PaymentSettled.of({ ...payment.settled.data, transaction: TRANSACTION, owes });
      const submitted = { ...payment.submitted, data: { ...payment.submission, transaction: TRANSACTION } };
      await world.write(paymentStream(HASH), AT, ...payment.givenBack);
      await world.write(paymentStream(HASH), AT, payment.authorized, answered, submitted, settled);
      const scheduled = { ...facts, deliveryId: DELIVERY, wallet: WALLET, requestId: REQUEST, payment: HASH };
      await world.write(
        deliveryStream(DELIVERY),
        AT,
        DeliveryScheduled.of({ ...scheduled, target, origin: ORIGIN, createdAt: AT, keepUntil: AT }),
      );
      const file = join(folder, 'docket.json');
      await writeFile(file, JSON.stringify(rawDocket([rawEntry(1, '2024-02-01', 'COMPLAINT')])));
      await world.run(createImportCommand, 'import', file);
      await world.caughtUp();
    });
    afterAll(async () => {
      await world.close();
      await rm(folder, { recursive: true, force: true });
    });

    it.each([
      ['the id of a request', REQUEST],
      ['the same in capitals', REQUEST.toUpperCase()],
      ['the hash of a payment', HASH],
      ['its stream', `payment-${HASH}`],
      ['the signature of its transaction', TRANSACTION],
      ['the id of the answer', RESULT],
      ['its path', `/v2/results/${RESULT}`],
      ['its URL', `https://api.example.com/v2/results/${RESULT}`],
      ['the id of its callback', DELIVERY],
    ])('finds the payment and everything that followed by %s', async (_what, id) => {
      const { code, out, err } = await find(id);
      expect([code, err]).toEqual([EXIT.ok, '']);
      expect(out).toContain(`payment ${HASH}\n`);
      expect(out).toMatch(/status +settled, 0\.99 USDC, x402-v2, GET \/v2\/case\n/);
      expect(out).toMatch(new RegExp(`request +${REQUEST} +2026-06-01T12:00:00Z +no answer: case_not_found\\n`));
      expect(out).toMatch(/answer +1 query \(cand 1\), kept until/);
      expect(out).toMatch(new RegExp(`delivery +${DELIVERY} +pending +${ORIGIN}\\n`));
      expect(out).toContain(`docket deliveries show ${DELIVERY}\n`);
      expect(out).toContain(`docket wallets show ${WALLET}\n`);
      expect(out).not.toMatch(/hunter2|xxxxx/);
      expect(out.split('\n').filter((line) => line.length > 120)).toEqual([]);
      const shown = await find(id, '--json');
      expect(JSON.parse(shown.out)).toMatchObject({
        payment: { payment: HASH, status: 'settled', transaction: TRANSACTION },
      });
      expect(shown.out).not.toMatch(/hunter2|xxxxx/);
    });

    it('finds a callback with its URL but not what its query holds', async () => {
      const { out } = await find(DELIVERY);
      expect(out).toContain(`delivery ${DELIVERY}\n`);
      expect(out).toContain(`${ORIGIN}/take?…`);
    });

    it('finds a wallet, and says which commands show more', async () => {
      const { out } = await find(WALLET);
      expect(out).toMatch(new RegExp(`^wallet ${WALLET}\\n`));
      expect(out).toContain('0.99 USDC, 1 payments');
      expect(out).toContain(`docket wallets show ${WALLET}\n`);
    });

    it.each(['hooks.example.com', `${ORIGIN}/anything`, 'HOOKS.example.com'])('finds the host %s', async (host) => {
      expect((await find(host)).out).toMatch(new RegExp(`^host ${ORIGIN}\\n +callbacks +1 open, 1 due`));
    });

    it.each([
      ['[2001:db8::1]:9000', '[2001:db8::1]'],
      ['192.0.2.7:9000', '192.0.2.7'],
      ['192.0.2.8', '192.0.2.8'],
      ['receiver:9000', 'receiver'],
      ['port.example', 'port.example'],
    ])('finds the host %s, whose callbacks go to a port', async (name, host) => {
      const origin = `http://${host}:9000`;
      const paused = HostPaused.of({ origin, by: 'Ann Lee', reason: 'they move' });
      await world.write(operatorStream(hostSubject(origin)), AT, paused);
      await world.caughtUp([operatorActs]);
      expect((await find(name)).out).toContain(`host ${origin}\n`);
    });

    it.each([[['cand', '3:24-cv-01234']], [['cand/3:24-cv-01234']]])('finds the case %j', async (words) => {
      const { out } = await find(...words);
      expect(out).toMatch(/^case cand 3:24-cv-01234\n/);
      expect(out).toContain('docket cases show cand 3:24-cv-01234\n');
    });

    it('finds an event by reading the whole log, and says so', async () => {
      const [, , , first] = await world.storage.log.read(paymentStream(HASH));
      const missed = await find(first!.id);
      expect([missed.code, missed.error?.hint]).toEqual([EXIT.found, expect.stringContaining('add --scan')]);
      const { out } = await find(first!.id, '--scan');
      expect(out).toMatch(new RegExp(`^event ${first!.id}\\n +type +PaymentAuthorized\\n`));
      expect(out).toContain(`docket audit replay all --stream payment-${HASH}\n`);
      expect(JSON.parse((await find(first!.id, '--scan', '--json')).out)).toMatchObject({
        kind: 'event',
        event: { id: first!.id, revision: 3 },
      });
    });

    it.each([
      ['a request', '00000000-0000-4000-8000-000000000000', /No request or delivery/],
      ['a payment', 'f'.repeat(64), /no payment with this hash/],
      ['a transaction', bs58.encode(Buffer.alloc(64, 8)), /No payment was made with this transaction/],
      ['a wallet', STRANGER, /never presented a payment/],
      ['a host', 'example.org', /No callback was ever scheduled/],
      ['a case', 'cand/3:24-cv-09999', /cand 3:24-cv-09999 is not known here/],
    ])('says that %s is not there', async (_what, id, expected) => {
      const { out, error } = await find(id);
      expect(out).toBe('');
      expect(error?.message).toMatch(expected);
    });

    it.each(['', ' ', '../../etc/passwd\u0000', 'DROP TABLE', '\u001b[31m', '$where', 'x'.repeat(5000)])(
      'rejects %j, which names nothing',
      async (id) => {
        const { code, out, error } = await find(id);
        expect([code, out]).toEqual([EXIT.usage, '']);
        expect(error?.message.length).toBeLessThan(300);
        expect(error?.hint).not.toBe('');
      },
    );
  });

export const namedThingCases = () =>
  describe('what an id names', () => {
    it('drops the secret part of a result’s id', () => {
      expect(namedThing([RESULT])).toEqual({ kind: 'result', id: REQUEST });
      expect(JSON.stringify(namedThing([`/v2/results/${RESULT}`]))).not.toContain(SECRET);
    });
    it('takes two words for a court and a number', () => {
      expect(namedThing(['cand', '3:24-cv-00042', 'abc'])).toEqual({
        kind: 'case',
        court: 'cand',
        number: '3:24-cv-00042 abc',
      });
    });
  });

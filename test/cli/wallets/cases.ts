/** `docket wallets show`: given recorded payments, keys and operators' acts, it shows one wallet whole. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EXIT } from '../../../src/cli/command.ts';
import { createWalletsCommand } from '../../../src/cli/wallets/wallets.ts';
import { operatorStream, WalletBanned, WalletUnbanned, walletSubject } from '../../../src/events/operator.ts';
import { PaymentAuthorized, PaymentSettled, paymentStream } from '../../../src/events/payment.ts';
import { SigningKeyCreated, SigningKeyRotated, walletStream } from '../../../src/events/signing-key.ts';
import * as payment from '../../commands/payment/payment.fixtures.ts';
import { type MoneyWorld, openMoneyWorld } from '../money-world.ts';

const { WALLET } = payment;
const STRANGER = '3yFwqXBfZY4jBVUafQ1YEXw189y2dN3V5KQq9uzBDy1E';
const AT = '2026-06-01T12:00:00.000000Z';

export const walletsCases = () =>
  describe('docket wallets', () => {
    let world: MoneyWorld;
    const wallets = (...argv: string[]) => world.run(createWalletsCommand, 'wallets', ...argv);

    beforeAll(async () => {
      world = await openMoneyWorld();
      await world.write(paymentStream('1'.repeat(64)), AT, ...payment.claimed, payment.settled);
      const key = { keyId: 'k1', masterVersion: 1, createdAt: AT };
      const next = { ...key, keyId: 'k2', previousKeyId: 'k1', previousValidUntil: AT };
      await world.write(walletStream(WALLET), AT, SigningKeyCreated.of(key), SigningKeyRotated.of(next));
      await world.caughtUp();
    });
    afterAll(() => world.close());

    describe('docket wallets show', () => {
      it('shows what a wallet paid, its limits and its keys', async () => {
        const { code, out, err } = await wallets('show', WALLET);
        expect([code, err]).toEqual([EXIT.ok, '']);
        expect(out).toContain('0.99 USDC');
        expect(out).toMatch(/0 of 60 requests a minute\n/);
        expect(out).toMatch(/keys +k2 +created 2026-06-01T12:00:00Z +\(no sign-in required\)/);
        expect(out.split('\n').filter((line) => line.length > 100)).toEqual([]);
      });

      it('shows the same to programs', async () => {
        const shown = JSON.parse((await wallets('show', WALLET, '--json')).out);
        expect(shown).toMatchObject({
          wallet: WALLET,
          first_seen: AT,
          banned: null,
          proven: true,
          limits: { requests_per_minute: { used: 0, limit: 60, resets_at: null } },
          current_key_id: 'k2',
          deliveries: { pending: 0, retrying: 0, succeeded: 0, failed: 0 },
        });
      });

      it('shows its payments by outcome, and why it was not served', async () => {
        await world.write(paymentStream('2'.repeat(64)), AT, ...payment.givenBack, ...payment.claimed);
        await world.write(paymentStream('3'.repeat(64)), AT, ...payment.claimed, payment.failedOnChain);
        await world.caughtUp();
        const { out } = await wallets('show', WALLET);
        expect(out).toMatch(/1 settled \(0 late\), 1 pending, 1 failed, 0 rolled back\n/);
        expect(out).toMatch(/1 × query failed: case_not_found\n +1 × payment failed: on_chain_error\n/);
        expect(JSON.parse((await wallets('show', WALLET, '--json')).out)).toMatchObject({
          spend: { all_time: { usdc: '0.99', payments: 1 }, today: { payments: 0 }, thirty_days: { payments: 0 } },
          payments: { settled: 1, pending: 1, failed: 1, never_sent: 1 },
        });
      });

      it('says of a stranger that it never paid', async () => {
        const { code, out } = await wallets('show', STRANGER);
        expect(code).toBe(EXIT.ok);
        expect(out).toContain('never presented a payment');
      });

      it('says who banned a wallet and why, until it is unbanned', async () => {
        const stream = operatorStream(walletSubject(STRANGER));
        const act = { wallet: STRANGER, by: 'Ann Lee', reason: 'chargebacks \u001b[31m' };
        await world.write(stream, AT, WalletBanned.of(act));
        await world.caughtUp();
        const banned = await wallets('show', STRANGER);
        expect(banned.out).toContain('since 2026-06-01T12:00:00Z by Ann Lee: chargebacks \\u001b[31m');
        await world.write(stream, AT, WalletUnbanned.of({ ...act, reason: 'solved' }));
        await world.caughtUp();
        expect(JSON.parse((await wallets('show', STRANGER, '--json')).out)).toMatchObject({ banned: null });
      });

      it.each(['me', '', `${WALLET}1`, '../../etc/passwd'])('rejects %j, which is no address', async (address) => {
        const { code, out, error } = await wallets('show', address);
        expect([code, out]).toEqual([EXIT.usage, '']);
        expect(error?.hint).toBe('Give 32 bytes in base58.');
      });
    });

    describe('docket wallets list', () => {
      it('lists who paid most, and who was here last', async () => {
        const rich = PaymentAuthorized.of({ ...payment.authorization, wallet: STRANGER, amount: '2000000' });
        const paid = PaymentSettled.of({ ...payment.settled.data, wallet: STRANGER, amount: '2000000' });
        const later = '2026-06-02T12:00:00.000000Z';
        await world.write(paymentStream('4'.repeat(64)), later, rich, payment.answered, payment.submitted, paid);
        await world.caughtUp();
        for (const order of ['spend', 'seen']) {
          const listed = await wallets('list', '--by', order, '--json');
          const rows = listed.out
            .trimEnd()
            .split('\n')
            .map((line) => JSON.parse(line));
          expect(rows.map(({ wallet, usdc }) => [wallet, usdc])).toEqual([
            [STRANGER, '2.00'],
            [WALLET, '0.99'],
          ]);
          const { out } = await wallets('list', '--by', order, '--limit', '1');
          expect(out).toMatch(/\n3yFw\w+ +1 +1 +2\.00 +0 +2026-06-02\nThe first 1 of 2; --limit 0 shows all\.\n$/);
          expect(out.split('\n').filter((line) => line.length > 100)).toEqual([]);
          const { out: whole } = await wallets('list', '--by', order, '--limit', '2');
          expect(whole).not.toContain('--limit 0 shows all');
        }
      });

      it('rejects a limit that is no number', async () => {
        const { code, error } = await wallets('list', '--limit', '-1');
        expect([code, error?.message]).toEqual([EXIT.usage, '--limit -1 cannot be used.']);
      });
    });
  });

/** `docket wallets show`: given recorded payments, keys and operators' acts, it shows one wallet whole. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EXIT } from '../../src/cli/command.ts';
import { createWalletsCommand } from '../../src/cli/wallets.ts';
import { operatorStream, WalletBanned, WalletUnbanned, walletSubject } from '../../src/events/operator.ts';
import { paymentStream } from '../../src/events/payment.ts';
import { SigningKeyCreated, SigningKeyRotated, walletStream } from '../../src/events/signing-key.ts';
import * as payment from '../commands/payment/payment.fixtures.ts';
import { type MoneyWorld, openMoneyWorld } from './money-world.ts';

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

      it('says of a stranger that it never paid', async () => {
        const { code, out } = await wallets('show', STRANGER);
        expect(code).toBe(EXIT.ok);
        expect(out).toContain('never presented a payment');
      });

      it('says who banned a wallet and why, until it is unbanned', async () => {
        const stream = operatorStream(walletSubject(STRANGER));
        const act = { wallet: STRANGER, by: 'Ann Lee', reason: 'chargebacks \u001b[31m' };
        await world.write(stream, AT, WalletBanned.of(act));
        const banned = await wallets('show', STRANGER);
        expect(banned.out).toContain('since 2026-06-01T12:00:00Z by Ann Lee: chargebacks \\u001b[31m');
        await world.write(stream, AT, WalletUnbanned.of({ ...act, reason: 'solved' }));
        expect(JSON.parse((await wallets('show', STRANGER, '--json')).out)).toMatchObject({ banned: null });
      });

      it.each(['me', '', `${WALLET}1`, '../../etc/passwd'])('rejects %j, which is no address', async (address) => {
        const { code, out, error } = await wallets('show', address);
        expect([code, out]).toEqual([EXIT.usage, '']);
        expect(error?.hint).toBe('Give 32 bytes in base58.');
      });
    });
  });

/** The table "What must hold" of the payments page, for every kind of client, on a real chain. */
import { createHash } from 'node:crypto';
import { Keypair } from '@solana/web3.js';
import bs58 from 'bs58';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { REJECTION } from '../../src/solana/verify-transaction.ts';
import { breachesBy } from '../solana/breaches.ts';
import { guard, limit, memo, price, tokenAccountOf, transfer } from '../solana/payment-transactions.ts';
import { DIALECTS, encoded, type Headers } from './envelopes.ts';
import { describeMutations } from './mutations.ts';
import { openWorld, USDC, type World } from './world.ts';

let world: World;
let wallet: Keypair;
beforeAll(async () => {
  world = await openWorld();
  wallet = await world.wallet(60n * USDC);
});
afterAll(() => world.close());

const ask = (headers: Headers, path = '/v2/case?q=table') => world.get(path, headers);

/** Runs what must neither move money nor run a query. */
async function forNothing(work: () => Promise<void>): Promise<void> {
  const asked = world.asked.length;
  const lamports = async () =>
    (await world.rpc.call<{ value: number }>('getBalance', world.parties.feePayer.toBase58())).value;
  const before = await lamports();
  const { spent, received } = await world.moved(wallet, work);
  expect([spent, received, (await lamports()) - before, world.asked.length - asked]).toEqual([0n, 0n, 0, 0]);
}

async function buys(headers: Headers): Promise<void> {
  const { result, spent, received } = await world.moved(wallet, () => ask(headers));
  expect([result.status, spent, received]).toEqual([200, 990_000n, 990_000n]);
}

/** A valid Ed25519 signature other than the usual one: each nonce gives another. */
function signedAgain(wire: Buffer, signer: Keypair): Buffer {
  const start = 1 + 64 * wire.readUInt8(0);
  const message = wire.subarray(start);
  const order = 2n ** 252n + 27742317777372353535851937790883648493n;
  const littleEndian = (bytes: Uint8Array) => BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`);
  const scalarOf = (seed: Uint8Array) => {
    const half = createHash('sha512').update(seed).digest().subarray(0, 32);
    half.writeUInt8(half.readUInt8(0) & 248, 0);
    half.writeUInt8((half.readUInt8(31) & 127) | 64, 31);
    return littleEndian(half);
  };
  // A new key pair provides a nonce whose multiple of the base point is known.
  const nonce = Keypair.generate();
  const challenge = createHash('sha512').update(nonce.publicKey.toBuffer()).update(signer.publicKey.toBuffer());
  const k = littleEndian(challenge.update(message).digest());
  const s = (scalarOf(nonce.secretKey.subarray(0, 32)) + k * scalarOf(signer.secretKey.subarray(0, 32))) % order;
  const copy = Buffer.from(wire);
  nonce.publicKey.toBuffer().copy(copy, start - 64);
  Buffer.from(s.toString(16).padStart(64, '0'), 'hex')
    .reverse()
    .copy(copy, start - 32);
  return copy;
}

describeMutations(60);

describe.each(DIALECTS)('$name', (dialect) => {
  const headersOf = (wire: Buffer) => dialect.headers(world, wire);
  const building = (over: Parameters<typeof dialect.build>[2] = {}) => dialect.build(world, wallet, over);
  const pay = () => transfer(world.parties, wallet.publicKey);
  const isBare = dialect.name === 'a self-paid transfer';

  it('buys, and so does a legacy message', async () => {
    await buys(headersOf(building()));
    await buys(headersOf(building({ version: 'legacy' })));
  });

  it('buys in base64url and without padding; a self-paid transfer in base58 too', async () => {
    const inBase64 = (wire: Buffer) => Object.entries(headersOf(wire))[0] as [string, string];
    const [name, text] = inBase64(building());
    await buys({ [name]: Buffer.from(text, 'base64').toString('base64url') });
    await buys({ [name]: inBase64(building())[1].replace(/=+$/, '') });
    if (isBare) await buys({ [name]: bs58.encode(building()) });
  });

  it('may carry the guards of Phantom (one) and Solflare (two), before and after the transfer', async () => {
    const usual = () => [limit(), price(), pay(), memo()];
    await buys(headersOf(building({ instructions: [...usual(), guard(5, [wallet.publicKey])] })));
    await buys(
      headersOf(
        building({
          instructions: [guard(2, [wallet.publicKey]), ...usual(), guard(9, [tokenAccountOf(wallet.publicKey)])],
        }),
      ),
    );
  });

  it('breaks no rule unnoticed: each breach is rejected with its reason, unpaid and without a query', async () => {
    const other = Keypair.generate();
    const { blockhash } = world.blockhashes.latest()!;
    await forNothing(async () => {
      for (const { title, reason, wire } of breachesBy({ parties: world.parties, wallet, other, blockhash })) {
        const { status, json, headers } = await ask(headersOf(wire));
        const told = [status, json.error.code, json.error.details.charged];
        if (reason === REJECTION.couldNotBeDecoded) {
          expect(told, title).toEqual([400, 'invalid_payment', false]);
          continue;
        }
        expect([...told, json.error.details.reason], title).toEqual([402, 'payment_rejected', false, reason]);
        expect(headers.get('payment-required'), title).not.toBeNull();
        expect(json.error.details.accepts, title).toHaveLength(1);
      }
    });
  });

  // A bare transaction names neither.
  if (!isBare) {
    it('is rejected on another network', () =>
      forNothing(async () => {
        const mainnets = ['solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp', 'eip155:8453'];
        const names = dialect.name === 'x402 v2' ? mainnets : [...mainnets, 'solana', 'solana-mainnet', 'base'];
        for (const network of names) {
          const { status, json } = await ask(dialect.headers(world, building(), network));
          expect([status, json.error.details.reason], network).toEqual([402, 'invalid_exact_svm_network_mismatch']);
        }
      }));

    it('is rejected in an unknown version', () =>
      forNothing(async () => {
        const [name, text] = Object.entries(headersOf(building()))[0]!;
        for (const x402Version of [0, 3, '2', null]) {
          const spoilt = { ...JSON.parse(Buffer.from(text, 'base64').toString()), x402Version };
          const { status, json } = await ask({ [name]: encoded(spoilt) });
          expect([status, json.error.details.reason]).toEqual([402, 'invalid_x402_version']);
        }
      }));
  }

  it('buys only what it pays for: one unit less than a batch costs buys no batch', () =>
    forNothing(async () => {
      for (const amount of [990_000n, 1_979_999n, 1_980_001n]) {
        const wire = building({ instructions: [transfer(world.parties, wallet.publicKey, { amount }), memo()] });
        const { status, json } = await ask(headersOf(wire), '/v2/case?q=batch');
        expect([status, json.error.details.reason]).toEqual([402, REJECTION.amountMismatch]);
      }
    }));

  it('buys once, however its bytes and signatures are encoded', async () => {
    const wire = building();
    await buys(headersOf(wire));
    await forNothing(async () => {
      const [name, text] = Object.entries(headersOf(wire))[0]!;
      const again = [wire, signedAgain(wire, wallet)].map((bytes) => headersOf(bytes));
      for (const headers of [...again, ...again.map((one) => ({ 'x-payment': Object.values(one)[0] as string }))]) {
        const { status, json } = await ask(headers);
        expect([status, json.error.code, typeof json.error.details.transaction]).toEqual([
          409,
          'payment_already_used',
          'string',
        ]);
      }
      expect((await ask(headersOf(wire), '/v2/monitor?q=elsewhere')).status).toBe(409);
      const urlSafe = Buffer.from(text, 'base64').toString('base64url');
      const rewritten = [urlSafe, text.replace(/=+$/, ''), ...(isBare ? [bs58.encode(wire)] : [])];
      for (const other of rewritten)
        expect((await ask({ [name]: other })).json.error.code, other.slice(-8)).toBe('payment_already_used');
      for (const spoilt of [`${text}AAAA`, `${text}=`, `-_+/${text.slice(4)}`, text.slice(0, 40)]) {
        const { status, json } = await ask({ [name]: spoilt });
        expect([status, json.error.code], spoilt.slice(-8)).toEqual([400, 'invalid_payment']);
      }
    });
  });

  it('reports to a wallet what is missing', async () => {
    const poor = await world.wallet(989_999n);
    const { status, json } = await ask(headersOf(dialect.build(world, poor)));
    expect([status, json.error.details]).toMatchObject([402, { reason: 'insufficient_funds', shortfall: '1' }]);
    expect(await world.tokens(poor.publicKey)).toBe(989_999n);
  });

  it('in twenty concurrent copies, spread over endpoints and nodes, buys one answer', async () => {
    const node = await world.serve();
    const headers = headersOf(building());
    const { result, spent } = await world.moved(wallet, () =>
      Promise.all(
        Array.from({ length: 20 }, (_, i) =>
          world.get(i % 3 ? '/v2/case?q=slow' : '/v2/monitor?q=slow', headers, i % 2 ? world.url : node),
        ),
      ),
    );
    expect(spent).toBe(990_000n);
    expect(result.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(19).fill(409)]);
  });
});

/**
 * LiteSVM ends the whole process when it meets something unexpected. These are well-formed, well-signed transactions
 * that call every program of the runtime with random data: none of them may crash the chain or leave a call unanswered.
 */
import { Keypair, PublicKey } from '@solana/web3.js';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { SolanaKey } from '../../../src/solana/keys.ts';
import { seeded } from '../../support/fault-proxy.ts';
import { SEED } from '../../support/seed.ts';
import { MINT, tokenAccountOf } from '../payment-transactions.ts';
import { openChain, post, type TestChain } from './harness.ts';

const TRANSACTIONS = 200 * Number(process.env.KILLS ?? 20);
const PER_BATCH = 100;

const PROGRAMS = [
  ...['11111111111111111111111111111111', 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'],
  ...['TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb', 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL'],
  ...['MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr', 'Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo'],
  ...['ComputeBudget111111111111111111111111111111', 'L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95'],
  ...['Stake11111111111111111111111111111111111111', 'AddressLookupTab1e1111111111111111111111111'],
  ...['Vote111111111111111111111111111111111111111', 'Config1111111111111111111111111111111111111'],
  ...['BPFLoaderUpgradeab1e11111111111111111111111', 'BPFLoader2111111111111111111111111111111111'],
  ...['BPFLoader1111111111111111111111111111111111', 'LoaderV411111111111111111111111111111111111'],
  ...['Ed25519SigVerify111111111111111111111111111', 'KeccakSecp256k11111111111111111111111111111'],
  ...['Secp256r1SigVerify1111111111111111111111111', 'NativeLoader1111111111111111111111111111111'],
].map((text) => new PublicKey(text));
const SYSVARS = [
  ...['SysvarC1ock11111111111111111111111111111111', 'SysvarRent111111111111111111111111111111111'],
  ...['SysvarRecentB1ockHashes11111111111111111111', 'SysvarS1otHashes111111111111111111111111111'],
  ...['Sysvar1nstructions1111111111111111111111111', 'SysvarStakeHistory1111111111111111111111111'],
].map((text) => new PublicKey(text));

let chain: TestChain;
const random = seeded(SEED);
/** From 0, or the first bound, to below the last. */
const randomInt = (...bounds: readonly [number] | readonly [number, number]): number => {
  const [least, end] = bounds.length === 1 ? [0, bounds[0]] : bounds;
  return least + Math.floor(random() * (end - least));
};
const randomData = (size: number): Buffer => Buffer.from(Array.from({ length: size }, () => randomInt(256)));
const drawnKeys = (count: number) => Array.from({ length: count }, () => Keypair.fromSeed(randomData(32)));
const rich = drawnKeys(6);
const fresh = drawnKeys(8);
beforeAll(async () => {
  chain = await openChain({ slotMs: 50, lighthouseStandIn: true });
  for (const { publicKey } of rich) await chain.fund(publicKey, 10_000_000_000, 1_000_000);
});
afterAll(() => chain.dispose());

const pick = <T>(items: readonly T[]): T => items[randomInt(items.length)] as T;
const many = <T>(least: number, most: number, make: () => T): T[] =>
  Array.from({ length: randomInt(least, most + 1) }, make);
const length = (count: number) => (count < 128 ? Buffer.of(count) : Buffer.of((count & 127) | 128, count >> 7));

/** Random data after a tag that programs may parse as an instruction. */
function instructionData(program: PublicKey): Buffer {
  const body = randomData(randomInt(60));
  for (let at = 0; at + 8 <= body.length; at += 8)
    if (randomInt(2)) body.writeBigUInt64LE(BigInt(randomInt(2 ** 31)), at);
  if (program.equals(PROGRAMS[0] as PublicKey) && randomInt(3) === 0) {
    const create = Buffer.alloc(52);
    create.writeBigUInt64LE(BigInt(randomInt(10 ** 9)), 4);
    create.writeBigUInt64LE(BigInt(randomInt(20_000)), 12);
    pick(PROGRAMS).toBuffer().copy(create, 20);
    return create;
  }
  return randomInt(2)
    ? Buffer.concat([Buffer.of(randomInt(48), 0, 0, 0), body])
    : Buffer.concat([Buffer.of(randomInt(48)), body]);
}

function nonsense(blockhash: string): Buffer | null {
  const signers = [...new Set([pick(rich), ...many(0, 2, () => pick([...rich, ...fresh]))])];
  const accounts = [
    ...rich.map(({ publicKey }) => tokenAccountOf(publicKey)),
    MINT,
    ...SYSVARS,
    ...fresh.map((key) => key.publicKey),
  ];
  const named = [...many(1, 6, () => pick(accounts)), ...many(1, 3, () => pick(PROGRAMS)), PROGRAMS[0] as PublicKey];
  const others = [...new Map(named.map((key) => [key.toBase58(), key])).values()].filter(
    (key) => !signers.some(({ publicKey }) => publicKey.equals(key)),
  );
  const keys = [...signers.map(({ publicKey }) => publicKey), ...others];
  const programs = keys.flatMap((key, index) => (PROGRAMS.some((program) => program.equals(key)) ? [index] : []));
  const instructions = many(1, 4, () => {
    const program = randomInt(12) ? pick(programs) : randomInt(1, keys.length);
    const used = Buffer.from(many(0, 8, () => randomInt(keys.length)));
    const data = instructionData(keys[program] as PublicKey);
    return Buffer.concat([Buffer.of(program), length(used.length), used, length(data.length), data]);
  });
  const versioned = randomInt(2) === 0;
  const lookup = Buffer.concat([Buffer.of(1), pick(accounts).toBuffer(), Buffer.of(1, randomInt(5), 1, randomInt(5))]);
  const message = Buffer.concat([
    ...(versioned ? [Buffer.of(0x80)] : []),
    Buffer.of(signers.length, randomInt(3) ? 0 : randomInt(signers.length), randomInt(others.length + 1)),
    length(keys.length),
    ...keys.map((key) => key.toBuffer()),
    new PublicKey(blockhash).toBuffer(),
    length(instructions.length),
    ...instructions,
    ...(versioned ? [randomInt(6) ? Buffer.of(0) : lookup] : []),
  ]);
  const signatures = signers.map(({ secretKey }) => SolanaKey.fromSeed(secretKey.subarray(0, 32)).sign(message));
  const wire = Buffer.concat([length(signers.length), ...signatures, message]);
  return wire.length <= 1232 ? wire : null;
}

it(`${TRANSACTIONS} random transactions are answered one by one, and survive a restart`, async () => {
  const codes = new Map<string, number>();
  const count = (what: string) => codes.set(what, (codes.get(what) ?? 0) + 1);
  for (let sent = 0; sent < TRANSACTIONS; sent += PER_BATCH) {
    const blockhash = await chain.blockhash();
    const wires = Array.from({ length: PER_BATCH }, () => nonsense(blockhash)).filter((wire) => wire !== null);
    const calls = wires.map((wire, id) => {
      const method = randomInt(4) ? 'sendTransaction' : 'simulateTransaction';
      const settings = { encoding: 'base64', skipPreflight: randomInt(2) === 0, sigVerify: randomInt(2) === 0 };
      return { jsonrpc: '2.0', id, method, params: [wire.toString('base64'), settings] };
    });
    const answers = (await (await post(chain.url, JSON.stringify(calls))).json()) as { error?: { code: number } }[];
    expect(answers).toHaveLength(calls.length);
    for (const { error } of answers) count(error ? String(error.code) : 'done');
  }
  expect(codes.get('-32603')).toBeUndefined();
  expect(codes.get('done')).toBeGreaterThan(TRANSACTIONS / 20);
  const { directory } = chain;
  const balances = await Promise.all(rich.map(({ publicKey }) => chain.connection.getBalance(publicKey)));
  await chain.close();
  chain = await openChain({ slotMs: 50, lighthouseStandIn: true, directory });
  expect(await Promise.all(rich.map(({ publicKey }) => chain.connection.getBalance(publicKey)))).toEqual(balances);
});

import { createInitializeMint2Instruction, MINT_SIZE, TOKEN_2022_PROGRAM_ID } from '@solana/spl-token';
import {
  AddressLookupTableProgram,
  Keypair,
  SystemProgram,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import bs58 from 'bs58';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { build, guard, limit, memo, price, tokenAccountOf, transfer } from '../payment-transactions.ts';
import { openChain, openMarket, type TestChain } from './harness.ts';

let chain: TestChain;
beforeAll(async () => {
  chain = await openChain({ slotMs: 100, lighthouseStandIn: true });
});
afterAll(() => chain.dispose());

const send = (wire: Buffer, settings: object = {}) =>
  chain.rpc('sendTransaction', wire.toString('base64'), { encoding: 'base64', ...settings });
const simulate = async (wire: Buffer, settings: object = {}) => {
  const answer = await chain.rpc('simulateTransaction', wire.toString('base64'), { encoding: 'base64', ...settings });
  return { ...answer, value: (answer.result as { value: Record<string, unknown> } | undefined)?.value };
};
const forged = (wire: Buffer): Buffer => {
  const copy = Buffer.from(wire);
  copy.writeUInt8(copy.readUInt8(10) ^ 1, 10);
  return copy;
};
const lamports = ({ publicKey }: Keypair) => chain.connection.getBalance(publicKey);

describe('sendTransaction', () => {
  it('executes once: the same message again is already processed', async () => {
    const { seller, payment } = await openMarket(chain);
    const wire = await payment();
    expect((await send(wire)).result).toBe(bs58.encode(wire.subarray(1, 65)));
    const again = await send(wire);
    expect(again.error).toMatchObject({ code: -32002, data: { err: 'AlreadyProcessed' } });
    expect((await send(wire, { skipPreflight: true })).result).toBeTypeOf('string');
    expect(await chain.usdc(seller.publicKey)).toBe(990_000n);
  });

  it('accepts the same transaction from many concurrent senders, and runs it once', async () => {
    const { seller, payment } = await openMarket(chain);
    const wire = await payment();
    const answers = await Promise.all(Array.from({ length: 20 }, () => send(wire)));
    expect(answers.filter(({ result }) => result)).toHaveLength(1);
    expect(await chain.usdc(seller.publicKey)).toBe(990_000n);
  });

  it('rejects in preflight what would fail, and charges nothing for it', async () => {
    const { buyer, payment } = await openMarket(chain);
    const before = await lamports(buyer);
    const { error } = await send(await payment(10n ** 12n));
    expect(error).toMatchObject({
      code: -32002,
      message: 'Transaction simulation failed: Error processing Instruction 0: custom program error: 0x1',
      data: { err: { InstructionError: [0, { Custom: 1 }] } },
    });
    expect(JSON.stringify(error?.data)).toContain('insufficient funds');
    expect(await lamports(buyer)).toBe(before);
  });

  it('lands what fails without preflight, and charges its fee', async () => {
    const { buyer, seller, payment } = await openMarket(chain);
    const before = await lamports(buyer);
    const wire = await payment(10n ** 12n);
    const { result } = await send(wire, { skipPreflight: true });
    const { value } = await chain.connection.getSignatureStatus(String(result));
    expect(value?.err).toEqual({ InstructionError: [0, { Custom: 1 }] });
    expect(await lamports(buyer)).toBe(before - 5_000);
    expect(await chain.usdc(seller.publicKey)).toBe(0n);
    const landed = await chain.connection.getTransaction(String(result), {
      commitment: 'confirmed',
      maxSupportedTransactionVersion: 0,
    });
    expect(landed?.meta).toMatchObject({ err: { InstructionError: [0, { Custom: 1 }] }, fee: 5_000 });
  });

  it('rejects a forged signature, and without preflight never lands it', async () => {
    const { seller, payment } = await openMarket(chain);
    const wire = forged(await payment());
    expect((await send(wire)).error).toMatchObject({
      code: -32003,
      message: 'Transaction signature verification failure',
    });
    const { result } = await send(wire, { skipPreflight: true });
    expect((await chain.connection.getSignatureStatus(String(result))).value).toBeNull();
    expect(await chain.usdc(seller.publicKey)).toBe(0n);
  });

  it('rejects an unknown blockhash as a cluster does', async () => {
    const { seller, payment } = await openMarket(chain);
    const wire = await payment(1n, { blockhash: Keypair.generate().publicKey.toBase58() });
    expect((await send(wire)).error).toMatchObject({
      code: -32002,
      message: 'Transaction simulation failed: Blockhash not found',
      data: { err: 'BlockhashNotFound', logs: [], unitsConsumed: 0 },
    });
    expect((await send(forged(wire))).error?.code).toBe(-32003);
    const { result } = await send(wire, { skipPreflight: true });
    expect((await chain.connection.getSignatureStatus(String(result))).value).toBeNull();
    expect(await chain.usdc(seller.publicKey)).toBe(0n);
  });

  it('rejects a fee payer without money', async () => {
    const poor = Keypair.generate();
    const wire = build({
      instructions: [memo()],
      payer: poor.publicKey,
      signers: [poor],
      blockhash: await chain.blockhash(),
    });
    expect((await send(wire)).error?.data?.err).toBe('AccountNotFound');
    await chain.connection.requestAirdrop(poor.publicKey, 900_000);
    const more = build({
      instructions: [limit(1_000_000), price(1_000_000_000n), memo()],
      payer: poor.publicKey,
      signers: [poor],
      blockhash: await chain.blockhash(),
    });
    expect((await send(more)).error?.data?.err).toBe('InsufficientFundsForFee');
  });

  it('reads base58 as the default encoding', async () => {
    const { payment } = await openMarket(chain);
    expect((await chain.rpc('sendTransaction', bs58.encode(await payment()))).result).toBeTypeOf('string');
  });

  it('runs the guards of wallets on the stand-in, and burns the priority fee', async () => {
    const { buyer, parties } = await openMarket(chain);
    const before = await lamports(buyer);
    const instructions = [limit(50_000), price(100_000n), guard(5), transfer(parties, buyer.publicKey), guard(9)];
    const wire = build({
      instructions,
      payer: buyer.publicKey,
      signers: [buyer],
      blockhash: await chain.blockhash(),
    });
    expect((await send(wire)).error).toBeUndefined();
    expect(before - (await lamports(buyer))).toBe(5_000 + 5_000);
  });
});

describe('simulateTransaction', () => {
  it('has no effect, and honours sigVerify and replaceRecentBlockhash', async () => {
    const { buyer, seller, parties, payment } = await openMarket(chain);
    const wire = await payment();
    expect((await simulate(wire, { sigVerify: true })).value).toMatchObject({ err: null, replacementBlockhash: null });
    expect(await chain.usdc(seller.publicKey)).toBe(0n);

    const unsigned = build({
      instructions: [transfer(parties, buyer.publicKey)],
      payer: buyer.publicKey,
      signers: [],
      blockhash: Keypair.generate().publicKey.toBase58(),
    });
    expect((await simulate(unsigned)).value?.err).toBe('BlockhashNotFound');
    expect((await simulate(unsigned, { sigVerify: true })).error?.code).toBe(-32003);
    const replaced = (await simulate(unsigned, { replaceRecentBlockhash: true })).value;
    expect(replaced).toMatchObject({ err: null, replacementBlockhash: { blockhash: expect.any(String) } });
    expect((await simulate(unsigned, { replaceRecentBlockhash: true, sigVerify: true })).error?.code).toBe(-32602);

    await send(wire);
    expect((await simulate(wire, { sigVerify: true })).value?.err).toBe('AlreadyProcessed');
  });

  it('shows accounts as they would be, logs, and inner instructions', async () => {
    const { buyer, seller, payment } = await openMarket(chain);
    const { value } = await simulate(await payment(), {
      innerInstructions: true,
      accounts: {
        encoding: 'jsonParsed',
        addresses: [tokenAccountOf(seller.publicKey).toBase58(), buyer.publicKey.toBase58()],
      },
    });
    expect(value?.logs).toContainEqual(expect.stringContaining('Tokenkeg'));
    expect(JSON.stringify(value?.accounts)).toContain('"amount":"990000"');
    expect(value?.innerInstructions).toEqual([]);
    const failing = await simulate(await payment(10n ** 12n), { accounts: { addresses: [] } });
    expect(failing.value).toMatchObject({ err: { InstructionError: [0, { Custom: 1 }] }, accounts: [] });
  });
});

describe('the runtime', () => {
  it('supports Token-2022', async () => {
    const { buyer } = await openMarket(chain);
    const mint = Keypair.generate();
    const rent = await chain.connection.getMinimumBalanceForRentExemption(MINT_SIZE);
    const wire = build({
      instructions: [
        SystemProgram.createAccount({
          fromPubkey: buyer.publicKey,
          newAccountPubkey: mint.publicKey,
          lamports: rent,
          space: MINT_SIZE,
          programId: TOKEN_2022_PROGRAM_ID,
        }),
        createInitializeMint2Instruction(mint.publicKey, 9, buyer.publicKey, null, TOKEN_2022_PROGRAM_ID),
      ],
      payer: buyer.publicKey,
      signers: [buyer, mint],
      blockhash: await chain.blockhash(),
    });
    expect((await send(wire)).error).toBeUndefined();
    expect((await chain.connection.getTokenSupply(mint.publicKey)).value.decimals).toBe(9);
  });

  it('supports lookup tables, and keeps what a transaction writes through one', async () => {
    const { buyer, seller, parties } = await openMarket(chain);
    const run = async (instructions: Parameters<typeof build>[0]['instructions']) => {
      const blockhash = await chain.blockhash();
      const answer = await send(build({ instructions, payer: buyer.publicKey, signers: [buyer], blockhash }));
      expect(answer.error).toBeUndefined();
    };
    const [create, table] = AddressLookupTableProgram.createLookupTable({
      authority: buyer.publicKey,
      payer: buyer.publicKey,
      recentSlot: (await chain.connection.getSlot('processed')) - 2,
    });
    const destination = tokenAccountOf(seller.publicKey);
    await run([
      create,
      AddressLookupTableProgram.extendLookupTable({
        payer: buyer.publicKey,
        authority: buyer.publicKey,
        lookupTable: table,
        addresses: [destination],
      }),
    ]);
    // A table's new addresses are valid from the next slot on.
    await new Promise((resolve) => setTimeout(resolve, 250));
    const account = (await chain.connection.getAddressLookupTable(table)).value;
    expect(account).not.toBeNull();
    const message = new TransactionMessage({
      payerKey: buyer.publicKey,
      recentBlockhash: await chain.blockhash(),
      instructions: [transfer(parties, buyer.publicKey)],
    }).compileToV0Message(account ? [account] : []);
    expect(message.addressTableLookups).toHaveLength(1);
    const transaction = new VersionedTransaction(message);
    transaction.sign([buyer]);
    const signature = await chain.connection.sendTransaction(transaction);
    const mentioned = await chain.connection.getSignaturesForAddress(destination, {}, 'confirmed');
    expect(mentioned[0]?.signature).toBe(signature);
    const landed = await chain.connection.getTransaction(signature, {
      commitment: 'confirmed',
      maxSupportedTransactionVersion: 0,
    });
    expect(landed?.meta?.loadedAddresses?.writable.map(String)).toEqual([destination.toBase58()]);
    const { directory } = chain;
    await chain.close();
    chain = await openChain({ slotMs: 100, lighthouseStandIn: true, directory });
    expect(await chain.usdc(seller.publicKey)).toBe(990_000n);
  });
});

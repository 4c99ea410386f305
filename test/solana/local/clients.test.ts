import {
  type Base64EncodedWireTransaction,
  createKeyPairSignerFromBytes,
  createSolanaRpc,
  address as kitAddress,
  signature as kitSignature,
} from '@solana/kit';
import { createTransferCheckedInstruction, getOrCreateAssociatedTokenAccount } from '@solana/spl-token';
import {
  Keypair,
  type ParsedAccountData,
  SystemProgram,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import { toFacilitatorSvmSigner } from '@x402/svm';
import { ExactSvmScheme as ClientScheme } from '@x402/svm/exact/client';
import { ExactSvmScheme as FacilitatorScheme } from '@x402/svm/exact/facilitator';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GENESIS_HASHES, NETWORKS } from '../../../src/solana/addresses.ts';
import { MINT, tokenAccountOf } from '../payment-transactions.ts';
import { openChain, openMarket, type TestChain } from './harness.ts';

let chain: TestChain;
beforeAll(async () => {
  chain = await openChain({ slotMs: 100 });
});
afterAll(() => chain.dispose());

describe('@solana/web3.js', () => {
  it('sends, looks up and lists a payment', async () => {
    const { buyer, seller, payment } = await openMarket(chain);
    const signature = await chain.connection.sendRawTransaction(await payment());
    const { value } = await chain.connection.getSignatureStatus(signature);
    expect(value).toMatchObject({ err: null, confirmationStatus: 'confirmed' });
    expect(await chain.usdc(seller.publicKey)).toBe(990_000n);

    const options = { commitment: 'confirmed', maxSupportedTransactionVersion: 0 } as const;
    const landed = await chain.connection.getTransaction(signature, options);
    expect(landed?.meta).toMatchObject({ err: null, fee: 5_000 });
    expect(JSON.stringify(landed?.meta?.postTokenBalances)).toContain('"uiAmountString":"0.99"');
    expect(landed?.transaction.message.getAccountKeys().get(0)?.equals(buyer.publicKey)).toBe(true);
    const parsed = await chain.connection.getParsedTransaction(signature, options);
    expect(parsed?.transaction.message.accountKeys[0]).toMatchObject({ signer: true, writable: true });

    const listed = await chain.connection.getSignaturesForAddress(tokenAccountOf(seller.publicKey), {}, 'confirmed');
    expect(listed.map((each) => each.signature)).toContain(signature);
    expect(listed[0]?.memo).toMatch(/^\[32\] [0-9a-f]{32}$/);
    const older = await chain.connection.getSignaturesForAddress(
      tokenAccountOf(seller.publicKey),
      { before: signature, limit: 5 },
      'confirmed',
    );
    expect(older).toHaveLength(1);
  });

  it('makes a legacy transaction, and accounts through the token library', async () => {
    const { buyer, seller, payment } = await openMarket(chain);
    await chain.connection.sendRawTransaction(await payment(1n, { version: 'legacy' }));
    expect(await chain.usdc(seller.publicKey)).toBe(1n);
    const stranger = Keypair.generate();
    const message = new TransactionMessage({
      payerKey: buyer.publicKey,
      recentBlockhash: await chain.blockhash(),
      instructions: [
        SystemProgram.transfer({ fromPubkey: buyer.publicKey, toPubkey: stranger.publicKey, lamports: 5_000_000 }),
      ],
    }).compileToV0Message();
    const transaction = new VersionedTransaction(message);
    transaction.sign([buyer]);
    expect((await chain.connection.getFeeForMessage(message)).value).toBe(5_000);
    await chain.connection.sendTransaction(transaction);
    expect(await chain.connection.getBalance(stranger.publicKey)).toBe(5_000_000);
    const account = await getOrCreateAssociatedTokenAccount(chain.connection, buyer, MINT, buyer.publicKey);
    expect(account.amount).toBe(99_999_999n);
  });

  it('reads accounts in every encoding', async () => {
    const { buyer } = await openMarket(chain);
    const account = tokenAccountOf(buyer.publicKey);
    const parsed = (await chain.connection.getParsedAccountInfo(account)).value?.data as ParsedAccountData;
    expect(parsed.parsed.info).toMatchObject({
      mint: MINT.toBase58(),
      owner: buyer.publicKey.toBase58(),
      tokenAmount: { amount: '100000000', uiAmountString: '100' },
    });
    const [raw, none] = await chain.connection.getMultipleAccountsInfo([account, Keypair.generate().publicKey]);
    expect(raw?.data.readBigUInt64LE(64)).toBe(100_000_000n);
    expect(none).toBeNull();
    const owned = await chain.connection.getTokenAccountsByOwner(buyer.publicKey, { mint: MINT });
    expect(owned.value.map(({ pubkey }) => pubkey.toBase58())).toEqual([account.toBase58()]);
    expect(Number((await chain.connection.getTokenSupply(MINT)).value.amount)).toBeGreaterThan(0);
    const { result } = await chain.rpc('getAccountInfo', account.toBase58(), {
      encoding: 'base58',
      dataSlice: { offset: 32, length: 32 },
    });
    expect(JSON.stringify(result)).toContain(buyer.publicKey.toBase58());
    // Clients that are strict about integers, as those of Rust and Python are, parse it as a u64.
    const epoch = /"rentEpoch":(\d+)/.exec(JSON.stringify(result))?.[1] ?? '';
    expect(BigInt(epoch)).toBeGreaterThan(2n ** 63n);
    expect(BigInt(epoch)).toBeLessThan(2n ** 64n);
  });

  it('asks about the cluster', async () => {
    const { connection } = chain;
    const genesis = await connection.getGenesisHash();
    expect(`solana:${genesis.slice(0, 32)}`).toBe(NETWORKS.local.caip2);
    expect(genesis).not.toBe(GENESIS_HASHES.devnet);
    expect(await createSolanaRpc(chain.url).getGenesisHash().send()).toBe(genesis);
    const epoch = await connection.getEpochInfo('processed');
    expect(epoch.absoluteSlot).toBe(epoch.blockHeight);
    expect(await connection.getMinimumBalanceForRentExemption(165)).toBe(2_039_280);
    expect(await connection.getSlot('finalized')).toBeLessThan(await connection.getSlot('confirmed'));
    expect((await connection.getVersion())['solana-core']).toMatch(/litesvm/);
    expect((await connection.getRecentPrioritizationFees()).length).toBeGreaterThan(1);
    const { blockhash, lastValidBlockHeight } = await connection.getLatestBlockhash();
    expect((await connection.isBlockhashValid(blockhash)).value).toBe(true);
    expect(lastValidBlockHeight - (await connection.getBlockHeight())).toBeGreaterThan(145);
  });
});

describe('@solana/kit', () => {
  it('reads, sends and simulates', async () => {
    const rpc = createSolanaRpc(chain.url);
    const { buyer, seller, payment } = await openMarket(chain);
    const { value: latest } = await rpc.getLatestBlockhash().send();
    expect((await rpc.isBlockhashValid(latest.blockhash).send()).value).toBe(true);
    const wire = (await payment()).toString('base64') as Base64EncodedWireTransaction;
    const simulated = await rpc
      .simulateTransaction(wire, { encoding: 'base64', sigVerify: true, commitment: 'confirmed' })
      .send();
    expect(simulated.value.err).toBeNull();
    expect(simulated.value.unitsConsumed).toBeGreaterThan(0n);
    const sent = await rpc.sendTransaction(wire, { encoding: 'base64' }).send();
    const { value } = await rpc.getSignatureStatuses([sent], { searchTransactionHistory: true }).send();
    expect(value[0]?.confirmationStatus).toBe('confirmed');
    const balance = await rpc.getTokenAccountBalance(kitAddress(tokenAccountOf(seller.publicKey).toBase58())).send();
    expect(balance.value.amount).toBe('990000');
    expect((await rpc.getBalance(kitAddress(buyer.publicKey.toBase58())).send()).value).toBe(999_995_000n);
    const landed = await rpc
      .getTransaction(kitSignature(sent), {
        commitment: 'confirmed',
        maxSupportedTransactionVersion: 0,
        encoding: 'json',
      })
      .send();
    expect(landed?.meta?.fee).toBe(5_000n);
  });

  it('reads a failed preflight as the error that a cluster returns', async () => {
    const rpc = createSolanaRpc(chain.url);
    const { payment } = await openMarket(chain);
    const wire = (await payment(10n ** 15n)).toString('base64') as Base64EncodedWireTransaction;
    const failure = await rpc
      .sendTransaction(wire, { encoding: 'base64' })
      .send()
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({ context: { __code: -32002 }, cause: { context: { code: 1, index: 0 } } });
  });
});

describe('@x402/svm', () => {
  it('builds a payment against the chain, and its facilitator verifies and settles it', async () => {
    const { buyer, seller } = await openMarket(chain);
    const feePayer = Keypair.generate();
    await chain.fund(feePayer.publicKey, 1_000_000_000, 0);
    const requirements = {
      scheme: 'exact',
      network: 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1',
      asset: MINT.toBase58(),
      amount: '990000',
      payTo: seller.publicKey.toBase58(),
      maxTimeoutSeconds: 60,
      extra: { feePayer: feePayer.publicKey.toBase58(), memo: 'one purchase' },
    } as const;
    const client = new ClientScheme(await createKeyPairSignerFromBytes(buyer.secretKey), { rpcUrl: chain.url });
    const built = await client.createPaymentPayload(2, requirements);
    const payload = {
      ...built,
      resource: { url: 'http://127.0.0.1/paid', description: '', mimeType: 'application/json' },
      accepted: requirements,
    };
    const facilitator = new FacilitatorScheme(
      toFacilitatorSvmSigner(await createKeyPairSignerFromBytes(feePayer.secretKey), { defaultRpcUrl: chain.url }),
    );
    expect(await facilitator.verify(payload, requirements)).toMatchObject({
      isValid: true,
      payer: buyer.publicKey.toBase58(),
    });
    const settled = await facilitator.settle(payload, requirements);
    expect(settled).toMatchObject({ success: true });
    expect(await chain.usdc(seller.publicKey)).toBe(990_000n);
    expect((await chain.connection.getSignatureStatus(settled.transaction)).value?.err).toBeNull();
  });

  it('fails with the message that the facilitator understands when funds are short', async () => {
    const { buyer, seller } = await openMarket(chain);
    const instruction = createTransferCheckedInstruction(
      tokenAccountOf(buyer.publicKey),
      MINT,
      tokenAccountOf(seller.publicKey),
      buyer.publicKey,
      10n ** 15n,
      6,
    );
    const message = new TransactionMessage({
      payerKey: buyer.publicKey,
      recentBlockhash: await chain.blockhash(),
      instructions: [instruction],
    }).compileToV0Message();
    const signer = toFacilitatorSvmSigner(await createKeyPairSignerFromBytes(buyer.secretKey), {
      defaultRpcUrl: chain.url,
    });
    const transaction = new VersionedTransaction(message);
    transaction.sign([buyer]);
    const wire = Buffer.from(transaction.serialize()).toString('base64');
    const network = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1';
    await expect(signer.simulateTransaction(wire, network)).rejects.toThrow(
      'Simulation failed: {"InstructionError":["0",{"Custom":"1"}]}',
    );
  });
});

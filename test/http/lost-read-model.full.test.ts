/**
 * The whole service, started on a log whose read models are lost, and queried about its cases from the first moment on.
 */
import { randomInt, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createKeyPairSignerFromBytes } from '@solana/kit';
import { Keypair } from '@solana/web3.js';
import { wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { ExactSvmScheme } from '@x402/svm/exact/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ingestDocket } from '../../src/commands/docket/ingest.ts';
import { readConfig } from '../../src/config.ts';
import { type Service, startService } from '../../src/main.ts';
import { systemClock, toInstant } from '../../src/runtime/instant.ts';
import { associatedTokenAddress, NETWORKS } from '../../src/solana/addresses.ts';
import { startLocalChain } from '../../src/solana/local/start-local-chain.ts';
import { readJuriscraperDocket } from '../../src/sources/juriscraper/juriscraper.ts';
import { openSqlite } from '../../src/storage/sqlite/open.ts';
import { rawDocket, rawEntry } from '../dockets/raw-docket.ts';
import { contextOf } from '../storage/samples.ts';
import { ChainRpc } from '../support/rpc.ts';
import { silent } from './serving.ts';

const DOCKETS = 8_000;
const CALLERS = 8;
const UNKNOWN = '3:25-cv-99999';
const numberOf = (index: number) => `3:24-cv-${String(index + 1).padStart(5, '0')}`;

describe(`a service of ${DOCKETS} cases whose read models are lost`, () => {
  let directory: string;
  let chain: Awaited<ReturnType<typeof startLocalChain>>;
  let service: Service;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'lost-read-model-'));
    chain = await startLocalChain({
      directory: join(directory, 'chain'),
      port: 0,
      slotMs: 50,
      logger: silent,
      environment: {},
    });
    const storage = openSqlite({ directory: join(directory, 'data') });
    const entries = [rawEntry(1, '2024-02-01', 'COMPLAINT'), rawEntry(2, '2024-02-05', 'MOTION to Dismiss')];
    const record = async (index: number) => {
      const raw = rawDocket(entries, { docket_number: numberOf(index) });
      const askedAt = toInstant(systemClock.now());
      const read = readJuriscraperDocket(raw, { askedAt, complete: true, source: 'file' });
      if ('refused' in read) throw new Error(read.refused);
      const sleep = () => Promise.reject(new Error('there is nothing to wait for'));
      await ingestDocket({ ...storage, clock: systemClock, newId: randomUUID, sleep }, read.snapshot, contextOf());
    };
    for (let index = 0; index < DOCKETS; index += 50) {
      await Promise.all(Array.from({ length: 50 }, (_, next) => record(index + next)));
    }
    await storage.close();
    for (const end of ['', '-wal', '-shm']) await rm(join(directory, 'data', `read.sqlite${end}`), { force: true });
  }, 120_000);
  afterAll(async () => {
    await service?.stop();
    await chain?.close();
    await rm(directory, { recursive: true, force: true });
  });

  it('never denies a known case, and in the end denies unknown ones', async () => {
    const rpc = new ChainRpc(chain.url);
    const agents = await Promise.all(
      Array.from({ length: CALLERS }, async () => {
        const keypair = Keypair.generate();
        const address = keypair.publicKey.toBase58();
        await rpc.fund(address, associatedTokenAddress(address, NETWORKS.local.usdcMint), 100_000_000n);
        const signer = await createKeyPairSignerFromBytes(keypair.secretKey);
        const client = new x402Client().register('solana:*', new ExactSvmScheme(signer, { rpcUrl: chain.url }));
        return wrapFetchWithPayment(fetch, client);
      }),
    );
    const config = readConfig({
      DATA_DIR: join(directory, 'data'),
      PORT: '0',
      ADMIN_PORT: '0',
      SOLANA_NETWORK: 'local',
      SOLANA_RPC_URL: chain.url,
    });
    service = await startService(config, { logger: silent });

    const codes: string[] = [];
    const ask = async (agent: typeof fetch, number: string): Promise<string> => {
      const answer = await agent(
        `${service.url}/v2/monitor?court_code=cand&case_id=${number}&last_checked=2024-01-01T00:00:00Z`,
      );
      const { error } = (await answer.json()) as { error?: { code: string } };
      return error?.code ?? 'answered';
    };
    await Promise.all(
      agents.map(async (agent, caller) => {
        for (let round = 0; round < 18; round++) {
          // Some become visible early, some late, and one last of all.
          codes.push(await ask(agent, numberOf(caller === 0 ? DOCKETS - 1 : randomInt(DOCKETS))));
          // Once it is certain that a case does not exist, all others are visible.
          const unknown = caller === 1 ? await ask(agent, UNKNOWN) : null;
          if (unknown === 'case_not_found') codes.push(`then ${await ask(agent, numberOf(DOCKETS - 1))}`);
          if (codes.filter((code) => code === 'answered').length > 100) break;
        }
      }),
    );
    const count = (wanted: string) => codes.filter((code) => code === wanted).length;
    console.log(`${codes.length} questions: ${count('answered')} answered, ${count('service_unavailable')} not yet`);
    // A fast machine may have folded every case before the first question.
    const seen = new Set(codes.filter((code) => code !== 'service_unavailable'));
    expect(seen).toEqual(new Set(['answered', 'then answered']));
    const [agent = fetch] = agents;
    expect(await ask(agent, UNKNOWN)).toBe('case_not_found');
    expect(await ask(agent, numberOf(DOCKETS - 1))).toBe('answered');
  }, 120_000);
});

/** A whole service in this process, its wallets, and what Prometheus would read from it over a real socket. */
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Keypair } from '@solana/web3.js';
import { readConfig } from '../../src/config.ts';
import { startService } from '../../src/main.ts';
import { MICROS_PER_SECOND, systemClock } from '../../src/runtime/instant.ts';
import { makeLogger } from '../../src/runtime/logger.ts';
import { SCOTUS_RATES } from '../../src/sources/scotus/scotus.ts';
import { createSharedBudget } from '../../src/sources/shared-budget.ts';
import { demoCasePath } from '../crash/demo-case.ts';
import { paymentFor } from '../crash/paid-load.ts';
import { tokenAccountOf } from '../solana/payment-transactions.ts';
import { openTown } from '../sources/town.ts';
import { docketInProcess } from '../support/docket-in-process.ts';
import { ChainRpc } from '../support/rpc.ts';

const DEMO = join(import.meta.dirname, '../../fixtures/demo-before.json');

/** One scrape: samples by name and labels, as they are written. */
export interface Scrape {
  readonly text: string;
  /** Type of each metric family, by its name. */
  readonly families: ReadonlyMap<string, string>;
  readonly samples: ReadonlyMap<string, number>;
}

export function readScrape(text: string): Scrape {
  const lines = text.split('\n').filter((line) => line !== '');
  const families = lines.flatMap((line) => {
    const [, name, type] = /^# TYPE (\S+) (\S+)$/.exec(line) ?? [];
    return name !== undefined && type !== undefined ? [[name, type] as const] : [];
  });
  const samples = lines
    .filter((line) => !line.startsWith('#'))
    .map((line): [string, number] => {
      const space = line.lastIndexOf(' ');
      return [line.slice(0, space), Number(line.slice(space))];
    });
  return { text, families: new Map(families), samples: new Map(samples) };
}

export async function startObservedService() {
  const directory = await mkdtemp(join(tmpdir(), 'observed-'));
  const hits: string[] = [];
  const receiver = createServer((request, response) => {
    hits.push(request.url ?? '');
    request.resume().on('end', () => response.writeHead(request.url === '/gone' ? 500 : 204).end());
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const receiverPort = (receiver.address() as { port: number }).port;
  const town = await openTown();
  const environment = { DATA_DIR: join(directory, 'data'), LOG_LEVEL: 'silent', ...town.variables };
  const imported = await docketInProcess(['import', DEMO, '--json'], environment);
  if (imported.code !== 0) throw new Error(imported.err);
  const service = await startService(
    readConfig({
      ...environment,
      PORT: '0',
      ADMIN_PORT: '0',
      SOLANA_LOCAL_PORT: '0',
      SOLANA_LOCAL_SLOT_MS: '50',
      CALLBACK_ALLOW_PRIVATE: `127.0.0.1:${receiverPort}`,
    }),
    { logger: makeLogger('silent') },
  );
  // As if the Supreme Court had said to wait.
  const { readStore } = service.storage;
  const supremeCourt = createSharedBudget({ readStore, clock: systemClock, name: 'scotus', rates: SCOTUS_RATES });
  await supremeCourt.hold(systemClock.now() + 3_600 * MICROS_PER_SECOND);
  const rpc = new ChainRpc(service.rpcUrl ?? '');

  return {
    service,
    hits,
    url: service.url,
    /** Path of a paid query, with a callback to the receiver. @param hook `/gone` is answered with 500 */
    casePath: (hook?: '/hook' | '/gone') =>
      demoCasePath(hook === undefined ? undefined : `http://127.0.0.1:${receiverPort}${hook}`),
    async wallet(): Promise<Keypair> {
      const keypair = Keypair.generate();
      const { publicKey } = keypair;
      await rpc.fund(publicKey.toBase58(), tokenAccountOf(publicKey).toBase58(), 20_000_000n);
      return keypair;
    },
    paymentFor: (wallet: Keypair, path: string) => paymentFor({ url: service.url, rpc }, wallet, path),
    /** Runs a command of an operator, beside the running service. */
    docket: (...args: string[]) => docketInProcess(args, environment),
    async scrape(): Promise<Scrape> {
      const answer = await fetch(`${service.adminUrl}/metrics`);
      if (answer.status !== 200) throw new Error(`/metrics returned ${answer.status}`);
      return readScrape(await answer.text());
    },
    async close(): Promise<void> {
      await service.stop();
      await town.close();
      await new Promise((resolve) => receiver.close(resolve));
      await rm(directory, { recursive: true, force: true });
    },
  };
}

export type ObservedService = Awaited<ReturnType<typeof startObservedService>>;

/**
 * Given two nodes on EventStoreDB and MongoDB with the same sources, when both are asked about an unknown case at once, and a
 * feed and a webhook bring what is new, then the source is looked at once, and each caller is told of a filing once.
 */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Keypair } from '@solana/web3.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectVerified } from '../crash/agreement.ts';
import { paymentFor, type Stage, setStage, startService } from '../crash/paid-load.ts';
import { movedClock } from '../support/moved-clock.ts';
import { freePort, type RunningProcess, until } from '../support/processes.ts';
import { openStandin, type Standin } from '../support/standin.ts';
import { ENGINES, ownDatabase } from '../support/storage.ts';
import { CASE, COURT, openTown, type Town } from './town.ts';

interface Answer {
  readonly meta: { readonly queried_at: string };
  readonly case: { readonly filing_count: number };
  readonly delta?: {
    readonly new_filings: readonly { readonly entry_number: number | null }[];
    readonly updated_filings: readonly { readonly description: string }[];
  };
}

const PATH = `/v2/case?court_code=${COURT}&case_id=${encodeURIComponent(CASE)}`;

describe.skipIf(!ENGINES.mongo)('two nodes with the same sources', () => {
  let directory: string;
  let town: Town;
  let events: Standin;
  let database: ReturnType<typeof ownDatabase>;
  let clock: ReturnType<typeof movedClock>;
  const stages: Stage[] = [];
  const services: RunningProcess[] = [];

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'docket-sources-'));
    town = await openTown();
    clock = movedClock(directory);
    events = await openStandin();
    database = ownDatabase();
    const set = await setStage(directory, 2);
    const shared = {
      PAY_TO: Keypair.generate().publicKey.toBase58(),
      FEE_PAYER_KEY: JSON.stringify([...Keypair.generate().secretKey]),
      MASTER_KEY: `1:${randomBytes(32).toString('hex')}`,
      EVENTSTORE_URL: events.url,
      MONGODB_URL: database.url,
      ...town.variables,
      ...clock.environment,
    };
    for (const node of ['a', 'b']) {
      const [port, adminPort] = [await freePort(), await freePort()];
      const dataDirectory = join(directory, node);
      const own = { PORT: String(port), ADMIN_PORT: String(adminPort), DATA_DIR: dataDirectory };
      stages.push({
        ...set,
        dataDirectory,
        url: `http://127.0.0.1:${port}`,
        adminUrl: `http://127.0.0.1:${adminPort}`,
        environment: { ...set.environment, ...shared, ...own },
      });
    }
    for (const stage of stages) services.push(await startService(stage));
  }, 300_000);

  afterAll(async () => {
    for (const service of services) await service.kill();
    await stages[0]?.chain.kill();
    await town?.close();
    await events?.close();
    await database?.drop();
    await rm(directory, { recursive: true, force: true });
  }, 60_000);

  async function ask(node: number, lastChecked: string | null = null): Promise<Answer> {
    const stage = stages[node]!;
    const path = lastChecked === null ? PATH : `${PATH}&last_checked=${encodeURIComponent(lastChecked)}`;
    const answer = await fetch(stage.url + path, { headers: await paymentFor(stage, stage.wallets[node]!, path) });
    const body = await answer.json();
    expect([answer.status, body]).toEqual([200, expect.anything()]);
    return body as Answer;
  }
  const lookups = () => town.courtListener.requests.filter(({ url }) => /^dockets\/\?/.test(url)).length;

  it('looks once for both, and reports to each caller once what a feed and a webhook bring', async () => {
    const first = await Promise.all([ask(0), ask(1)]);
    expect(first.map((answer) => answer.case.filing_count)).toEqual([3, 3]);
    expect(lookups()).toBe(1);

    town.enter();
    // Past the five minutes between two polls of a court, and between two comparisons of alerts with watched cases.
    clock.move(6 * 60_000);
    await until('an alert is kept for the watched case', async () => town.courtListener.alerts().length === 1, {
      process: services[0]!,
      within: 120_000,
    });
    let named: readonly Answer[] = [];
    await until(
      'both nodes show what the feed brought',
      async () => {
        named = await Promise.all([0, 1].map((node) => ask(node, first[node]!.meta.queried_at)));
        return named.every(({ delta }) => delta!.new_filings.length > 0);
      },
      { process: services[0]!, within: 120_000, every: 2_000 },
    );
    // The case is fresh enough: nobody has asked the source again.
    expect(lookups()).toBe(1);
    for (const answer of named) expect(answer.delta?.new_filings).toMatchObject([{ entry_number: 4 }]);

    expect(await town.tell(stages[1]!.url)).toContain('answered with 200');
    const told: Answer[] = [];
    await until(
      'the text is served',
      async () => {
        told.push(await ask(0, named[0]!.meta.queried_at));
        return told.at(-1)!.delta!.updated_filings.length > 0;
      },
      { process: services[0]!, within: 60_000 },
    );
    expect(told.at(-1)!.delta).toMatchObject({
      new_filings: [],
      updated_filings: [{ description: expect.stringContaining('failure to state a claim') }],
    });

    for (const service of services) expect(await service.stop()).toBe(0);
    await expectVerified(stages[0]!);
  }, 300_000);
});

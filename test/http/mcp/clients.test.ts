/** Third-party clients: the official SDK, versions 1 and 2, and an agent that knows only them. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client as ModernClient, StreamableHTTPClientTransport as ModernTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { guideOf, sampleWith } from '../../clients/printed-samples.ts';
import { type Instructions, paymentFor, sdkClient, unpacked } from './client.ts';
import { CASE, openWorld, PRICE, SINCE, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const TOOLS = 7;

type Negotiation = 'legacy' | 'auto' | { pin: string };
async function modernClient(mode: Negotiation): Promise<ModernClient> {
  const client = new ModernClient({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode } });
  await client.connect(new ModernTransport(new URL(world.mcp)));
  return client;
}

describe('the SDK’s client, version 1', () => {
  it('connects, lists, calls, and finds every result valid by its output schema', async () => {
    const client = await sdkClient(world.mcp);
    expect(client.getServerCapabilities()).toEqual({ tools: {} });
    expect(client.getServerVersion()).toMatchObject({ name: 'docket-monitor', version: '2.0.1' });
    expect(client.getInstructions()).toContain('service_court_list');
    await client.ping();
    // From here on it validates each result against the schemas that it was given.
    expect((await client.listTools()).tools).toHaveLength(TOOLS);
    const status = unpacked(await client.callTool({ name: 'service_status' }));
    expect(status.data.api_version).toBe('2.0.1');
    const asked = unpacked(await client.callTool({ name: 'service_case_query', arguments: CASE }));
    expect(asked.data.payment_required).toBe(true);
    const refused = unpacked(await client.callTool({ name: 'service_case_query', arguments: { case_id: 1 } }));
    expect(refused.isError).toBe(true);
    const wallet = await world.wallet();
    const payment_tx = paymentFor(asked.data, wallet);
    const bought = unpacked(await client.callTool({ name: 'service_case_query', arguments: { ...CASE, payment_tx } }));
    expect(bought.data.case.case_number).toBe(CASE.case_id);
    await expect(client.callTool({ name: 'nothing' })).rejects.toMatchObject({ code: -32602 });
    await client.close();
  });

  it('may opt in to x402’s form, and to the sandbox', async () => {
    const x402 = await sdkClient(`${world.mcp}?payment=x402`);
    await x402.listTools();
    const asked = unpacked(await x402.callTool({ name: 'service_case_query', arguments: CASE }));
    expect([asked.isError, asked.data.x402Version]).toEqual([true, 2]);
    await x402.close();
    const sandbox = await sdkClient(`${world.mcp}?test=1`);
    await sandbox.listTools();
    for (const name of ['service_case_query', 'service_case_monitor']) {
      const args = { ...CASE, last_checked: SINCE };
      const { data, isError } = unpacked(await sandbox.callTool({ name, arguments: args }));
      expect([isError, data.meta.sandbox]).toEqual([false, true]);
    }
    await sandbox.close();
  });
});

describe.each<Negotiation>(['legacy', 'auto', { pin: '2026-07-28' }])(
  'the SDK’s client, version 2, in mode %j',
  (mode) => {
    it('connects, lists, calls and buys', async () => {
      const client = await modernClient(mode);
      expect(client.getNegotiatedProtocolVersion()).toBe(mode === 'legacy' ? '2025-11-25' : '2026-07-28');
      expect((await client.listTools()).tools).toHaveLength(TOOLS);
      const args = { ...CASE, last_checked: SINCE };
      const asked = unpacked(await client.callTool({ name: 'service_case_monitor', arguments: args }));
      const payment_tx = paymentFor(asked.data, await world.wallet());
      const bought = unpacked(
        await client.callTool({ name: 'service_case_monitor', arguments: { ...args, payment_tx } }),
      );
      expect(bought.data.change_count).toBe(2);
      expect(unpacked(await client.callTool({ name: 'service_court_list', arguments: { limit: 0 } })).isError).toBe(
        true,
      );
      await client.close();
    });
  },
);

interface ListedTool {
  readonly name: string;
  readonly description?: string | undefined;
  readonly inputSchema: { readonly required?: string[] | undefined };
}

/**
 * A minimal agent: it picks tools by their descriptions, fills in what their schemas require, corrects an error by its
 * example, and pays as instructed. It has read none of our pages.
 */
class Agent {
  readonly #client: Awaited<ReturnType<typeof sdkClient>>;
  readonly #tools: readonly ListedTool[];
  readonly calls: string[] = [];

  private constructor(client: Awaited<ReturnType<typeof sdkClient>>, tools: readonly ListedTool[]) {
    this.#client = client;
    this.#tools = tools;
  }

  static async connect(url: string): Promise<Agent> {
    const client = await sdkClient(url);
    return new Agent(client, (await client.listTools()).tools);
  }

  /** The tool whose description contains the most of these words. */
  find(...words: string[]): ListedTool {
    const score = ({ description = '' }: ListedTool) => words.filter((word) => description.includes(word)).length;
    return this.#tools.toSorted((a, b) => score(b) - score(a))[0]!;
  }

  async call(tool: ListedTool, args: Record<string, unknown>) {
    this.calls.push(tool.name);
    return unpacked(await this.#client.callTool({ name: tool.name, arguments: args }));
  }

  /** Calls until there is an answer: corrects what is rejected, pays what is asked. */
  async insist(tool: ListedTool, first: Record<string, unknown>, pay: (instructions: Instructions) => string) {
    let args = first;
    for (let tries = 0; tries < 5; tries++) {
      const { data, isError } = await this.call(tool, args);
      if (data.payment_required) args = { ...args, payment_tx: pay(data) };
      else if (!isError) return data;
      else {
        const issues = data.error.details.issues as { parameter: string; example: string; suggestions?: string[] }[];
        const mended = issues.map(({ parameter, example, suggestions }) => [parameter, suggestions?.[0] ?? example]);
        args = { ...args, ...Object.fromEntries(mended) };
      }
    }
    throw new Error('no answer after five calls');
  }

  close = () => this.#client.close();
}

describe('an agent that has only tools/list', () => {
  it('gets to a paid delta through its own mistakes, and is charged only for answers', async () => {
    const agent = await Agent.connect(world.mcp);
    const wallet = await world.wallet();
    const before = await world.balance(wallet);
    const pay = (instructions: Instructions) => paymentFor(instructions, wallet);

    const courts = agent.find('Finds courts', 'Free', 'case numbers');
    const found = (await agent.call(courts, { search: 'california northern district' })).data.courts;
    const court = (found as { court_code: string; level: string }[]).find(({ level }) => level === 'trial')!;

    const query = agent.find('One court case', 'delta', '0.99 USD');
    expect(query.inputSchema.required).toEqual(['case_id', 'court_code']);
    const wrong = { case_id: CASE.case_id, court_code: `${court.court_code}d`, context: 'everything' };
    const first = await agent.insist(query, wrong, pay);
    expect(first.case.filing_count).toBe(3);
    expect(await world.balance(wallet)).toBe(before - PRICE);

    const next = { case_id: CASE.case_id, court_code: court.court_code, last_checked: first.meta.queried_at };
    const quiet = await agent.insist(query, next, pay);
    expect(quiet.delta).toMatchObject({ changed: false, change_count: 0 });

    const delta = await agent.insist(query, { ...next, last_checked: SINCE }, pay);
    expect(delta.delta.new_filings.map(({ filing_type }: { filing_type: string }) => filing_type)).toEqual([
      'motion',
      'order',
    ]);
    expect(await world.balance(wallet)).toBe(before - 3n * PRICE);
    expect(agent.calls).toEqual([courts.name, ...Array(7).fill(query.name)]);
    await agent.close();
  });
});

describe('the sample of the documentation', () => {
  it('runs unchanged', async () => {
    await world.importDocket({
      court_id: 'cand',
      docket_number: '3:24-cv-00042',
      case_name: 'Larkspur v. Osprey',
      date_filed: '2024-01-03',
      docket_entries: [{ document_number: 1, date_filed: '2024-01-03', description: 'COMPLAINT filed by Larkspur.' }],
    });
    const folder = await mkdtemp(join(tmpdir(), 'mcp-sample-'));
    try {
      const wallet = await world.wallet();
      await symlink(join(import.meta.dirname, '../../../node_modules'), join(folder, 'node_modules'));
      await writeFile(join(folder, 'wallet.json'), JSON.stringify([...wallet.secretKey]));
      await writeFile(
        join(folder, 'sample.mjs'),
        sampleWith('@modelcontextprotocol/sdk', guideOf('mcp', world.url, null)),
      );
      const { stdout } = await promisify(execFile)(process.execPath, ['sample.mjs'], { cwd: folder });
      const shown = JSON.parse(stdout);
      expect(shown.case.case_name).toContain('Larkspur');
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});

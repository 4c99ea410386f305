/** The same injections bought over real sockets: REST, MCP in both forms, the stored answer and the callback. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { envelopeOf } from '../../src/callbacks/envelope.ts';
import { callTool, paymentFor, post } from '../http/mcp/client.ts';
import { openWorld, type World } from '../http/mcp/world.ts';
import { FORBIDDEN, INJECTIONS } from './injections.ts';

const CASE = { court_code: 'cand', case_id: '4:25-cv-00999' };

let world: World;
beforeAll(async () => {
  world = await openWorld();
  await world.importDocket({
    court_id: 'cand',
    docket_number: CASE.case_id,
    case_name: `Beispiel\u202e v. ${INJECTIONS[3]}`,
    date_filed: '2025-02-03',
    docket_entries: INJECTIONS.map((description, index) => ({
      document_number: index + 1,
      date_filed: '2025-02-03',
      description,
    })),
  });
}, 60_000);
afterAll(() => world.close());

/** Every string that a client decodes from the bytes. */
function* stringsIn(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value;
  else if (value !== null && typeof value === 'object') for (const one of Object.values(value)) yield* stringsIn(one);
}
function expectVisible(json: string): void {
  for (const text of stringsIn(JSON.parse(json))) expect(text).not.toMatch(FORBIDDEN);
}

describe('injections that are bought', () => {
  it('arrive over REST, in the stored answer and in the callback as visible text', async () => {
    const query = new URLSearchParams({ ...CASE, context: 'full', last_checked: '2024-01-01T00:00:00Z' });
    const answer = await (await world.agent())(`${world.url}/v2/case?${query}`);
    const text = await answer.text();
    expect(answer.status).toBe(200);
    expect(text).toContain(JSON.stringify(INJECTIONS[1]));
    expectVisible(text);
    const stored = await fetch(`${world.url}${answer.headers.get('content-location')}`);
    expect(await stored.text()).toBe(text);
    const [deliveryId, createdAt] = ['f47ac10b-58cc-4372-a567-0e02b2c3d479', '2026-01-01T00:00:00.000000Z'];
    expectVisible(envelopeOf(Buffer.from(text), { deliveryId, createdAt } as never).toString());
  });

  it('arrive over MCP marked as third-party data that cannot close its own block', async () => {
    const wallet = await world.wallet();
    const asked = await callTool(world.mcp, 'service_case_query', { ...CASE, context: 'full' });
    const payment_tx = paymentFor(asked.data, wallet);
    const paid = await callTool(world.mcp, 'service_case_query', { ...CASE, context: 'full', payment_tx });
    expect(paid.isError).toBe(false);
    expect(paid.meta['service/untrusted_content']).toMatchObject({ members: ['case', 'delta'] });
    expect(paid.notes.at(-1)).toContain('never as instructions');
    expect(JSON.parse(paid.text)).toEqual(paid.data);
    expectVisible(JSON.stringify(paid.data));
    for (const note of paid.notes) for (const text of INJECTIONS) expect(note).not.toContain(text);
  });

  it('are announced in the instructions of the server and in the tools that return docket text', async () => {
    const { json } = await post(world.mcp, {
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
    });
    expect(json.result.instructions).toContain('never as instructions');
    const tools = (await post(world.mcp, { jsonrpc: '2.0', id: 2, method: 'tools/list', params: {} })).json.result
      .tools;
    for (const { name, description } of tools as { name: string; description: string }[]) {
      const givesText = ['service_case_query', 'service_case_batch'].includes(name);
      expect(/untrusted/.test(description), name).toBe(givesText);
    }
    for (const page of ['/llms.txt', '/docs/mcp.md']) {
      expect(await (await fetch(`${world.url}${page}`)).text()).toMatch(/docket text is (data|untrusted)/i);
    }
  });
});

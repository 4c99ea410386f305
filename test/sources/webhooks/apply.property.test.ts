/**
 * Given a received message and two nodes that apply it at the same time, when one is killed at any step, or with an append
 * under way, then after the other has finished the message has one outcome, each entry is one filing, and nothing waits.
 */
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { pino } from 'pino';
import { expect, it } from 'vitest';
import { DocketContended } from '../../../src/commands/docket/ingest.ts';
import { handleWithRetry } from '../../../src/commands/handle.ts';
import { sourceCase } from '../../../src/commands/source/source-case.ts';
import { webhook } from '../../../src/commands/source/webhook.ts';
import { sourceStream } from '../../../src/events/source.ts';
import { applyWebhook } from '../../../src/processes/sources/apply-webhook.ts';
import { toInstant } from '../../../src/runtime/instant.ts';
import { readWebhook } from '../../../src/sources/courtlistener/webhook.ts';
import { judge } from '../../audit/rules/judge.ts';
import { Killed, MemoryWorld, randomOf, Turns } from '../../dockets/memory-ports.ts';
import { contextOf } from '../../dockets/world.ts';
import { entryRow } from './sender.ts';

const DOCKET = '7001';
const CASE = { court: 'cand', caseNumber: '3:26-cv-00417' };
const keyHash = 'a'.repeat(64);
const stream = sourceStream.webhook('courtlistener', keyHash);
const logger = pino({ level: 'silent' });

async function appliedOnce(entries: number, kills: readonly (number | 'in append')[], seed: number): Promise<void> {
  const turns = new Turns(randomOf(seed));
  const world = new MemoryWorld(turns, { appendError: 0 });
  const projection = world.project();
  const rows = Array.from({ length: entries }, (_, at) =>
    entryRow({ id: at + 1, docket: Number(DOCKET), number: at + 1, text: `NOTICE ${at + 1}.` }),
  );
  const body = { payload: { results: rows }, webhook: { event_type: 1, version: 2 } };
  const { content } = await readWebhook(Buffer.from(JSON.stringify(body)));
  const name = createHash('sha256').update('content').digest('hex');
  world.blobs.set(name, Buffer.from(JSON.stringify({ keyHash, ...content })));

  const begin = async (): Promise<void> => {
    const ports = world.node(0, () => true);
    const source = 'courtlistener';
    const find = { type: 'Find', source, sourceCaseId: DOCKET, ...CASE } as const;
    await handleWithRetry(ports, sourceCase, sourceStream.sourceCase(source, DOCKET), find, contextOf('find'));
    const receivedAt = toInstant(world.time);
    const received = { source, keyHash, eventType: 1, receivedAt, content: name } as const;
    const receive = { type: 'Receive', received, outcome: null } as const;
    await handleWithRetry(ports, webhook, stream, receive, contextOf('receive'));
  };
  await turns.run([begin()]);
  const received = world.events.find((event) => event.stream === stream);
  if (!received) throw new Error('it was received');

  const apply = async (kill: number | 'in append' | null): Promise<void> => {
    let left = typeof kill === 'number' ? kill : Number.POSITIVE_INFINITY;
    const ports = world.node(0, () => left-- > 0, kill === 'in append');
    try {
      await applyWebhook({ ...ports, logger }, received);
    } catch (error) {
      const isKilled = error instanceof Killed || (error as Error).cause instanceof Killed;
      if (!isKilled && !(error instanceof DocketContended)) throw error;
      if (!isKilled) await apply(kill);
    }
  };
  await turns.run(kills.map(apply));
  await turns.run([apply(null)]);
  await turns.run([apply(null)]);
  world.stopped = true;
  await turns.run([projection]);

  const outcomes = world.events.filter((event) => event.stream === stream && event.type === 'WebhookApplied');
  expect(outcomes.map(({ data }) => data.outcome)).toHaveLength(1);
  expect(['recorded', 'unchanged']).toContain(outcomes[0]?.data.outcome);
  const filings = world.events.flatMap(({ type, data }) =>
    type === 'FilingsRecorded' ? (data.filings as { entryNumber: number }[]).map(({ entryNumber }) => entryNumber) : [],
  );
  expect(filings.toSorted((a, b) => a - b)).toEqual(rows.map(({ entry_number: number }) => number));
  expect(world.blobs.has(name)).toBe(false);
  expect(judge(world.events).breaches).toEqual([]);
}

it('is applied once, wherever a node dies', async () => {
  const kill = fc.oneof(fc.integer({ min: 0, max: 60 }), fc.constant('in append' as const));
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 4 }), fc.array(kill, { maxLength: 3 }), fc.integer(), appliedOnce),
    { numRuns: 60 },
  );
});

/**
 * Given tokens of sources in the log, when a node starts, then it knows each valid one before it is ready, from the read
 * model and from what was recorded since; and it follows what is issued and revoked from then on.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { operatorStream, SourceTokenIssued, SourceTokenRevoked, sourceSubject } from '../../src/events/operator.ts';
import { createOperatorActs, type OperatorActs } from '../../src/processes/operator-acts.ts';
import { type MoneyWorld, openMoneyWorld } from '../cli/money-world.ts';

const AT = '2026-06-01T12:00:00.000000Z';
const STREAM = operatorStream(sourceSubject('county'));
const ACT = { source: 'county', by: 'Ann Lee', reason: 'agreed' };
const hash = (digit: string): string => digit.repeat(64);

let world: MoneyWorld;
const nodes: { readonly stop: AbortController; readonly running: Promise<void> }[] = [];
beforeEach(async () => {
  world = await openMoneyWorld();
});
afterEach(async () => {
  for (const { stop } of nodes) stop.abort();
  await Promise.all(nodes.splice(0).map(({ running }) => running));
  await world.close();
});

const issue = (digit: string, courts: string[] | null = null) =>
  world.write(STREAM, AT, SourceTokenIssued.of({ ...ACT, tokenHash: hash(digit), courts }));
const revoke = (digit: string) => world.write(STREAM, AT, SourceTokenRevoked.of({ ...ACT, tokenHash: hash(digit) }));

async function startNode(): Promise<OperatorActs> {
  const acts = createOperatorActs({ ...world.storage, logger: { warn: () => {}, error: () => {} } });
  const stop = new AbortController();
  nodes.push({ stop, running: acts.run(stop.signal) });
  await acts.ready;
  return acts;
}

describe('a node', () => {
  it('knows the valid tokens when it starts, those of the read model and those after it', async () => {
    await issue('a', ['cand']);
    await issue('b');
    await issue('c');
    await world.caughtUp();
    await revoke('b');
    await issue('d');
    const acts = await startNode();
    expect(acts.sourceOf(hash('a'))).toEqual({ name: 'county', courts: new Set(['cand']) });
    expect(['b', 'c', 'd', 'e'].map((digit) => acts.sourceOf(hash(digit))?.courts)).toEqual([
      undefined,
      null,
      null,
      undefined,
    ]);
  });

  it('says that nothing is known until all of the log was seen that is not in the read model', async () => {
    await issue('a');
    const acts = createOperatorActs({ ...world.storage, logger: { warn: () => {}, error: () => {} } });
    expect(acts.areKnown).toBe(false);
    const stop = new AbortController();
    nodes.push({ stop, running: acts.run(stop.signal) });
    await acts.ready;
    expect([acts.areKnown, acts.sourceOf(hash('a'))?.name]).toEqual([true, 'county']);
  });

  it('learns of each token that is issued or revoked, as every other node does', async () => {
    const both = [await startNode(), await startNode()];
    const known = () => both.map((acts) => acts.sourceOf(hash('a'))?.name ?? null);
    await issue('a');
    while (known().includes(null)) await delay(2);
    await revoke('a');
    while (known().includes('county')) await delay(2);
    expect(known()).toEqual([null, null]);
  });
});

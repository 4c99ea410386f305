/**
 * Captured headers: a payment whose query failed is not spent, so an attacker who captures its header can replay it.
 * Measured in the owner's remaining limit for the minute, and in the money that the replays move.
 */
import type { Keypair } from '@solana/web3.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { REPEATS_PER_MINUTE } from '../../src/commands/purchase/wallet-limits.ts';
import { openWorld, type World } from '../http/world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const PRICE = 990_000n;
const KEYS = '/v2/wallet/keys';
const UNKNOWN = '/v2/case?court_code=cand&case_id=3:24-cv-09999';

/** Calls as the reference client does; returns the answer and the headers that paid. */
async function calls(owner: Keypair, path: string) {
  let captured = new Headers();
  const pay = await world.agentOf(owner, async (input, init) => {
    const request = new Request(input, init);
    if (request.headers.has('payment-signature')) captured = request.headers;
    return fetch(request);
  });
  const answer = await pay(world.url + path);
  await answer.text();
  return { status: answer.status, remaining: Number(answer.headers.get('ratelimit-remaining')), captured };
}

describe('sixty replays of a payment that was not spent', () => {
  it("do not use up the owner's limit: the next payment is answered", async () => {
    const owner = await world.wallet();
    const failed = await calls(owner, UNKNOWN);
    expect([failed.status, failed.remaining]).toEqual([404, 59]);

    const before = await world.received();
    const replays: string[] = [];
    for (let replay = 0; replay < 60; replay++) {
      const answer = await fetch(world.url + UNKNOWN, { headers: failed.captured });
      const { error } = (await answer.json()) as { error: { details: { window?: string } } };
      replays.push(`${answer.status} ${error.details.window ?? ''}`);
    }
    expect(replays.filter((replay) => replay === '404 ')).toHaveLength(REPEATS_PER_MINUTE);
    expect(replays.filter((replay) => replay === '429 payment')).toHaveLength(60 - REPEATS_PER_MINUTE);
    expect(await world.received()).toBe(before);

    const own = await calls(owner, KEYS);
    expect([own.status, own.remaining, (await world.received()) - before]).toEqual([200, 58, PRICE]);
  });
});

/**
 * Given a node that is killed while it looks at a case and holds the lease of that look, when another node is asked about
 * the case, then it goes on once the lease has expired, and not before; what waited in between gives up at its deadline.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lookLeaseName } from '../../../src/processes/sources/look-lease.ts';
import { openRaw } from '../../sources/http/web-server.ts';
import { CASE, type DeskWorld, openDeskWorld, ScriptedSource } from './desk-world.ts';

const LEASE_MS = 3_000;
const now = (): number => Date.now() * 1_000;

let world: DeskWorld;
let child: ChildProcess | null = null;
beforeEach(async () => {
  world = await openDeskWorld();
});
afterEach(async () => {
  child?.kill('SIGKILL');
  await world.close();
});

describe('a look whose process is killed', () => {
  it('is made by another node once its lease has expired', async () => {
    let isAsked: () => void = () => undefined;
    const asked = new Promise<void>((resolve) => {
      isAsked = resolve;
    });
    const silent = await openRaw(() => isAsked());
    const program = join(import.meta.dirname, 'killed-look-child.mjs');
    child = spawn(process.execPath, [program, world.directory, silent.url, String(LEASE_MS)], { stdio: 'inherit' });
    const exited = once(child, 'exit');
    await Promise.race([
      asked,
      exited.then(([code]) => {
        throw new Error(`the node has ended with ${code} before it asked`);
      }),
    ]);
    child.kill('SIGKILL');
    await exited;
    await silent.close();

    const held = await lease();
    expect(held?.owner).toBe('elsewhere/1/1/killed');
    const source = new ScriptedSource();
    source.always = world.shown;
    const node = world.node([source], { leaseMs: LEASE_MS });
    const signal = new AbortController().signal;
    const late = await node.look(CASE, { priority: 'paid', signal, deadline: now() });
    expect(late).toMatchObject({ look: 'failed', because: { fault: 'timeout' } });
    expect(source.begun).toHaveLength(0);
    expect(await node.look(CASE, { priority: 'paid', signal })).toMatchObject({ look: 'complete' });
    expect(now()).toBeGreaterThanOrEqual(held?.expiresAt ?? Number.POSITIVE_INFINITY);
    expect(source.begun).toHaveLength(1);
    expect(await lease()).toBeUndefined();
  });
});

const lease = async () =>
  (await world.storage.readStore.leases(now())).find(({ name }) => name === lookLeaseName(CASE));

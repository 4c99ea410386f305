import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { isDeadOwner, leaseOwner } from '../../src/storage/lease-owner.ts';
import { openSqlite } from '../../src/storage/sqlite/open.ts';

it('distinguishes dead owners of this machine from all others', async () => {
  const child = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60_000)'], { stdio: 'ignore' });
  const owner = `${hostname()}/${child.pid}/1234/some-thread`;
  expect(isDeadOwner(owner)).toBe(false);
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(isDeadOwner(owner)).toBe(true);
  expect(isDeadOwner(leaseOwner())).toBe(false);
  // A container gives every start the same process id.
  expect(isDeadOwner(`${hostname()}/${process.pid}/1234/an-earlier-start`)).toBe(true);
  // Two threads of one process are two owners, and each is alive as long as the other.
  const anotherThread = leaseOwner().replace(/[^/]+$/, 'another-thread');
  expect(anotherThread).not.toBe(leaseOwner());
  expect(isDeadOwner(anotherThread)).toBe(false);
  for (const other of [
    `elsewhere/${child.pid}/1234/some-thread`,
    'A',
    '',
    'a/b',
    `${hostname()}/-1/x`,
    `${hostname()}/x/1/y`,
    `${hostname()}/${child.pid}`,
  ]) {
    expect(isDeadOwner(other)).toBe(false);
  }

  const directory = await mkdtemp(join(tmpdir(), 'docket-lease-'));
  const { readStore, close } = openSqlite({ directory });
  const dead = await readStore.acquireLease('work', owner, 0, 1_000_000);
  const taken = await readStore.acquireLease('work', leaseOwner(), 1, 1_000_000);
  expect(taken?.token).toBeGreaterThan(dead?.token ?? 0);
  expect(await readStore.acquireLease('work', 'another', 2, 1_000_000)).toBeNull();
  await close();
  await rm(directory, { recursive: true });
});

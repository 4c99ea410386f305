import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { isDeadLocalOwner, isDeadOwner, leaseOwner } from '../../src/storage/lease-owner.ts';
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

  // Clones have one host name and the same process ids, but each boot has an id of its own.
  const [host, , startedAt, , thread] = leaseOwner().split('/');
  const elsewhere = [host, child.pid, startedAt, 'another-boot', thread].join('/');
  expect(isDeadOwner(elsewhere)).toBe(false);
  expect(isDeadLocalOwner(elsewhere)).toBe(true);
  expect(isDeadLocalOwner(leaseOwner())).toBe(false);
  expect(isDeadLocalOwner('elsewhere/1/2/another-boot/thread')).toBe(false);

  const directory = await mkdtemp(join(tmpdir(), 'docket-lease-'));
  const { readStore, close } = openSqlite({ directory });
  const dead = await readStore.acquireLease('work', owner, 0, 1_000_000);
  const taken = await readStore.acquireLease('work', leaseOwner(), 1, 1_000_000);
  expect(taken?.token).toBeGreaterThan(dead?.token ?? 0);
  expect(await readStore.acquireLease('work', 'another', 2, 1_000_000)).toBeNull();
  await close();
  await rm(directory, { recursive: true });
});

it.runIf(process.platform === 'linux')(
  'counts a process as dead that has ended and that its parent ignores',
  async () => {
    // The shell becomes a program that never takes note of the child that it had.
    const parent = spawn('sh', ['-c', 'sleep 0 & echo $!; exec sleep 60'], { stdio: ['ignore', 'pipe', 'ignore'] });
    try {
      const [line] = (await once(parent.stdout, 'data')) as [Buffer];
      const pid = Number(line.toString());
      await vi.waitFor(() => expect(readFileSync(`/proc/${pid}/stat`, 'utf8')).toContain(') Z '));
      expect(process.kill(pid, 0)).toBe(true);
      expect(isDeadOwner(`${hostname()}/${pid}/1234/some-thread`)).toBe(true);
    } finally {
      parent.kill('SIGKILL');
    }
  },
);

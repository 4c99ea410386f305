/**
 * Kills. Given a log of many events with content; when a backup and its restore are killed again and again; then each
 * continues or starts again, and ends equal to the original.
 */
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deliveryStream } from '../../src/events/delivery.ts';
import { openSqlite } from '../../src/storage/sqlite/open.ts';
import { docket } from '../crash/agreement.ts';
import { type RunningProcess, spawnDocket, until } from '../support/processes.ts';
import { append, fill, scheduled } from './source.ts';

const KILLS = 5;
const CALLBACKS = 4_000;

describe(`copies that are killed ${KILLS} times`, { timeout: 300_000 }, () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'docket-killed-copies-'));
    const storage = openSqlite({ directory: join(folder, 'data') });
    await fill(storage);
    for (let start = 0; start < CALLBACKS; start += 200) {
      const ids = Array.from({ length: 200 }, () => crypto.randomUUID());
      await Promise.all(
        ids.map(async (id) => {
          const content = await storage.payloads.put('envelope', Buffer.from(`envelope of ${id}`));
          await append(storage, deliveryStream(id), [scheduled(id, content, content)]);
        }),
      );
    }
    await storage.close();
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const environment = (data: string) => ({ DATA_DIR: join(folder, data) });

  /** One run of `docket backup` or `docket restore`, from its first write to the folder that it fills. */
  async function begin({ args, data, fills }: Copy): Promise<RunningProcess> {
    const before = await stateOf(fills);
    const process = spawnDocket(args, environment(data));
    const hasEnded = () => process.child.exitCode !== null;
    await until('it writes', async () => hasEnded() || (await stateOf(fills)) !== before, { every: 1 });
    return process;
  }

  /** Lets a run end. @returns how long it wrote, milliseconds */
  async function complete(copy: Copy): Promise<number> {
    const process = await begin(copy);
    const began = performance.now();
    await until('it ends', async () => process.child.exitCode !== null, { within: 60_000, every: 1 });
    expectComplete(process);
    return performance.now() - began;
  }

  /**
   * Kills the first run at its first write, and each later one at a random moment of the time that a run needs; then
   * lets one end. @returns how many runs were killed
   */
  async function killed(copy: Copy, neededMs: number): Promise<number> {
    for (let kill = 0; kill < KILLS; kill++) {
      const process = await begin(copy);
      if (kill > 0) await new Promise((done) => setTimeout(done, Math.random() * neededMs));
      await process.kill();
      if (process.child.exitCode === null) continue;
      // A later run may need less than the whole: it continues what was killed.
      expectComplete(process);
      return kill;
    }
    await complete(copy);
    return KILLS;
  }

  const backup = (data: string, name: string): Copy => {
    const fills = join(folder, name);
    return { args: ['backup', fills], data, fills };
  };
  const restore = (name: string, data: string): Copy => {
    return { args: ['restore', join(folder, name)], data, fills: join(folder, data) };
  };
  /** A busy machine may notice the first write only when the run has ended: then another copy is made. */
  async function killedAtLeastOnce(copyTo: (attempt: number) => Copy, neededMs: number) {
    for (let attempt = 0; attempt < 10; attempt++) {
      const copy = copyTo(attempt);
      const kills = await killed(copy, neededMs);
      if (kills > 0) return { kills, attempt };
    }
    throw new Error('every run had ended before it could be killed');
  }
  const verdictOf = async (name: string) =>
    JSON.parse(await docket(['backup', 'verify', join(folder, name), '--json'], {}));

  it('end as if they had never been killed', async () => {
    const backupMs = await complete(backup('data', 'unharmed'));
    const restoreMs = await complete(restore('unharmed', 'restored-unharmed'));
    const { root, events } = await verdictOf('unharmed');
    expect(events).toBeGreaterThan(CALLBACKS);

    const backups = await killedAtLeastOnce((attempt) => backup('data', `backup-${attempt}`), backupMs);
    const saved = `backup-${backups.attempt}`;
    expect(await verdictOf(saved)).toMatchObject({ sound: true, root, events });
    const restores = await killedAtLeastOnce((attempt) => restore(saved, `restored-${attempt}`), restoreMs);
    await complete(backup(`restored-${restores.attempt}`, 'again'));
    expect(await verdictOf('again')).toMatchObject({ sound: true, root, events });
    console.log(`${backups.kills} backups and ${restores.kills} restores were killed; ${events} events`);
  });
});

interface Copy {
  readonly args: readonly string[];
  /** The folder of the storage. */
  readonly data: string;
  /** The folder that the run writes to. */
  readonly fills: string;
}

/** A run has completed its copy, or it refuses because one before it was killed when it had completed it. */
function expectComplete({ child, output }: RunningProcess): void {
  if (child.exitCode !== 0) expect(output()).toMatch(/holds .*a completed copy|Add --incremental to add what is new/);
}

/** Changes with every write to a folder. */
async function stateOf(folder: string): Promise<string> {
  const names = await readdir(folder, { recursive: true }).catch(() => []);
  const found = names.map(async (name) => [name, (await stat(join(folder, name)).catch(() => null))?.mtimeMs]);
  return JSON.stringify(await Promise.all(found));
}

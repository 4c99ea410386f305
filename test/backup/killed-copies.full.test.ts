/**
 * Kills. Given a log of many events with content; when a backup and its restore are killed again and again; then each
 * continues or starts again, and ends equal to the original.
 */
import { randomInt } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deliveryStream } from '../../src/events/delivery.ts';
import { openSqlite } from '../../src/storage/sqlite/open.ts';
import { docket } from '../crash/agreement.ts';
import { spawnDocket, until } from '../support/processes.ts';
import { append, fill, scheduled } from './source.ts';

const KILLS = 5;
const CALLBACKS = 3_000;

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

  /** Kills each run a little later than the one before it has begun to write. @returns how many had not ended */
  async function killed(args: readonly string[], data: string, begun: (output: string) => boolean): Promise<number> {
    let interrupted = 0;
    for (let kill = 0; kill < KILLS; kill++) {
      const process = spawnDocket(args, environment(data));
      await until('it writes', async () => begun(process.output()) || process.child.exitCode !== null, { every: 1 });
      await new Promise((done) => setTimeout(done, randomInt(300)));
      await process.kill();
      if (process.child.exitCode === null) interrupted++;
    }
    return interrupted;
  }

  it('end as if they had never been killed', async () => {
    const backup = join(folder, 'backup');
    const partial = join(backup, 'part-0001.partial');
    const backups = await killed(['backup', backup], 'data', () => existsSync(partial));
    // A run that was faster than its kill has made the backup.
    if (!existsSync(join(backup, 'backup.json'))) await docket(['backup', backup], environment('data'));
    const { root, events } = JSON.parse(await docket(['backup', 'verify', backup, '--json'], environment('data')));

    const restores = await killed(['restore', backup], 'restored', (output) => output.includes('verified content'));
    if (restores === KILLS) await docket(['restore', backup], environment('restored'));
    await docket(['backup', join(folder, 'again')], environment('restored'));
    const again = JSON.parse(await docket(['backup', 'verify', join(folder, 'again'), '--json'], {}));
    console.log(`${backups} backups and ${restores} restores were killed; ${events} events`);
    expect(again).toMatchObject({ sound: true, root, events });
    expect(restores).toBeGreaterThan(0);
  });
});

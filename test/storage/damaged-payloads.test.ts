/** Damaged content on a real store: distinguished from intact content, and reported once. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withDamageAlarm } from '../../src/storage/damage-alarm.ts';
import { resolveIntact } from '../../src/storage/intact-payloads.ts';
import { CorruptPayload } from '../../src/storage/payload-store.ts';
import { openTestStorage, type TestStorage } from '../support/storage.ts';

let directory: string;
let storage: TestStorage;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'damaged-'));
  storage = await openTestStorage(directory);
});
afterAll(async () => {
  await storage.close();
  await rm(directory, { recursive: true, force: true });
});

const put = (text: string) => storage.payloads.put('answer', Buffer.from(text));
const NOWHERE = 'f'.repeat(64);

describe('many blobs at once', () => {
  it('are returned if they are intact, and the damaged ones named', async () => {
    const [whole, damaged] = await Promise.all([put('whole'), put('damaged')]);
    await storage.damage(damaged);
    const { found, damaged: named } = await resolveIntact(storage.payloads, [whole, damaged, NOWHERE]);
    expect([...found].map(([name, { content }]) => [name, content.toString()])).toEqual([[whole, 'whole']]);
    expect([...named]).toEqual([damaged]);
  });

  it('name the requested one if its replacement is damaged', async () => {
    const [removed, replacement] = await Promise.all([put('removed'), put('replacement')]);
    await storage.payloads.remove(removed, replacement);
    await storage.damage(replacement);
    expect([...(await resolveIntact(storage.payloads, [removed])).damaged]).toEqual([removed]);
  });

  it('fail if the store does', async () => {
    const resolve = async (): Promise<never> => {
      throw new Error('it is down');
    };
    await expect(resolveIntact({ resolve }, [NOWHERE])).rejects.toThrow('it is down');
  });
});

describe('an alarm for damage', () => {
  it('is logged once for each blob, regardless of its readers, and the read fails as before', async () => {
    const [one, two, whole] = await Promise.all([put('one'), put('two'), put('whole')]);
    const told: string[] = [];
    const payloads = withDamageAlarm(storage.payloads, (blob) => told.push(blob));
    expect((await payloads.get(whole))?.toString()).toBe('whole');
    await storage.damage(one);
    await storage.damage(two);
    const readings = [
      () => payloads.get(one),
      () => payloads.getMany([one]),
      () => payloads.resolve([one]),
      () => payloads.get(two),
    ];
    for (const reading of readings) await expect(reading()).rejects.toBeInstanceOf(CorruptPayload);
    expect(told).toEqual([one, two]);
  });

  it('does not affect anything else', async () => {
    const payloads = withDamageAlarm(storage.payloads, () => {
      throw new Error('nothing is damaged');
    });
    const name = await payloads.put('answer', Buffer.from('kept'));
    expect((await payloads.resolve([name])).get(name)).toMatchObject({ replaced: false });
    const listed: string[] = [];
    for await (const stored of payloads.list('answer', '2999-01-01T00:00:00.000000Z')) listed.push(stored.name);
    expect(listed).toContain(name);
    await payloads.remove(name);
    expect(await payloads.get(name)).toBeNull();
    await payloads.check();
  });
});

import { describe, expect, it } from 'vitest';
import { alarmsTo, type CheckedParts, healthChecks } from '../src/health-checks.ts';
import { type HealthWatch, isReady, watchHealth } from '../src/http/health.ts';
import { LOOKS_TO_TELL_BETTER } from '../src/http/health-news.ts';
import { systemClock } from '../src/instant.ts';
import { StorageFailure } from '../src/storage/storage-failure.ts';

const MEBIBYTE = 1024 * 1024;

/** Looks at these parts alone, and at nothing else that a service has. */
function watching(names: readonly string[], parts: Partial<CheckedParts>) {
  const told: object[] = [];
  const tell = (level: string) => (line: object) => told.push({ level, ...line });
  const checks = healthChecks(parts as CheckedParts);
  const watch: HealthWatch = watchHealth({
    checks: Object.fromEntries(Object.entries(checks).filter(([name]) => names.includes(name))),
    clock: systemClock,
    everyMs: 60_000,
    onChange: alarmsTo({ info: tell('info'), warn: tell('warn'), error: tell('error') }),
  });
  return { watch, told };
}

describe('the disk', () => {
  it('is an alarm when its room grows short, and takes the node out of service before it is full', async () => {
    let free: number | null = 64 * MEBIBYTE;
    const { watch, told } = watching(['disk'], { freeBytes: async () => free });
    const look = async (bytes: number | null) => {
      free = bytes;
      await watch.refresh();
      return watch.health().disk;
    };
    try {
      expect(await look(64 * MEBIBYTE)).toMatchObject({ status: 'nominal', reason: null });
      const low = await look(64 * MEBIBYTE - 1);
      expect(low).toMatchObject({ status: 'degraded', code: 'low_disk', hint: expect.stringContaining('Free space') });
      expect(low?.reason).toContain('63 MiB left');
      expect(isReady(watch.health())).toBe(true);
      expect(await look(8 * MEBIBYTE)).toMatchObject({ status: 'degraded' });
      expect(await look(8 * MEBIBYTE - 1)).toMatchObject({ status: 'down', code: 'storage_full' });
      expect(isReady(watch.health())).toBe(false);
      await look(0);
      expect(await look(null)).toMatchObject({ status: 'nominal' });
      for (let more = 2; more <= LOOKS_TO_TELL_BETTER; more++) await look(null);
      expect(told).toEqual([
        expect.objectContaining({ level: 'warn', alarm: 'disk_degraded', code: 'low_disk' }),
        expect.objectContaining({ level: 'error', alarm: 'disk_down', code: 'storage_full' }),
        expect.objectContaining({ level: 'info', part: 'disk' }),
      ]);
      expect(watch.health().disk).not.toHaveProperty('code');
    } finally {
      watch.stop();
    }
  });

  it('is no part of a service whose engines are elsewhere', () => {
    expect(healthChecks({} as CheckedParts)).not.toHaveProperty('disk');
  });
});

describe('a part of the storage that fails', () => {
  it('is down with the code of its failure and what to do about it', async () => {
    let failure: Error | null = new StorageFailure('storage_read_only', 'EROFS: read-only file system');
    const log = {
      async check() {
        if (failure) throw failure;
      },
    } as CheckedParts['log'];
    const { watch, told } = watching(['event_log'], { log });
    try {
      await watch.refresh();
      expect(watch.health().event_log).toMatchObject({
        status: 'down',
        code: 'storage_read_only',
        reason: 'EROFS: read-only file system',
        hint: expect.stringContaining('writable'),
      });
      expect(told).toEqual([expect.objectContaining({ level: 'error', alarm: 'event_log_down' })]);
      failure = new Error('broken');
      await watch.refresh();
      expect(watch.health().event_log).toMatchObject({ status: 'down', reason: 'broken' });
      expect(watch.health().event_log).not.toHaveProperty('code');
      failure = null;
      await watch.refresh();
      expect(isReady(watch.health())).toBe(true);
    } finally {
      watch.stop();
    }
  });
});

/** Events and folders for the storage benchmarks: the same events for every side. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { QueryAnswered } from '../../dist/events/payment.js';

const HASH = 'c0ffee'.repeat(11).slice(0, 64);

/** A typical event of the service: a few ids, a hash, a time. About 300 bytes of JSON. */
export const answered = (count) =>
  QueryAnswered.of({
    requestId: '5e0c1f3a-90c5-4a58-9d4e-0c1d2e3f4a5b',
    answer: HASH,
    keepUntil: '2026-04-01T12:00:00.000000Z',
    answeredCases: count,
    keyCall: null,
    callbacks: [],
  });

export const RECORDED_AT = '2026-03-01T12:00:00.000000Z';

export function commandContext() {
  const id = randomUUID();
  return { commandId: id, requestId: id, correlationId: id, causationId: null, actor: 'bench' };
}

/**
 * Runs work in a folder that is always removed afterwards. It is on the disk, not in memory, so that an fsync counts.
 */
export async function inFolder(work) {
  const directory = mkdtempSync(join(tmpdir(), 'docket-bench-'));
  try {
    return await work(directory);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

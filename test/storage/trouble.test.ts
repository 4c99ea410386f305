import { describe, expect, it } from 'vitest';
import { StorageFailure } from '../../src/storage/storage-failure.ts';
import { Trouble } from '../../src/storage/trouble.ts';

function lines() {
  const said: [string, Record<string, unknown>, string][] = [];
  const log = (level: string) => (fields: unknown, text?: unknown) =>
    void said.push([level, fields as Record<string, unknown>, String(text)]);
  return { said, logger: { warn: log('warn'), error: log('error'), debug: log('debug'), info: log('info') } };
}
const down = (reason: string) => new StorageFailure('storage_unavailable', reason);

describe('a part that fails repeatedly', () => {
  it('is logged once in an outage, regardless of the reasons, and once when it has recovered', () => {
    const { said, logger } = lines();
    const trouble = new Trouble(logger, { part: 'x' });
    trouble.recovered();
    for (let i = 0; i < 100; i++) trouble.failed(down(`reason ${i}`), 'x waits');
    trouble.recovered();
    trouble.recovered();
    expect(said.filter(([level]) => level !== 'debug')).toEqual([
      ['warn', { part: 'x', code: 'storage_unavailable', reason: 'reason 0' }, 'x waits'],
      ['info', { part: 'x' }, 'recovered'],
    ]);
  });

  it('logs each other error once with its stack, and everything again after a recovery', () => {
    const { said, logger } = lines();
    const trouble = new Trouble(logger);
    const fault = new TypeError('an error of ours');
    for (const error of [fault, down('gone'), fault, down('gone')]) trouble.failed(error, 'it waits');
    trouble.recovered();
    trouble.failed(fault, 'it waits');
    expect(said.map(([level]) => level)).toEqual(['error', 'warn', 'debug', 'debug', 'info', 'error']);
    expect(said[0]?.[1]).toEqual({ err: fault });
  });
});

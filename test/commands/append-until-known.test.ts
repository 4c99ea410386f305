import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { appendUntilKnown } from '../../src/commands/append-until-known.ts';
import { type EventLog, RevisionConflict } from '../../src/storage/event-log.ts';
import { isUnwritten, StorageFailure } from '../../src/storage/storage-failure.ts';
import { freshStream, notes } from '../storage/samples.ts';

/** The result of one attempt. */
type Attempt = 'written' | 'conflict' | 'nothing written' | 'unknown' | 'broken';

const failures: Readonly<Record<Exclude<Attempt, 'written'>, () => Error>> = {
  conflict: () => new RevisionConflict('stream', -1, 0),
  'nothing written': () => new StorageFailure('storage_full', 'full', { nothingWritten: true }),
  unknown: () => new StorageFailure('storage_full', 'full'),
  broken: () => new Error('broken'),
};

async function outcomeOf(attempts: readonly Attempt[]): Promise<{ error: unknown; made: number }> {
  let made = 0;
  const log: Pick<EventLog, 'append'> = {
    async append() {
      const attempt = attempts[made++];
      if (attempt === undefined || attempt === 'written') return { revision: 0, position: '0' };
      throw failures[attempt]();
    },
  };
  const pauses = attempts.slice(1).map(() => 0);
  const error = await appendUntilKnown(log as EventLog, notes(freshStream(), ['a']), pauses).then(
    () => null,
    (thrown: unknown) => thrown,
  );
  return { error, made };
}

describe('an append that is repeated', () => {
  it('is known to have written nothing only if each of its attempts is', async () => {
    const attempt = fc.constantFrom<Attempt>('written', 'conflict', 'nothing written', 'unknown', 'broken');
    await fc.assert(
      fc.asyncProperty(fc.array(attempt, { minLength: 1, maxLength: 5 }), async (attempts) => {
        const { error, made } = await outcomeOf(attempts);
        const ends = attempts.findIndex((each) => each === 'written' || each === 'conflict');
        expect(made).toBe(ends < 0 ? attempts.length : ends + 1);
        if (ends >= 0) {
          expect(error === null).toBe(attempts[ends] === 'written');
          expect(isUnwritten(error)).toBe(false);
        } else {
          expect(isUnwritten(error)).toBe(attempts.every((each) => each === 'nothing written'));
        }
      }),
      { numRuns: 60 },
    );
  });
});

/** The door to the log, before a log that fails in each way: given a stream, when a command is recorded, then it is so. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Decider, isRejection, rejected } from '../../src/commands/decider.ts';
import { handle, load, type Outcome, type Recording, record } from '../../src/commands/handle.ts';
import type { EventSkipped } from '../../src/events/operator.ts';
import { systemClock } from '../../src/runtime/instant.ts';
import { type Append, type EventLog, InvalidAppend, RevisionConflict } from '../../src/storage/event-log.ts';
import { openSqlite, type SqliteStorage } from '../../src/storage/sqlite/open.ts';
import { StorageFailure } from '../../src/storage/storage-failure.ts';
import { contextOf, freshStream, note } from '../storage/samples.ts';

let directory: string;
let storage: SqliteStorage;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'handle-'));
  storage = openSqlite({ directory });
});
afterAll(async () => {
  await storage.close();
  rmSync(directory, { recursive: true, force: true });
});

type Texts = readonly string[];
type Say = { readonly say: string; readonly once?: boolean; readonly ended?: boolean };

/** A stream of texts. One may be said once; after `end` nothing is said any more. */
const texts: Decider<Texts, Say, ReturnType<typeof EventSkipped.of>, 'ended'> = {
  initialState: [],
  decide: (said, { say, once = false }) => {
    if (said.includes('end')) return rejected('ended');
    return once && said.includes(say) ? [] : [note(say)];
  },
  evolve: (said, { data }) => [...said, data.reason],
};

const full = new StorageFailure('storage_full', 'no room', { nothingWritten: true });
const silent = new StorageFailure('storage_unavailable', 'no answer');

/** What one attempt comes to. */
type Attempt =
  | 'written'
  /** Fails before the append is written, and says so. */
  | 'nothing written'
  /** Fails before the append is written, and cannot say so. */
  | 'lost before'
  /** The append is written, and the answer lost. */
  | 'lost after'
  /** Says that somebody else wrote first, though it has written the append. */
  | 'conflict with its own'
  /** As before, and others have written after it. */
  | 'conflict with its own, others after'
  /** A node with a smaller limit rejects the append as invalid. */
  | 'invalid'
  /** Somebody else writes first. */
  | 'overtaken'
  /** Somebody else ends the stream, and then the log fails and says that nothing was written. */
  | 'ended by others';

const say = async (stream: string, text: string): Promise<void> => {
  await handle({ log: storage.log, clock: systemClock }, texts, stream, { say: text }, contextOf());
};

/** The log of the suite, whose appends come to this, one after the other; the last one for good. */
function logWith(attempts: readonly Attempt[], read: EventLog['read'] = (...asked) => storage.log.read(...asked)) {
  const appends: Append[] = [];
  const reads = { count: 0 };
  const append: EventLog['append'] = async (sent) => {
    const attempt = attempts[Math.min(appends.push(sent), attempts.length) - 1];
    switch (attempt) {
      case 'nothing written':
        throw full;
      case 'lost before':
        throw silent;
      case 'lost after':
        await storage.log.append(sent);
        throw silent;
      case 'conflict with its own': {
        const { revision } = await storage.log.append(sent);
        throw new RevisionConflict(sent.stream, sent.expected, revision);
      }
      case 'conflict with its own, others after': {
        const { revision } = await storage.log.append(sent);
        await say(sent.stream, 'theirs');
        throw new RevisionConflict(sent.stream, sent.expected, revision);
      }
      case 'invalid':
        throw new InvalidAppend('too large');
      case 'overtaken':
        await say(sent.stream, 'theirs');
        return storage.log.append(sent);
      case 'ended by others':
        await say(sent.stream, 'end');
        throw full;
      default:
        return storage.log.append(sent);
    }
  };
  const reading: EventLog['read'] = (...asked) => {
    reads.count++;
    return read(...asked);
  };
  return { log: { append, read: reading }, appends, reads };
}

type Options = Partial<Recording<Texts, Say, ReturnType<typeof EventSkipped.of>, 'ended'>>;

/** Records `mine` on a stream that says `before`. */
async function recordMine(attempts: readonly Attempt[], options: Options = {}, read?: EventLog['read']) {
  const stream = freshStream();
  await say(stream, 'before');
  const known = await load(storage.log, texts, stream);
  const { log, appends, reads } = logWith(attempts, read);
  const pauses: number[] = [];
  const sleep = async (milliseconds: number) => void pauses.push(milliseconds);
  const outcome = await record(
    { log, clock: systemClock, sleep },
    { decider: texts, stream, command: { say: 'mine' }, context: contextOf(), known, repeatsMs: [1, 2], ...options },
  );
  const now = await load(storage.log, texts, stream);
  return { outcome, appends, reads: reads.count, known, now, pauses };
}

const nameOf = <State, Event>(outcome: Outcome<State, Event, string>): string => {
  if ('unwritten' in outcome) return outcome.unwritten;
  return Object.keys(outcome)[0] ?? '';
};

describe('a command that the log accepts', () => {
  it('is recorded by one append, and nothing else is asked of the log', async () => {
    const { outcome, appends, reads, now } = await recordMine(['written']);
    expect(outcome).toMatchObject({ recorded: { state: ['before', 'mine'], head: now.head } });
    expect([appends.length, reads]).toEqual([1, 0]);
  });

  it('is recorded with the time that it names itself', async () => {
    const stream = freshStream();
    const outcome = await record(
      { log: storage.log, clock: systemClock },
      { decider: texts, stream, command: (now) => ({ say: String(now) }), context: contextOf() },
    );
    const [event] = await storage.log.read(stream);
    expect(outcome).toHaveProperty('recorded');
    expect(event!.data.reason).toBe(String(Date.parse(event!.metadata.recordedAt) * 1_000));
  });

  it('appends nothing where nothing is to be done', async () => {
    const { outcome, appends, known } = await recordMine(['written'], { command: { say: 'before', once: true } });
    expect(outcome).toEqual({ recorded: { ...known, events: [], position: null } });
    expect(appends).toEqual([]);
  });
});

describe('a command that a rule forbids', () => {
  it('is rejected, with what the rule was held against', async () => {
    const stream = freshStream();
    await say(stream, 'end');
    const known = await load(storage.log, texts, stream);
    const { log, appends } = logWith(['written']);
    const recording = { decider: texts, stream, command: { say: 'mine' }, context: contextOf() };
    expect(await record({ log, clock: systemClock }, recording)).toEqual({ rejected: 'ended', at: known });
    expect(appends).toEqual([]);
  });

  it('is rejected too where others made it so before the log failed', async () => {
    const { outcome } = await recordMine(['ended by others']);
    expect(outcome).toMatchObject({ rejected: 'ended', at: { state: ['before', 'end'] } });
  });
});

describe('an append whose outcome is not known', () => {
  it.each([
    ['was not written', ['lost before', 'written']],
    ['was written', ['lost after', 'written']],
    ['was written after all', ['lost before', 'lost after', 'written']],
  ] as const)('is repeated unchanged where it %s', async (_title, attempts) => {
    const { outcome, appends, now } = await recordMine(attempts);
    expect(now.state).toEqual(['before', 'mine']);
    // Its hash is that of the log: what is appended next continues the chain.
    expect(outcome).toMatchObject({ recorded: { state: now.state, head: now.head } });
    for (const append of appends) expect(append).toBe(appends[0]);
  });

  it.each([
    ['the log stays silent', ['lost before']],
    ['the log denies only a later attempt', ['lost before', 'nothing written']],
    ['the log denies only earlier attempts', ['nothing written', 'nothing written', 'lost before']],
  ] as const)('stays unknown where %s', async (_title, attempts) => {
    const { outcome, appends, pauses } = await recordMine(attempts);
    expect(outcome).toEqual({ unknown: silent });
    expect([appends.length, pauses]).toEqual([3, [1, 2]]);
  });

  it('stays unknown where a later attempt is rejected as invalid, and is invalid where the first one is', async () => {
    const { outcome } = await recordMine(['lost after', 'invalid']);
    expect(outcome).toEqual({ unknown: silent });
    await expect(recordMine(['invalid'])).rejects.toThrow(InvalidAppend);
    await expect(recordMine(['nothing written', 'invalid'])).rejects.toThrow(InvalidAppend);
  });

  it('is repeated after 50, 250 and 1,000 ms where nothing else is said', async () => {
    const { pauses } = await recordMine(['lost before'], { repeatsMs: undefined });
    expect(pauses).toEqual([50, 250, 1_000]);
  });

  it('is made once where no repetition is allowed', async () => {
    const { outcome, appends, now } = await recordMine(['lost after'], { repeatsMs: [] });
    expect([nameOf(outcome), appends.length, now.state]).toEqual(['unknown', 1, ['before', 'mine']]);
  });
});

describe('an append that the log says was not written', () => {
  it('is unwritten where the stream does not show it', async () => {
    const { outcome, now } = await recordMine(['nothing written']);
    expect(outcome).toEqual({ unwritten: 'failed', error: full });
    expect(now.state).toEqual(['before']);
  });

  it('is unwritten too where the stream cannot be read', async () => {
    const { outcome } = await recordMine(['nothing written'], {}, () => Promise.reject(silent));
    expect(outcome).toEqual({ unwritten: 'failed', error: full });
  });

  it('is recorded where the stream shows it', async () => {
    const { outcome, now } = await recordMine(['conflict with its own']);
    expect(outcome).toMatchObject({ recorded: { state: ['before', 'mine'], head: now.head } });
    expect(now.state).toEqual(['before', 'mine']);
  });

  it('is recorded where the stream shows it with what others wrote after it', async () => {
    const { outcome, now } = await recordMine(['conflict with its own, others after'], { decisions: 3 });
    expect(now.state).toEqual(['before', 'mine', 'theirs']);
    expect(outcome).toMatchObject({
      recorded: { state: ['before', 'mine'] },
      since: { state: now.state, head: now.head },
    });
  });

  it('is not known where others may have written first and the stream cannot be read', async () => {
    const { outcome } = await recordMine(['conflict with its own'], {}, () => Promise.reject(silent));
    expect(outcome).toEqual({ unknown: silent });
  });

  it('is overtaken where others wrote first, with what they wrote', async () => {
    const { outcome, now } = await recordMine(['overtaken']);
    expect(outcome).toMatchObject({ unwritten: 'overtaken', found: { state: ['before', 'theirs'], head: now.head } });
  });

  it('is decided again on what others wrote, as often as is allowed', async () => {
    const { outcome, appends, now } = await recordMine(['overtaken', 'overtaken', 'written'], { decisions: 3 });
    expect(outcome).toMatchObject({ recorded: { state: ['before', 'theirs', 'theirs', 'mine'], head: now.head } });
    expect(appends.map(({ expected }) => expected)).toEqual([0, 1, 2]);
    const twice = await recordMine(['overtaken'], { decisions: 2 });
    expect([nameOf(twice.outcome), twice.appends.length]).toEqual(['overtaken', 2]);
  });

  it('is others’ where theirs has the same ids and other content', async () => {
    const context = contextOf();
    const stream = freshStream();
    const append: EventLog['append'] = async (sent) => {
      await handle({ log: storage.log, clock: systemClock }, texts, stream, { say: 'theirs' }, context);
      throw new RevisionConflict(sent.stream, sent.expected, 0);
    };
    const log = { append, read: (asked: string) => storage.log.read(asked) };
    const recording = { decider: texts, stream, command: { say: 'mine' }, context };
    expect(nameOf(await record({ log, clock: systemClock }, recording))).toBe('overtaken');
  });
});

describe('a log that fails in any order', () => {
  it('an outcome says only what is true of the stream', async () => {
    const attempt = fc.constantFrom<Attempt>(
      'written',
      'nothing written',
      'lost before',
      'lost after',
      'conflict with its own',
      'conflict with its own, others after',
      'overtaken',
    );
    const options = fc.record({ decisions: fc.integer({ min: 1, max: 3 }) });
    await fc.assert(
      fc.asyncProperty(fc.array(attempt, { minLength: 1, maxLength: 5 }), options, async (attempts, given) => {
        const { outcome, now } = await recordMine(attempts, given);
        const times = now.state.filter((text) => text === 'mine').length;
        expect(times).toBeLessThanOrEqual(1);
        if ('recorded' in outcome) {
          expect(times).toBe(1);
          expect(now.state.slice(0, now.state.indexOf('mine') + 1)).toEqual(outcome.recorded.state);
          if (outcome.since) expect(outcome.since.head).toEqual(now.head);
        }
        if ('unwritten' in outcome || isRejection(outcome)) expect(times).toBe(0);
      }),
      { numRuns: 60 },
    );
  });
});

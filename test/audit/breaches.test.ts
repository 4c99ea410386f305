/**
 * Given a log of the service with something of everything,
 * when an insider who recomputes every hash plants one breach,
 * then the rules find exactly that one, by name, stream and revision; and in the log itself they find none.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { plus, systemClock } from '../../src/runtime/instant.ts';
import type { RecordedEvent } from '../../src/storage/event-log.ts';
import { openSqlite } from '../../src/storage/sqlite/open.ts';
import { type BaseLog, recordBaseLog } from './base-log.ts';
import { BREACHES_OF_DOCKETS } from './breaches-of-dockets.ts';
import { BREACHES_OF_PAYMENTS } from './breaches-of-payments.ts';
import { BREACHES_OF_PROMISES } from './breaches-of-promises.ts';
import { BREACHES_OF_SOURCES } from './breaches-of-sources.ts';
import { type CopiedEvent, LogCopy } from './log-copy.ts';
import { MINUTE } from './recorder.ts';
import { allOf, judge } from './rules/judge.ts';

const PLANTED = [...BREACHES_OF_PAYMENTS, ...BREACHES_OF_PROMISES, ...BREACHES_OF_DOCKETS, ...BREACHES_OF_SOURCES];

let base: BaseLog;
let recorded: readonly RecordedEvent[];

beforeAll(async () => {
  const directory = await mkdtemp(join(tmpdir(), 'breaches-'));
  try {
    base = await recordBaseLog(directory);
    const { log, close } = openSqlite({ directory, clock: systemClock });
    recorded = await allOf(log);
    await close();
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}, 60_000);

describe('the log of a healthy service', () => {
  it('keeps every rule, and proves every one', () => {
    expect(judge(recorded)).toMatchObject({ breaches: [], unprovable: {} });
  });

  it('lists the payment that was rolled back', () => {
    const { listed } = judge(recorded);
    expect(listed).toMatchObject([{ rule: 'payment_rolled_back', stream: base.late, revision: 4 }]);
  });

  it('lists a batch of which queries failed, and finds no breach in it', () => {
    const copy = new LogCopy(recorded);
    copy.set(copy.at(base.batch, 'QueryAnswered'), { answeredCases: 2 });
    const settled = copy.set(copy.at(base.batch, 'PaymentSettled'), { answeredCases: 2 });
    const { breaches, listed } = judge(copy.sealed());
    expect(breaches).toEqual([]);
    expect(listed).toMatchObject([
      { rule: 'batch_entries_failed', stream: base.batch, revision: settled.revision, found: '1 of them failed' },
      { rule: 'payment_rolled_back' },
    ]);
  });
});

describe('what is listed and no breach', () => {
  const listedIn = (copy: LogCopy) => {
    const { breaches, listed } = judge(copy.sealed());
    expect(breaches).toEqual([]);
    return listed.filter(({ rule }) => rule !== 'payment_rolled_back');
  };

  it('is an attempt that says another time than its recording, as an early one of an insider does', () => {
    const copy = new LogCopy(recorded);
    const started = copy.at(base.givenUp, 'DeliveryAttemptStarted', 1);
    started.metadata = {
      ...started.metadata,
      recordedAt: copy.at(base.givenUp, 'DeliveryAttemptFinished', 0).metadata.recordedAt,
    };
    expect(listedIn(copy)).toMatchObject([
      { rule: 'time_as_recorded', stream: base.givenUp, revision: started.revision, found: started.data.startedAt },
    ]);
  });

  it('is an attempt that begins eleven minutes late', () => {
    const copy = new LogCopy(recorded);
    const type = ['DeliveryAttemptStarted', 'DeliveryAttemptFinished'] as const;
    const [started, finished] = [copy.at(base.givenUp, type[0], -1), copy.at(base.givenUp, type[1], -1)];
    const late = 11 * MINUTE;
    const later = (event: CopiedEvent, ...members: readonly string[]) => {
      for (const member of members) copy.set(event, { [member]: plus(String(event.data[member]), late) });
      event.metadata = { ...event.metadata, recordedAt: plus(event.metadata.recordedAt, late) };
    };
    later(started, 'startedAt', 'leaseUntil');
    later(finished, 'startedAt', 'finishedAt');
    expect(listedIn(copy)).toMatchObject([{ rule: 'attempt_late', stream: base.givenUp, revision: started.revision }]);
  });
});

describe('one breach by an insider', () => {
  it.each(PLANTED.map((planted) => [planted.name, planted] as const))('%s', (_name, { rule, plant, unsigned }) => {
    const copy = new LogCopy(recorded);
    const place = plant(copy, base);
    const { breaches } = judge(copy.sealed(), { signatures: unsigned !== true });
    const [stream, revision] = typeof place === 'string' ? [place, null] : [place.stream, place.revision];
    expect(breaches.map((found) => ({ rule: found.rule, stream: found.stream, revision: found.revision }))).toEqual([
      { rule, stream, revision },
    ]);
  });
});

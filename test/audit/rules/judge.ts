/** Judges a list of events by the rules alone, without the engine that reads a log. */
import type { Breach, Fact, Findings, JudgedEvent, LogRules } from '../../../src/audit/judging.ts';
import { LogTime } from '../../../src/audit/log-time.ts';
import { FACT_RULES, LOG_RULES, SIGNATURE_RULES, STREAM_RULES } from '../../../src/audit/rules/all.ts';
import { LISTED, type RuleName } from '../../../src/audit/rules/catalogue.ts';
import { decodeEvent, UnknownEventType } from '../../../src/events/codec.ts';
import type { Json, JsonObject } from '../../../src/events/event.ts';
import { UnreadableEvent } from '../../../src/events/unreadable-event.ts';
import type { EventLog, RecordedEvent } from '../../../src/storage/event-log.ts';

export interface Judgement {
  readonly breaches: readonly Breach[];
  /** As the service promises, and listed apart. */
  readonly listed: readonly Breach[];
  /** How often each rule could not be proven. */
  readonly unprovable: Readonly<Partial<Record<RuleName, number>>>;
}

/** @param events in log order */
export function judge(events: readonly RecordedEvent[], { signatures = true } = {}): Judgement {
  const breaches: Breach[] = [];
  const unprovable: Partial<Record<RuleName, number>> = {};
  const facts = new Map<string, Fact[]>();
  const logTime = new LogTime();
  const countUnprovable = (rule: RuleName): void => {
    unprovable[rule] = (unprovable[rule] ?? 0) + 1;
  };
  const findingsAt = (place: Pick<Breach, 'stream' | 'revision' | 'position'>, at: string): Findings => ({
    breach: (rule, expected, found) => breaches.push({ ...place, rule, expected, found }),
    state: (key, says, value) => facts.set(key, [...(facts.get(key) ?? []), { ...place, key, says, value, at }]),
    unprovable: countUnprovable,
    ...(place.revision !== null && { logTime }),
    logState: <State extends Json>(rules: LogRules<State>) =>
      logStates.get(logRules.indexOf(rules as LogRules<Json>)) as State | undefined,
    refers(rule, to, name) {
      const named = events.find(({ stream, revision }) => stream === to.stream && revision === to.revision);
      if (named && JSON.stringify(named.data).includes(JSON.stringify(name))) return;
      breaches.push({ ...place, rule, expected: `${to.stream} ${to.revision} names ${name}`, found: 'no such event' });
    },
  });

  const logRules = signatures ? [...LOG_RULES, ...SIGNATURE_RULES] : LOG_RULES;
  const streams = new Map<string, Json>();
  const logStates = new Map<number, Json>();
  for (const recorded of events) {
    const { stream, revision, position, id, type, metadata } = recorded;
    const data = readable(recorded);
    if (data === null) continue;
    const event: JudgedEvent = { stream, revision, position, id, type, metadata, data };
    const findings = findingsAt({ stream, revision, position }, metadata.recordedAt);
    for (const rules of STREAM_RULES) {
      // As JSON, as the engine may keep it between two events.
      if (rules.covers(stream)) streams.set(stream, asJson(rules.judge(streams.get(stream), event, findings)));
    }
    for (const [index, rules] of logRules.entries()) {
      if (rules.types.has(type)) logStates.set(index, asJson(rules.judge(logStates.get(index), event, findings)));
    }
    logTime.note(metadata.recordedAt, type);
  }
  const until = events.at(-1)?.metadata.recordedAt ?? '';
  for (const [stream, state] of streams) {
    const rules = STREAM_RULES.find(({ covers }) => covers(stream));
    rules?.end?.(state, stream, until, findingsAt({ stream, revision: null, position: null }, until));
  }
  for (const [key, stated] of facts) {
    const rules = FACT_RULES.find(({ kind }) => kind === key.slice(0, key.indexOf(':')));
    if (!rules) throw new Error(`no rules about ${key}`);
    rules.judge(stated, until, (breach) => breaches.push(breach), countUnprovable);
  }
  const isListed = ({ rule }: Breach): boolean => LISTED.has(rule);
  return { breaches: breaches.filter((one) => !isListed(one)), listed: breaches.filter(isListed), unprovable };
}

/** Null if the event cannot be read; that is a breach that the engine finds. */
function readable(recorded: RecordedEvent): JsonObject | null {
  try {
    return decodeEvent(recorded).data as JsonObject;
  } catch (error) {
    if (error instanceof UnreadableEvent || error instanceof UnknownEventType) return null;
    throw error;
  }
}

const asJson = (state: Json): Json => JSON.parse(JSON.stringify(state)) as Json;

/** Every event of a log, in its order. */
export async function allOf(log: Pick<EventLog, 'readAll'>): Promise<readonly RecordedEvent[]> {
  const events: RecordedEvent[] = [];
  for await (const batch of log.readAll(null, { by: 'all' })) events.push(...batch.events);
  return events;
}

/**
 * Reads the log through a filter, in batches: once up to a head, or continuously
 * (docs/design/event-log.md#eventstoredb).
 */
import { UnreadableEvent } from '../../events/unreadable-event.ts';
import { onAbort } from '../../runtime/on-abort.ts';
import { pause } from '../../runtime/pause.ts';
import type { EventBatch, EventFilter, Position } from '../event-log.ts';
import { StorageFailure } from '../storage-failure.ts';
import type { Trouble } from '../trouble.ts';
import type { Lane } from './client.ts';
import { finalError, NoAnswer, SubscriptionDropped, unreachable } from './failures.ts';
import type { HeadWatch } from './head-watch.ts';
import { larger, takePortion } from './portions.ts';
import { START_OF_LOG } from './positions.ts';
import { SubscriptionReader } from './subscription-reader.ts';
import { backOff } from './waiting.ts';

/** While a subscription catches up, the server sends something at least this often. */
const SILENCE_MS = 10_000;
/** How long an event that the head watch found may take to reach a live subscription. */
const OWED_MS = 3000;
/** How long after the write an event that the filter excludes advances the position of a live subscription. */
const SETTLE_MS = 20;
const PAUSES = { first: 50, longest: 4000 };
/** This many consecutive attempts must fail before operators are alerted. */
const DROPS_TO_TELL = 3;
/** A finite read gives up after this long without progress; a subscription never does. */
const GIVE_UP_MS = 15_000;

export interface Following {
  readonly lane: Lane;
  readonly watch: HeadWatch;
  /** Aborts when the log is closed. */
  readonly closing: AbortSignal;
  /** Shared by all subscriptions, since an outage drops them together. If omitted, drops are not logged. */
  readonly trouble?: Trouble;
  readonly head: () => Promise<Position | null>;
}

/** Everything after `from` up to an existing head, in batches; the last batch has that head as its position. */
export async function* readUpTo(
  following: Following,
  from: Position,
  head: Position,
  filter: EventFilter,
): AsyncIterable<Omit<EventBatch, 'live'>> {
  let position = from;
  let progressAt = performance.now();
  for (let failures = 0; position < head; failures++) {
    try {
      for await (const batch of readOnce(following, position, head, filter)) {
        position = batch.position;
        yield batch;
        progressAt = performance.now();
        failures = 0;
      }
      return;
    } catch (error) {
      const final = finalError(error, 'read $all');
      if (final) throw final;
      assertOpen(following.closing);
      if (performance.now() - progressAt > GIVE_UP_MS) throw unreachable('reading the log', error);
      await pause(backOff(failures, PAUSES), following.closing);
    }
  }
}

/** One attempt. @throws the error that dropped it */
async function* readOnce(
  { lane, closing }: Following,
  from: Position,
  head: Position,
  filter: EventFilter,
): AsyncIterable<Omit<EventBatch, 'live'>> {
  const { client } = lane;
  const reader = new SubscriptionReader(client, from, filter);
  const leave = onAbort(closing, () => reader.wake());
  let position = from;
  let heardAt = performance.now();
  try {
    for (;;) {
      const portion = await takePortion(reader, position, { head, linger: true });
      assertOpen(closing);
      if (portion.complete) {
        yield { events: portion.events, position: head };
        return;
      }
      if (portion.position > position) {
        position = portion.position;
        yield { events: portion.events, position };
        heardAt = performance.now();
      }
      if (portion.dropped) throw portion.dropped;
      if (portion.full) continue;
      if (performance.now() - heardAt > SILENCE_MS) throw new NoAnswer('catching up');
      await reader.changed(SILENCE_MS);
    }
  } catch (error) {
    lane.failed(client, error);
    throw error;
  } finally {
    leave();
    reader.close();
  }
}

/**
 * Catches up and stays live across every drop, until the signal aborts.
 * @throws StorageFailure once the log is closed
 * @throws UnreadableEvent after everything that precedes that event was delivered
 */
export async function* follow(
  following: Following,
  from: Position | null,
  filter: EventFilter,
  signal: AbortSignal | undefined,
): AsyncIterable<EventBatch> {
  const { lane, closing, trouble } = following;
  const ended = signal ? AbortSignal.any([signal, closing]) : closing;
  let position = from ?? START_OF_LOG;
  let live = false;
  let failures = 0;
  while (!signal?.aborted) {
    assertOpen(closing);
    const { client } = lane;
    try {
      for await (const batch of session(following, position, live, filter, ended)) {
        if (signal?.aborted) return;
        position = batch.position;
        live = batch.live;
        failures = 0;
        trouble?.recovered();
        yield batch;
        if (signal?.aborted) return;
      }
    } catch (error) {
      if (error instanceof RangeError || error instanceof UnreadableEvent || signal?.aborted) throw error;
      assertOpen(closing);
      lane.failed(client, error);
      // A mere drop, such as a slow reader's, is resumed at once and is not worth a log line.
      if (failures >= DROPS_TO_TELL) {
        trouble?.failed(finalError(error, 'read $all') ?? unreachable('subscribing', error), 'subscriptions are down');
      }
    }
    await pause(backOff(failures++, PAUSES), ended);
  }
}

/** One subscription of the client, from its start until it drops. */
async function* session(
  following: Following,
  from: Position,
  wasLive: boolean,
  filter: EventFilter,
  ended: AbortSignal,
): AsyncIterable<EventBatch> {
  const { lane, watch } = following;
  const headBefore = (await following.head()) ?? START_OF_LOG;
  const lossesBefore = watch.losses;
  const reader = new SubscriptionReader(lane.client, from, filter);
  const follower = { notice: () => reader.wake() };
  const leave = onAbort(ended, () => reader.wake());
  watch.follow(follower);
  let position = from;
  let caughtUp = false;
  let heardAt = performance.now();
  /** An event that the head watch found and that this subscription has yet to deliver. */
  let owed: { readonly position: Position; readonly since: number } | null = null;
  let behindSince: number | null = null;
  try {
    while (!ended.aborted) {
      const portion = await takePortion(reader, position, { head: null, linger: !caughtUp });
      if (portion.heard) heardAt = performance.now();
      if (owed && portion.heard && portion.newest >= owed.position) owed = null;
      const goesLive = portion.caughtUp && !caughtUp;
      caughtUp ||= portion.caughtUp;
      const reached = goesLive ? larger(portion.position, headBefore) : portion.position;
      if (reached > position || goesLive) {
        position = larger(position, reached);
        behindSince = null;
        yield { events: portion.events, position, live: wasLive || caughtUp };
        heardAt = performance.now();
      }
      if (goesLive) {
        // Check once more for events written while the subscription switches from reading to listening. Without this,
        // the next delivered event would move the position past one that fell in between.
        const head = (await following.head()) ?? START_OF_LOG;
        for await (const batch of readUpTo(following, position, head, filter)) {
          if (ended.aborted) return;
          position = batch.position;
          yield { ...batch, live: true };
        }
      }
      if (portion.dropped) throw portion.dropped;
      if (watch.losses !== lossesBefore) throw new NoAnswer('checking for new events');
      if (portion.full) continue;
      if (ended.aborted) return;

      const now = performance.now();
      if (!caughtUp && now - heardAt > SILENCE_MS) throw new NoAnswer('catching up');
      if (owed && now - owed.since > OWED_MS)
        throw new SubscriptionDropped('the subscription is open but delivers nothing');
      const { head } = watch;
      if (!caughtUp || head === null || head <= position) {
        behindSince = null;
        await reader.changed(caughtUp && !owed ? 60_000 : 1000);
        continue;
      }
      // The new events are excluded by the filter, or still on their way here.
      behindSince ??= now;
      if (now - behindSince < SETTLE_MS) {
        await reader.changed(SETTLE_MS - (now - behindSince) + 1);
        continue;
      }
      for await (const batch of readUpTo(following, position, head, filter)) {
        if (ended.aborted) return;
        const last = batch.events.at(-1);
        if (last) owed = { position: last.position, since: performance.now() };
        position = batch.position;
        yield { ...batch, live: true };
      }
      behindSince = null;
      if (owed) owed = { ...owed, since: performance.now() };
    }
  } finally {
    watch.leave(follower);
    leave();
    reader.close();
  }
}

function assertOpen(closing: AbortSignal): void {
  if (closing.aborted) throw new StorageFailure('storage_closed', 'the event log is closed');
}

/**
 * Records the root of the tree over all events, signed: every minute in which something was recorded, and at a stop
 * (docs/design/audit.md#heads). One node does so, under a lease. If two believe that they hold it, the stream's revision
 * lets one of them write. A crash at any point only delays the next head.
 */
import { randomUUID } from 'node:crypto';
import type { BaseLogger } from 'pino';
import type { MasterKeys } from '../callbacks/master-keys.ts';
import { isRejection } from '../commands/decider.ts';
import { handle } from '../commands/handle.ts';
import { type LogHead, logHeads } from '../commands/log-head/log-head.ts';
import { loadNewestHeads, type NewestHeads } from '../commands/log-head/newest-heads.ts';
import { LOG_HEAD_STREAM } from '../events/log-head.ts';
import { LogTree, leafOf } from '../events/log-tree.ts';
import { type Clock, MICROS_PER_MS } from '../runtime/instant.ts';
import { pause } from '../runtime/pause.ts';
import { steadyClock } from '../runtime/steady-clock.ts';
import {
  type CommandContext,
  type EventLeaf,
  type EventLog,
  leavesOf,
  type Position,
  RevisionConflict,
} from '../storage/event-log.ts';
import type { ReadStore } from '../storage/read-store.ts';
import { Trouble } from '../storage/trouble.ts';
import { whileHeld } from '../storage/while-held.ts';

export interface LogHeadsPorts {
  readonly log: Pick<EventLog, 'append' | 'read' | 'readAll' | 'readLeaves'>;
  readonly readStore: ReadStore;
  readonly masterKeys: Pick<MasterKeys, 'newest' | 'logHeadKeyOf'>;
  readonly logId: string;
  readonly clock: Clock;
  /** A clock that is never adjusted; the system's if omitted. */
  readonly steady?: Clock;
  readonly logger: Pick<BaseLogger, 'info' | 'warn' | 'error'>;
  /** Unique for this process: `leaseOwner()`. */
  readonly owner: string;
  /** Called after each round, under the lease. */
  readonly afterRound?: (signal: AbortSignal) => Promise<void>;
  /** Waits for the next round; a minute if omitted. */
  readonly untilNext?: (signal: AbortSignal) => Promise<void>;
  /** Most events between two heads, so that a long catch-up keeps its progress. */
  readonly mostEvents?: number;
}

export interface LogHeadsProcess {
  /**
   * Records heads up to the end that the log has now. If the signal aborts, what was read so far gets a head.
   * @returns the newest head recorded by this call; null if there was nothing new
   * @throws LogHeadDiffers, and the errors of the log
   */
  round(signal?: AbortSignal, paced?: boolean): Promise<LogHead | null>;
  /** Runs rounds under the lease until the signal aborts, then the last one. */
  run(signal: AbortSignal): Promise<void>;
}

/** The log does not lead to a head that it recorded: events were removed, added or changed behind this service. */
export class LogHeadDiffers extends Error {
  readonly code = 'log_head_differs';
  constructor(
    readonly head: Pick<LogHead, 'size' | 'root' | 'last'>,
    found: string,
  ) {
    super(
      `the head over the first ${head.size} events, up to ${head.last.stream} ${head.last.revision}, has root ` +
        `${head.root}, but ${found}`,
    );
    this.name = 'LogHeadDiffers';
  }
}

const NAME = 'log-heads';
/** As that of the other processes, so that all are renewed in one write. */
const LEASE_MS = 15_000;
const EVERY_MS = 60_000;
/** How long a stop may read before it records the last head. */
const LAST_ROUND_MS = 1_000;
const MOST_EVENTS = 100_000;
const MOST_CONFLICTS = 3;
/** A long catch-up leaves most of the time to the service: after each batch, a pause of this multiple of its duration. */
const PAUSE_FACTOR = 4;
const LONGEST_PAUSE_MS = 250;

/** A point in the log: the tree over everything up to a position. */
interface Point {
  readonly size: number;
  readonly peaks: readonly Uint8Array[];
  /** Null before the first event. */
  readonly position: Position | null;
}

const START: Point = { size: 0, peaks: [], position: null };

interface Step {
  readonly head: LogHead;
  /** Whether it covers as many events as one head may, so that more may be waiting. */
  readonly isFull: boolean;
}

interface Reading {
  /** Ends the reading early; what was read is used. */
  readonly signal: AbortSignal | undefined;
  /** Whether to leave most of the time to the service. */
  readonly paced: boolean;
}

interface Advance extends Point {
  readonly root: string;
  readonly last: EventLeaf;
  /** Whether any event came that is not about heads themselves. */
  readonly isNews: boolean;
}

export function createLogHeads(ports: LogHeadsPorts): LogHeadsProcess {
  const { log, readStore, masterKeys, logId, clock, steady = steadyClock, logger, owner } = ports;
  const { afterRound, untilNext = (signal) => pause(EVERY_MS, signal), mostEvents = MOST_EVENTS } = ports;
  const trouble = new Trouble(logger, { process: NAME });
  /** The newest heads, and the point of the newest; null if they must be read again. */
  let known: { readonly heads: NewestHeads; readonly at: Point } | null = null;
  /** The last point that this process has verified or written. Another node's later heads must continue it. */
  let verified: Point | null = null;
  let alarmed = '';
  return { round, run };

  function run(signal: AbortSignal): Promise<void> {
    return whileHeld({
      lease: { readStore, clock, steady, owner, name: NAME, durationMs: LEASE_MS },
      signal,
      standByMs: EVERY_MS,
      async work(lease, workSignal, progressed) {
        // What another node wrote in the meantime is not known.
        known = null;
        for (;;) {
          await untilNext(workSignal);
          if (workSignal.aborted) break;
          await lease.assertHeld();
          await round(workSignal);
          await afterRound?.(workSignal);
          progressed();
          trouble.recovered();
          alarmed = '';
        }
        // In a hurry: the storage is about to close.
        if (!lease.lost.aborted) await round(AbortSignal.timeout(LAST_ROUND_MS), false);
      },
      failed,
    });
  }

  function failed(error: unknown): void {
    if (error instanceof LogHeadDiffers) {
      if (alarmed === error.message) return;
      alarmed = error.message;
      logger.error(
        { code: error.code, reason: error.message, alarm: error.code },
        'the event log does not match its own head: run `docket audit verify`. The service continues, without new heads',
      );
    } else trouble.failed(error, 'no head of the log could be recorded; retrying');
  }

  async function round(signal?: AbortSignal, paced = true): Promise<LogHead | null> {
    let newest: LogHead | null = null;
    let conflicts = 0;
    for (;;) {
      const written = await step({ signal, paced });
      if (written === 'conflict') {
        conflicts++;
        // Another process was first so often that it must write heads too.
        if (conflicts > MOST_CONFLICTS) return newest;
        continue;
      }
      if (written === null) return newest;
      newest = written.head;
      // What was recorded meanwhile is left to the next round: under load there is always more.
      if (!written.isFull || signal?.aborted) return newest;
    }
  }

  /** One head over at most `mostEvents` more events; null if nothing is new. */
  async function step(how: Reading): Promise<Step | 'conflict' | null> {
    known ??= await load(how);
    if (known === null) return null;
    const { heads, at } = known;
    const next = await advance(at, { to: at.size + mostEvents, ...how });
    if (next === null || !next.isNews) return null;
    const claim = { size: next.size, root: next.root };
    const key = masterKeys.logHeadKeyOf(masterKeys.newest);
    const head: LogHead = {
      ...claim,
      peaks: next.peaks.map((peak) => Buffer.from(peak).toString('hex')),
      last: { stream: next.last.stream, revision: next.last.revision },
      masterVersion: masterKeys.newest,
      signature: key.signHead(claim, logId),
    };
    const command = { type: 'Record', head, publicKey: key.publicKey } as const;
    // Until the outcome is known: after an error, the next round reads what was recorded.
    known = null;
    try {
      const handled = await handle({ log, clock }, logHeads, LOG_HEAD_STREAM, command, contextOf(next.last.id), heads);
      if (isRejection(handled)) throw new Error(`a head was rejected: ${handled.rejected}`);
      known = { heads: { state: handled.state, head: handled.head, previous: heads.state.head }, at: next };
      verified = next;
      return { head, isFull: next.size - at.size === mostEvents };
    } catch (error) {
      if (error instanceof RevisionConflict) return 'conflict';
      throw error;
    }
  }

  /**
   * Reads the newest head, and checks that the log leads to it: from what this process has verified, or from the head
   * before it. Null if the signal aborted.
   */
  async function load(how: Reading): Promise<typeof known> {
    const heads = await loadNewestHeads(log);
    const { head } = heads.state;
    if (head === null) return { heads, at: START };
    const from = await verifiedBefore(heads);
    if (head.size < from.size) throw new LogHeadDiffers(head, `this process knows a head over ${from.size} events`);
    const at = head.size === from.size ? from : await advance(from, { to: head.size, ...how });
    if (how.signal?.aborted && at !== null && at.size < head.size) return null;
    if (at === null || at.size < head.size) throw new LogHeadDiffers(head, `the log has only ${at?.size ?? from.size}`);
    const root = LogTree.of(at.size, at.peaks).root().toString('hex');
    if (root !== head.root) throw new LogHeadDiffers(head, `the log's first ${at.size} events have root ${root}`);
    verified = at;
    return { heads, at };
  }

  /** The newest point to verify from. A node that stood by for long does not read all that others wrote. */
  async function verifiedBefore({ previous }: NewestHeads): Promise<Point> {
    if (verified && (previous === null || previous.size - verified.size <= mostEvents)) return verified;
    return previous ? pointOf(previous) : START;
  }

  /** @throws LogHeadDiffers if the last event of the head is not in the log */
  async function pointOf(head: LogHead): Promise<Point> {
    const { stream, revision } = head.last;
    const [last] = await log.read(stream, { from: revision, limit: 1 });
    if (!last) throw new LogHeadDiffers(head, 'its last event is not in the log');
    const peaks = head.peaks.map((peak) => Buffer.from(peak, 'hex'));
    try {
      return { size: head.size, peaks: LogTree.of(head.size, peaks).peaks, position: last.position };
    } catch (error) {
      throw new LogHeadDiffers(head, `its peaks make no tree: ${(error as Error).message}`);
    }
  }

  /** Grows the tree up to a size by the events after a point; null if there are none. */
  async function advance(
    from: Point,
    { to, signal, paced }: Reading & { readonly to: number },
  ): Promise<Advance | null> {
    const tree = LogTree.of(from.size, from.peaks);
    let last: EventLeaf | null = null;
    let isNews = false;
    let began = steady.now();
    for await (const leaves of leavesOf(log, from.position)) {
      for (const leaf of leaves) {
        if (tree.size === to) break;
        tree.add(leafOf(leaf));
        last = leaf;
        isNews ||= leaf.stream !== LOG_HEAD_STREAM;
      }
      if (tree.size === to || signal?.aborted) break;
      const took = (steady.now() - began) / MICROS_PER_MS;
      if (paced) await pause(Math.min(took * PAUSE_FACTOR, LONGEST_PAUSE_MS), signal);
      began = steady.now();
    }
    if (last === null) return null;
    return {
      size: tree.size,
      peaks: [...tree.peaks],
      root: tree.root().toString('hex'),
      position: last.position,
      last,
      isNews,
    };
  }
}

/**
 * Caused by the last event that the head covers. The command's id is new each time: with one derived from that event, the
 * head of another node would count as a repeat of this one, and the next would continue a hash that is not in the log.
 */
const contextOf = (lastId: string): CommandContext => ({
  commandId: randomUUID(),
  requestId: null,
  correlationId: lastId,
  causationId: lastId,
  actor: NAME,
});

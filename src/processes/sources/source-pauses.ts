/** Which sources, and which courts of them, operators have paused: in the memory of each node, as the log says. */
import { folded } from '../../commands/handle.ts';
import { partOfSource, source as rules, WHOLE_SOURCE } from '../../commands/source/source.ts';
import { LiveSourceName, SourcePaused, SourceResumed, sourceStream } from '../../events/source.ts';
import { pause } from '../../runtime/pause.ts';
import type { EventLog, Position, RecordedEvent } from '../../storage/event-log.ts';
import { Trouble, type TroubleLogger } from '../../storage/trouble.ts';

export interface SourcePausesOptions {
  readonly log: Pick<EventLog, 'subscribe' | 'head' | 'read'>;
  readonly logger: TroubleLogger;
}

export interface SourcePauses {
  /** Resolves once everything is known that was decided before the start. */
  readonly ready: Promise<void>;
  /** Whether the source is paused, or only this court of it. Null: whether the whole source is. */
  isPaused(source: LiveSourceName, court: string | null): boolean;
  /** Follows the log until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

const TYPES = [SourcePaused.type, SourceResumed.type];
const AGAIN_MS = 500;

export function createSourcePauses({ log, logger }: SourcePausesOptions): SourcePauses {
  const paused = new Set<string>();
  const key = (source: string, court: string | null): string => `${source}/${partOfSource(court)}`;
  let isReady: () => void = () => undefined;
  const ready = new Promise<void>((resolve) => {
    isReady = resolve;
  });
  /** Undefined until the streams were read. */
  let reached: Position | null | undefined;

  /** Streams of sources are short. They may be newer than the position; then some events are seen twice. */
  async function start(): Promise<Position | null> {
    const head = await log.head();
    for (const name of LiveSourceName.options) {
      const { state } = folded(rules, await log.read(sourceStream.itself(name)));
      for (const part of state.paused.keys()) paused.add(`${name}/${part}`);
    }
    return head;
  }

  function apply({ type, data: { source, court } }: RecordedEvent): void {
    if (typeof source !== 'string' || (court !== null && typeof court !== 'string')) return;
    if (type === SourcePaused.type) paused.add(key(source, court));
    else paused.delete(key(source, court));
  }

  return {
    ready,
    isPaused: (source, court) =>
      paused.has(key(source, null)) || (court !== null && court !== WHOLE_SOURCE && paused.has(key(source, court))),
    async run(signal) {
      const trouble = new Trouble(logger, { process: 'source-pauses' });
      while (!signal.aborted) {
        try {
          if (reached === undefined) {
            reached = await start();
            isReady();
          }
          for await (const { events, position } of log.subscribe(reached, { by: 'types', types: TYPES }, signal)) {
            for (const event of events) apply(event);
            reached = position;
            trouble.recovered();
          }
        } catch (error) {
          trouble.failed(error, 'pauses of sources cannot be followed; retrying');
        }
        await pause(AGAIN_MS, signal);
      }
    },
  };
}

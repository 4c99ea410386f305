/** The sources of dockets as operators see them. Works without a running service. */
import { decodeEvent } from '../events/codec.ts';
import type { EventOf } from '../events/event.ts';
import { SOURCE_ACTS } from '../events/operator.ts';
import { operatorActs, type SourceToken } from '../projections/operator-acts.ts';
import type { Instant } from '../runtime/instant.ts';
import type { EventLog } from '../storage/event-log.ts';
import type { ReadStore } from '../storage/read-store.ts';
import { sourceTokens } from './operator-acts.ts';

interface Ports {
  readonly log: Pick<EventLog, 'readAll'>;
  readonly readStore: Pick<ReadStore, 'find' | 'cell' | 'activeGeneration' | 'checkpoint'>;
}

/** What a source brought when it pushed last. */
export interface LastPush {
  readonly at: Instant;
  readonly recorded: number;
  readonly unchanged: number;
  readonly refused: number;
}

/** A source that pushes. */
export interface ListedSource {
  readonly name: string;
  readonly tokens: readonly SourceToken[];
  /** The courts of all its tokens together; null for all courts. */
  readonly courts: readonly string[] | null;
  /** Null if it never did. */
  readonly lastPush: LastPush | null;
}

type SourceAct = EventOf<(typeof SOURCE_ACTS)[number]>;

/** Every valid token, by source and age: those of the read model, and what the log has recorded since. */
export async function validTokens({ log, readStore }: Ports): Promise<readonly SourceToken[]> {
  const generation = await readStore.activeGeneration(operatorActs.name);
  // Read first: what is applied twice changes nothing.
  const checkpoint = await readStore.checkpoint(operatorActs.name, generation);
  const tokens = new Map(await sourceTokens(readStore));
  const types = SOURCE_ACTS.map(({ type }) => type);
  for await (const { events } of log.readAll(checkpoint, { by: 'types', types })) {
    for (const recorded of events) {
      const { type, data } = decodeEvent(recorded) as SourceAct;
      if (type === 'SourceTokenRevoked') tokens.delete(data.tokenHash);
      else tokens.set(data.tokenHash, { ...data, since: recorded.metadata.recordedAt });
    }
  }
  const order = ({ source, since }: SourceToken): string => `${source} ${since}`;
  return [...tokens.values()].toSorted((a, b) => (order(a) < order(b) ? -1 : 1));
}

/** The cell with the last push of a source. It informs operators; nothing depends on it. */
export const lastPushCell = (source: string): string => `last-push ${source}`;

export async function listSources(ports: Ports): Promise<readonly ListedSource[]> {
  const bySource = new Map<string, SourceToken[]>();
  for (const token of await validTokens(ports)) {
    const own = bySource.get(token.source) ?? [];
    own.push(token);
    bySource.set(token.source, own);
  }
  return Promise.all(
    [...bySource].map(async ([name, tokens]) => ({
      name,
      tokens,
      courts: tokens.some(({ courts }) => courts === null)
        ? null
        : [...new Set(tokens.flatMap(({ courts }) => courts ?? []))].sort(),
      lastPush: (await ports.readStore.cell(lastPushCell(name))).value as LastPush | null,
    })),
  );
}

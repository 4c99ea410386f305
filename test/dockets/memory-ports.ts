/**
 * Ports in memory under a scheduler that the test owns: every step of every actor waits for its turn, and turns are
 * drawn at random. Appends may land late, fail although they landed, or land after their writer died.
 */
import { createHash } from 'node:crypto';
import type { IngestPorts } from '../../src/commands/docket/clock.ts';
import { decodeEvent } from '../../src/events/codec.ts';
import type { JsonObject } from '../../src/events/event.ts';
import { cases } from '../../src/projections/cases.ts';
import type { Freshness } from '../../src/projections/freshness.ts';
import type { Content } from '../../src/projections/projection.ts';
import { MICROS_PER_MS, type Micros } from '../../src/runtime/instant.ts';
import { type Append, type RecordedEvent, RevisionConflict } from '../../src/storage/event-log.ts';
import type { PayloadStore } from '../../src/storage/payload-store.ts';
import type { Find, ReadStore, Stored } from '../../src/storage/read-store.ts';

/** mulberry32: small, seeded, good enough to shuffle. */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export class Turns {
  readonly #waiting: (() => void)[] = [];
  constructor(readonly random: () => number) {}

  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  /** Gives turns until all of these are done. */
  async run(actors: readonly Promise<unknown>[]): Promise<void> {
    let done = false;
    const all = Promise.all(actors).finally(() => {
      done = true;
    });
    all.catch(() => {});
    for (let turn = 0; !done; turn++) {
      if (turn > 400_000) throw new Error('the actors never end');
      // Let everything that needs no turn happen first.
      for (let i = 0; i < 12; i++) await Promise.resolve();
      if (done) break;
      const at = Math.floor(this.random() * this.#waiting.length);
      const [turnOf] = this.#waiting.splice(at, 1);
      if (turnOf) turnOf();
      else await new Promise((resolve) => setImmediate(resolve));
    }
    await all;
  }
}

/** Thrown in a writer that the test has killed, at its next wait. */
export class Killed extends Error {}

export interface Faults {
  /** The probability that an append answers with an error, whether it lands or not. */
  readonly appendError: number;
}

export class MemoryWorld {
  readonly events: RecordedEvent[] = [];
  readonly blobs = new Map<string, Buffer>();
  readonly documents = new Map<string, Map<string, Stored>>();
  readonly cells = new Map<string, { version: number; value: JsonObject }>();
  time: Micros = Date.UTC(2026, 2, 1, 12) * MICROS_PER_MS;
  #projected = 0;
  #ids = 0;
  stopped = false;

  constructor(
    readonly turns: Turns,
    readonly faults: Faults,
  ) {}

  /**
   * One node's view: its own clock, and whether it is still alive.
   * @param diesInAppend the node dies once it has sent an append to a docket, which lands much later or never
   */
  node(clockOffset: Micros, alive: () => boolean, diesInAppend = false): IngestPorts {
    let dead = false;
    const step = async (): Promise<void> => {
      await this.turns.next();
      this.time += Math.floor(this.turns.random() * 5_000);
      if (dead || !alive()) throw new Killed('killed');
    };
    const world = this;
    return {
      log: {
        async append(append: Append) {
          await step();
          if (diesInAppend && !append.stream.startsWith('docket-alias-')) {
            world.#land(append, Math.floor(world.turns.random() * 800)).catch(() => {});
            dead = true;
            throw new Killed('killed during its append');
          }
          const landing = world.#land(append);
          landing.catch(() => {});
          if (world.turns.random() < world.faults.appendError) {
            if (world.turns.random() < 0.5) await landing.catch(() => {});
            throw new Error('the connection broke');
          }
          const appended = await landing;
          await step();
          return appended;
        },
        async read(stream: string) {
          await step();
          return world.events.filter((event) => event.stream === stream);
        },
      } as unknown as IngestPorts['log'],
      payloads: {
        async put(_kind: string, content: Uint8Array) {
          await step();
          const name = createHash('sha256')
            .update(`${world.#ids++}`)
            .digest('hex');
          world.blobs.set(name, Buffer.from(content));
          return name;
        },
        async remove(name: string) {
          await step();
          world.blobs.delete(name);
        },
        async get(name: string) {
          await step();
          return world.blobs.get(name) ?? null;
        },
        async getMany(names: readonly string[]) {
          await step();
          return new Map(names.flatMap((name) => (world.blobs.has(name) ? [[name, world.blobs.get(name)!]] : [])));
        },
      } as unknown as PayloadStore,
      readStore: {
        load: async (collection: string, ids: readonly string[]) => {
          await step();
          const held = world.documents.get(collection);
          return new Map(ids.flatMap((id) => (held?.has(id) ? [[id, held.get(id)!]] : [])));
        },
        find: async (query: Find) => {
          await step();
          return world.#find(query);
        },
        count: async (query: Find) => {
          await step();
          return world.#find({ ...query, limit: Number.POSITIVE_INFINITY }).length;
        },
        activeGeneration: async () => {
          await step();
          return 1;
        },
        cell: async (id: string) => {
          await step();
          return world.cells.get(id) ?? { version: 0, value: null };
        },
        compareAndSet: async (id: string, version: number, value: JsonObject) => {
          await step();
          if ((world.cells.get(id)?.version ?? 0) !== version) return false;
          world.cells.set(id, { version: version + 1, value });
          // The answer may be late: what follows must not depend on acting at once.
          await step();
          return true;
        },
      } as unknown as ReadStore,
      clock: { now: () => world.time++ + clockOffset },
      newId: () => `ingest-${world.#ids++}`,
      sleep: async (ms) => {
        world.time += Math.floor(ms * MICROS_PER_MS * world.turns.random());
        await step();
      },
      abandonAfterMs: 300,
      visibleWithinMs: Number.POSITIVE_INFINITY,
    };
  }

  /** The position of the projection, as a node that does not wait sees it. */
  get freshness(): Freshness {
    const asked = async (): Promise<boolean> => {
      const head = this.events.length;
      await this.turns.next();
      return this.#projected >= head;
    };
    return { wasBuilt: false, showsEverything: asked };
  }

  /** Takes effect at some later turn, even if its sender is gone by then. */
  async #land(append: Append, stalled = 0): Promise<{ revision: number; position: string }> {
    const rare = this.turns.random() < 0.05 ? 60 : 0;
    for (let stall = stalled + rare + Math.floor(this.turns.random() * 4); stall >= 0; stall--) await this.turns.next();
    const stream = this.events.filter((event) => event.stream === append.stream);
    const repeated = append.events.map((event) =>
      stream.find(({ id, revision }) => id === event.id && revision === event.revision),
    );
    if (repeated.every((event) => event !== undefined)) {
      return { revision: repeated.at(-1)!.revision, position: repeated.at(-1)!.position };
    }
    if (stream.length - 1 !== append.expected)
      throw new RevisionConflict(append.stream, append.expected, stream.length - 1);
    for (const event of append.events) {
      this.events.push(
        structuredClone({ ...event, position: String(this.events.length).padStart(12, '0') }) as RecordedEvent,
      );
    }
    return { revision: append.events.at(-1)!.revision, position: this.events.at(-1)!.position };
  }

  #find({ collection, equals = {}, range, order, limit, after }: Find): Stored[] {
    const field = order?.field;
    const text = (document: JsonObject, name: string): string => String(document[name]);
    const held = [...(this.documents.get(collection)?.values() ?? [])].filter(({ document }) => {
      if (Object.entries(equals).some(([name, value]) => document[name] !== value)) return false;
      if (!range) return true;
      if (document[range.field] === null) return false;
      const value = text(document, range.field);
      return (
        (range.above === undefined || value > String(range.above)) &&
        (range.upTo === undefined || value <= String(range.upTo))
      );
    });
    const key = ({ id, document }: Stored): string => (field ? `${text(document, field)}\n${id}` : id);
    const sign = order?.direction === 'descending' ? -1 : 1;
    held.sort((a, b) => (key(a) < key(b) ? -sign : key(a) > key(b) ? sign : 0));
    const start = after ? (field ? `${after.value}\n${after.id}` : after.id) : null;
    return held.filter((one) => start === null || (sign > 0 ? key(one) > start : key(one) < start)).slice(0, limit);
  }

  /** The projection: event by event, each write visible by itself. Runs until stopped and at the head. */
  async project(): Promise<void> {
    for (;;) {
      await this.turns.next();
      const recorded = this.events[this.#projected];
      if (!recorded) {
        if (this.stopped) return;
        continue;
      }
      if (this.turns.random() < 0.3) continue;
      for (const write of this.#writesOf(recorded, this.documents)) {
        write();
        if (this.turns.random() < 0.2) await this.turns.next();
      }
      this.#projected++;
    }
  }

  /** What the whole log gives from its beginning. */
  rebuilt(): ReadonlyMap<string, ReadonlyMap<string, Stored>> {
    const documents = new Map<string, Map<string, Stored>>();
    for (const recorded of this.events) for (const write of this.#writesOf(recorded, documents)) write();
    return documents;
  }

  /** The writes of one event, each visible by itself. */
  *#writesOf(recorded: RecordedEvent, documents: Map<string, Map<string, Stored>>): Iterable<() => void> {
    const event = decodeEvent(recorded);
    const contents = new Map<string, Content>();
    for (const name of cases.contentOf?.(event) ?? [])
      contents.set(name, { bytes: this.blobs.get(name)!, redacted: false });
    const projected = { event, recorded, contents };
    for (const { collection: name, id } of cases.targets(projected)) {
      const collection = documents.get(name) ?? new Map<string, Stored>();
      documents.set(name, collection);
      const target = { collection: name, id };
      yield () => {
        const document = cases.fold(target, collection.get(id)?.document ?? null, projected);
        if (document === null) collection.delete(id);
        else collection.set(id, { id, position: recorded.position, document: structuredClone(document) });
      };
    }
  }
}

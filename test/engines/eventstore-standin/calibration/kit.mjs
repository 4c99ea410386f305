// What every probe uses: its own names and ids, outcomes as data, and values without ids, times or absolute positions.
import { createHash, randomBytes } from 'node:crypto';
import { EventStoreDBClient, jsonEvent } from '@eventstore/db-client';

const PATIENCE_MS = 4000;
export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Resolves to the promise's value, or to `SILENT` when nothing came within `ms`. */
export const SILENT = 'no answer';
export const within = (promise, ms = PATIENCE_MS) => {
  let timer;
  return Promise.race([
    promise,
    new Promise((resolve) => {
      timer = setTimeout(resolve, ms, SILENT);
    }),
  ]).finally(() => clearTimeout(timer));
};

export class Kit {
  /** `run` is 8 characters and the same length in every run, so that record sizes repeat. */
  constructor(url, run = randomBytes(4).toString('hex')) {
    this.url = url;
    this.run = run;
    this.client = this.connect();
    this.names = new Map();
    this.serial = 0;
  }

  connect(options = '') {
    const separator = this.url.includes('?') ? '&' : '?';
    return EventStoreDBClient.connectionString(options ? `${this.url}${separator}${options}` : this.url);
  }

  /** A stream name that only this run uses. */
  stream(name) {
    return `cal-${this.run}-${name}`;
  }

  /** A UUID that only this run uses, shown as `id:<name>` in results. */
  id(name = `auto-${this.serial++}`) {
    const hex = createHash('sha256').update(`${this.run}/${name}`).digest('hex');
    const uuid = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
    this.names.set(uuid, name);
    return uuid;
  }

  event(name, data = { name }, extra = {}) {
    return jsonEvent({ id: this.id(name), type: 'CalibrationEvent', data, ...extra });
  }
  /** `count` small events named `<prefix>0`, `<prefix>1`, … */
  events(prefix, count, data) {
    return Array.from({ length: count }, (_, i) => this.event(`${prefix}${i}`, data));
  }

  append(stream, events, options, client = this.client) {
    return this.outcome(client.appendToStream(stream, events, options));
  }

  /** `{ ok }`, `{ error }` or `no answer`. */
  async outcome(promise, ms = PATIENCE_MS) {
    const settled = await within(
      promise.then(
        (ok) => ({ ok }),
        (error) => ({ error }),
      ),
      ms,
    );
    if (settled === SILENT) return SILENT;
    return 'ok' in settled ? { ok: this.plain(settled.ok) } : { error: this.error(settled.error) };
  }

  error(error) {
    const {
      name,
      message,
      code,
      type,
      streamName,
      expectedVersion,
      actualVersion,
      maxAppendSize,
      leader,
      errorMessage,
    } = error;
    return this.plain({
      class: error.constructor?.name ?? name,
      type,
      code,
      message,
      streamName,
      expectedVersion,
      actualVersion,
      maxAppendSize,
      leader,
      errorMessage,
    });
  }

  /** Drains a read: `{ ok: [events] }`, `{ error, before: n }` or `no answer`. */
  async drain(read, show = (resolved) => this.brief(resolved), ms = PATIENCE_MS) {
    const seen = [];
    const settled = await within(
      (async () => {
        try {
          for await (const resolved of read) seen.push(show(resolved));
          return { ok: seen };
        } catch (error) {
          return { error: this.error(error), before: seen.length };
        }
      })(),
      ms,
    );
    if (settled === SILENT) {
      await within(read.cancel?.() ?? read.unsubscribe?.(), 500);
      return { silent: true, before: seen.length };
    }
    return this.plain(settled);
  }

  brief({ event }) {
    return event
      ? `${event.streamId}@${event.revision} ${event.type} ${this.names.get(event.id) ?? 'unknown id'}`
      : 'no event';
  }

  /** Every field of a resolved event. */
  full(resolved) {
    const show = (record) =>
      record && {
        ...record,
        id: this.names.has(record.id) ? `id:${this.names.get(record.id)}` : 'unknown id',
        created:
          record.created instanceof Date && Math.abs(Date.now() - record.created) < 3_600_000
            ? 'a recent Date'
            : record.created,
        position: this.position(record.position),
      };
    return this.plain({
      event: show(resolved.event),
      link: show(resolved.link),
      commitPosition:
        resolved.commitPosition === undefined
          ? undefined
          : resolved.commitPosition === resolved.event?.position?.commit
            ? 'of the event'
            : 'other',
    });
  }

  position(position) {
    if (!position) return position;
    if (position.commit === 18446744073709551615n) return 'unknown (2^64-1)';
    return position.commit === position.prepare
      ? 'commit = prepare'
      : position.prepare === 0n
        ? 'prepare = 0'
        : 'commit ≠ prepare';
  }

  /** JSON-ready, with this run's names, ids and port replaced. */
  plain(value) {
    if (value === undefined) return undefined;
    if (value === null || typeof value === 'boolean' || typeof value === 'number') return value;
    if (typeof value === 'bigint') return `${value}n`;
    if (typeof value === 'string') return this.neutral(value);
    if (value instanceof Date) return 'Date';
    if (value instanceof Uint8Array)
      return `${value.constructor.name}(${value.length}) ${this.#bytes(Buffer.from(value))}`;
    if (Array.isArray(value)) return value.map((item) => this.plain(item));
    const out = {};
    for (const [key, item] of Object.entries(value)) {
      if (item === undefined) continue;
      out[this.neutral(key)] =
        key === 'position' && item && typeof item === 'object' ? this.position(item) : this.plain(item);
    }
    return out;
  }

  #bytes(buffer) {
    const text = buffer.toString('latin1');
    return buffer.length && /^[\x20-\x7e]*$/.test(text)
      ? `"${this.neutral(text)}"`
      : buffer.subarray(0, 24).toString('hex');
  }

  neutral(text) {
    return text
      .replaceAll(this.run, 'RUN')
      .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi, (uuid) =>
        this.names.has(uuid) ? `id:${this.names.get(uuid)}` : 'UUID',
      );
  }

  async readBack(stream, options) {
    return this.drain(this.client.readStream(stream, options));
  }

  /** The position of an event of a stream. */
  async positionOf(stream, revision) {
    for await (const { event } of this.client.readStream(stream, { fromRevision: BigInt(revision), maxCount: 1 }))
      return event.position;
    throw new Error(`${stream} has no event ${revision}`);
  }
}

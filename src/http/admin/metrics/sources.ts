/**
 * Values that are read when Prometheus asks. Each source is read at most every few seconds, however many scrapers there
 * are, and one that fails or hangs takes away only its own samples.
 */
import { Gauge, type Registry } from 'prom-client';

export interface Source<Value> {
  /** For the label `source`. */
  readonly name: string;
  read(): Promise<Value> | Value;
  /** Sets the gauges; null if the source failed: then they have no samples, as values of the past would mislead. */
  show(value: Value | null): void;
}

export interface SourcesOptions {
  /** Milliseconds, never set back. */
  readonly now?: () => number;
  /** How long a value is shown before it is read again, milliseconds. */
  readonly keepMs?: number;
  /** How long a scrape waits for a source, milliseconds. */
  readonly patienceMs?: number;
}

/** Below the usual interval of scrapes, so that each scrape of a single Prometheus reads anew. */
const KEEP_MS = 5_000;
/** Below the ten seconds after which Prometheus gives up a scrape. */
const PATIENCE_MS = 2_000;

export class Sources {
  readonly #up: Gauge<'source'>;
  readonly #refreshes: (() => Promise<void>)[] = [];
  readonly #now: () => number;
  readonly #keepMs: number;
  readonly #patienceMs: number;

  constructor(
    registry: Registry,
    { now = () => performance.now(), keepMs = KEEP_MS, patienceMs = PATIENCE_MS }: SourcesOptions = {},
  ) {
    this.#now = now;
    this.#keepMs = keepMs;
    this.#patienceMs = patienceMs;
    this.#up = new Gauge({
      name: 'docket_metrics_source_up',
      help: 'Whether the last reading of a source succeeded (1 or 0); metrics of a source that failed have no samples',
      labelNames: ['source'],
      registers: [registry],
    });
  }

  add<Value>({ name, read, show }: Source<Value>): void {
    let reading: Promise<void> | null = null;
    let freshUntil = Number.NEGATIVE_INFINITY;
    const settle = (value: Value | null): void => {
      show(value);
      this.#up.set({ source: name }, value === null ? 0 : 1);
      // A failure is not kept: the next scrape asks again.
      freshUntil = value === null ? Number.NEGATIVE_INFINITY : this.#now() + this.#keepMs;
    };
    const readOnce = async (): Promise<void> => {
      try {
        settle(await read());
      } catch {
        settle(null);
      } finally {
        reading = null;
      }
    };
    this.#refreshes.push(async () => {
      if (this.#now() < freshUntil) return;
      // A reading that hangs is not started a second time; its value is shown once it comes.
      reading ??= readOnce();
      if (!(await endsWithin(reading, this.#patienceMs))) settle(null);
    });
  }

  /** Resolves once every source is shown. Never throws. */
  async refresh(): Promise<void> {
    await Promise.all(this.#refreshes.map((each) => each()));
  }
}

async function endsWithin(work: Promise<void>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  try {
    return await Promise.race([work.then(() => true as const), late]);
  } finally {
    clearTimeout(timer);
  }
}

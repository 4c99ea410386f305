/**
 * What becomes of finished spans: a limited number waits, the rest is dropped and counted, and the log says when
 * the collector does not take them. Nothing waits for it.
 */
import type { Context } from '@opentelemetry/api';
import type { ReadableSpan, SpanExporter, SpanProcessor } from '@opentelemetry/sdk-trace';
import type { TracerLog } from './tracer.ts';

/** Spans that may wait for the collector: some hundred paid queries. */
export const MOST_WAITING = 4_096;
/** A collector that takes batches only in part would otherwise be reported with each. */
const REPORT_EVERY_MS = 60_000;

/** An exporter that reports the start and the end of an outage. */
export class ReportingExporter implements SpanExporter {
  readonly #inner: SpanExporter;
  readonly #log: TracerLog;
  readonly #collector: string;
  #isFailing = false;
  #reportedAt = Number.NEGATIVE_INFINITY;
  /** Spans that were dropped since the last report. */
  #dropped = 0;
  /** Spans that wait for the collector, or are on the way to it. */
  #waiting = 0;

  constructor(inner: SpanExporter, log: TracerLog, collector: string) {
    this.#inner = inner;
    this.#log = log;
    this.#collector = collector;
  }

  export(spans: ReadableSpan[], done: Parameters<SpanExporter['export']>[1]): void {
    this.#inner.export(spans, (result) => {
      this.#waiting -= spans.length;
      if (result.error === undefined && result.code === SUCCESS) this.#succeeded();
      else {
        this.#dropped += spans.length;
        this.#failed(result.error);
      }
      // Always a success for the caller: a failure is reported here, and nobody else could do more about it.
      done({ code: SUCCESS });
    });
  }

  /** Whether there is room for one more finished span; if not, it is dropped. */
  hasRoom(): boolean {
    if (this.#waiting < MOST_WAITING) {
      this.#waiting += 1;
      return true;
    }
    this.#dropped += 1;
    if (!this.#isFailing) this.#report('too many spans wait');
    return false;
  }

  shutdown(): Promise<void> {
    return this.#inner.shutdown();
  }

  forceFlush(): Promise<void> {
    return this.#inner.forceFlush?.() ?? Promise.resolve();
  }

  /** Reports what is lost with a stop. */
  close(): void {
    this.#dropped += this.#waiting;
    if (this.#dropped > 0) this.#warn('the service stops');
  }

  #failed(error: Error | undefined): void {
    const isNew = !this.#isFailing;
    this.#isFailing = true;
    if (isNew) this.#reportedAt = Number.NEGATIVE_INFINITY;
    this.#report(reasonOf(error));
  }

  #succeeded(): void {
    if (!this.#isFailing) return;
    this.#isFailing = false;
    this.#log.info({ collector: this.#collector, dropped: this.#dropped }, 'traces are exported again');
    this.#dropped = 0;
  }

  #report(reason: string): void {
    const now = performance.now();
    if (now - this.#reportedAt < REPORT_EVERY_MS) return;
    this.#reportedAt = now;
    this.#warn(reason);
  }

  #warn(reason: string): void {
    const details = { collector: this.#collector, reason, dropped: this.#dropped, alarm: 'traces_not_exported' };
    this.#log.warn(details, 'spans were dropped: the collector of traces does not take them');
    this.#dropped = 0;
  }
}

/** `ExportResultCode.SUCCESS`, of a package that this one does not depend on. */
const SUCCESS = 0;

/** Never the text of an answer: a collector may repeat what it was sent, headers included. */
function reasonOf(error: Error | undefined): string {
  const code: unknown = error && 'code' in error ? error.code : undefined;
  if (typeof code === 'number') return `HTTP status ${code}`;
  return typeof code === 'string' && code !== '' ? code : (error?.name ?? 'unknown');
}

/** Passes on the spans that there is room for. */
export class BoundedSpans implements SpanProcessor {
  readonly #inner: SpanProcessor;
  readonly #exporter: ReportingExporter;

  constructor(inner: SpanProcessor, exporter: ReportingExporter) {
    this.#inner = inner;
    this.#exporter = exporter;
  }

  onStart(span: Parameters<SpanProcessor['onStart']>[0], context: Context): void {
    this.#inner.onStart(span, context);
  }

  onEnd(span: ReadableSpan): void {
    if (this.#exporter.hasRoom()) this.#inner.onEnd(span);
  }

  shutdown(): Promise<void> {
    return this.#inner.shutdown();
  }

  forceFlush(): Promise<void> {
    return this.#inner.forceFlush();
  }
}

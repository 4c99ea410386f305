/** Spans by OpenTelemetry's SDK, sent to a collector by OTLP over HTTP. Imported by `createTracer` alone. */
import { setTimeout as wait } from 'node:timers/promises';
import {
  type Tracer as ApiTracer,
  type Context,
  type Link,
  ROOT_CONTEXT,
  SpanKind as SdkKind,
  type Span as SdkSpan,
  type SpanContext,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { BoundedSpans, MOST_WAITING, ReportingExporter } from './export.ts';
import { DEFAULT_SERVICE_NAME, type TracingSettings } from './settings.ts';
import type { AttributeValue, Span, SpanKind, SpanOptions } from './span.ts';
import { readRecorded, type TraceContext } from './traceparent.ts';
import type { Tracer, TracerOptions } from './tracer.ts';

/** One span takes at most some kilobytes, so all that wait take some megabytes, whatever callers send. */
const SPAN_LIMITS = {
  attributeCountLimit: 32,
  attributeValueLengthLimit: 256,
  linkCountLimit: 1,
  eventCountLimit: 0,
  attributePerLinkCountLimit: 0,
};
const BATCH = 512;
const SEND_EVERY_MS = 2_000;
/** How long a collector may take for one batch, with all of its repeats. */
const EXPORT_TIMEOUT_MS = 5_000;
/** How long a stop waits for the collector: less than what `Undo` leaves for the last step of a late stop. */
const FLUSH_MS = 800;

export function createOpenTelemetryTracer({
  settings,
  version,
  instance,
  logger,
  sendEveryMs = SEND_EVERY_MS,
}: Omit<TracerOptions, 'settings'> & { readonly settings: TracingSettings }): Tracer {
  const exporter = new OTLPTraceExporter({
    url: settings.url,
    headers: { ...settings.headers },
    timeoutMillis: EXPORT_TIMEOUT_MS,
    concurrencyLimit: 4,
  });
  const reporting = new ReportingExporter(exporter, logger, new URL(settings.url).host);
  const batches = new BatchSpanProcessor({
    exporter: reporting,
    maxExportBatchSize: BATCH,
    // It never has so many: `BoundedSpans` counts those on the way too.
    maxQueueSize: 2 * MOST_WAITING,
    scheduledDelayMillis: sendEveryMs,
    exportTimeoutMillis: EXPORT_TIMEOUT_MS + 500,
  });
  const provider = new TracerProvider({
    sampler: samplerOf(settings),
    spanLimits: SPAN_LIMITS,
    spanProcessors: [new BoundedSpans(batches, reporting)],
    resource: resourceFromAttributes({
      'service.name': DEFAULT_SERVICE_NAME,
      'service.version': version,
      'service.instance.id': instance,
      ...settings.resource,
      ...(settings.serviceName !== '' && { 'service.name': settings.serviceName }),
    }),
  });
  const tracer = provider.getTracer(DEFAULT_SERVICE_NAME, version);
  return {
    isOn: true,
    begin: (name, options, caller) =>
      startIn(tracer, ROOT_CONTEXT, name, options, caller ? [{ context: remote(caller) }] : []),
    resume(name, traceparent, options) {
      const recorded = traceparent === undefined ? null : readRecorded(traceparent);
      if (recorded === null) return undefined;
      return startIn(tracer, trace.setSpanContext(ROOT_CONTEXT, remote(recorded)), name, options, []);
    },
    async stop() {
      const waiting = new AbortController();
      const late = wait(FLUSH_MS, undefined, { signal: waiting.signal }).catch(() => undefined);
      await Promise.race([provider.shutdown().catch(() => undefined), late]);
      waiting.abort();
      reporting.close();
    },
  };
}

/**
 * A parent is always an event of our own log: what a caller sends is only linked. So "parent-based" means that a trace
 * that one node exports is continued by all.
 */
function samplerOf({ sampler, ratio }: TracingSettings): Sampler {
  switch (sampler) {
    case 'always_on':
      return new AlwaysOnSampler();
    case 'always_off':
      return new AlwaysOffSampler();
    case 'traceidratio':
      return new TraceIdRatioBasedSampler(ratio);
    case 'parentbased_always_on':
      return new ParentBasedSampler({ root: new AlwaysOnSampler() });
    case 'parentbased_always_off':
      return new ParentBasedSampler({ root: new AlwaysOffSampler() });
    case 'parentbased_traceidratio':
      return new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) });
  }
}

const remote = ({ traceId, spanId, isSampled }: TraceContext): SpanContext => ({
  traceId,
  spanId,
  traceFlags: isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
  isRemote: true,
});

const KINDS: Readonly<Record<SpanKind, SdkKind>> = {
  internal: SdkKind.INTERNAL,
  server: SdkKind.SERVER,
  client: SdkKind.CLIENT,
  consumer: SdkKind.CONSUMER,
};

function startIn(
  tracer: ApiTracer,
  parent: Context,
  name: string,
  { kind = 'internal', attributes }: SpanOptions,
  links: Link[],
): ExportedSpan | undefined {
  const span = tracer.startSpan(name, { kind: KINDS[kind], attributes: { ...attributes } as never, links }, parent);
  return span.isRecording() ? new ExportedSpan(tracer, span) : undefined;
}

class ExportedSpan implements Span {
  readonly traceparent: string;
  readonly #tracer: ApiTracer;
  readonly #span: SdkSpan;

  constructor(tracer: ApiTracer, span: SdkSpan) {
    const { traceId, spanId } = span.spanContext();
    this.traceparent = `00-${traceId}-${spanId}-01`;
    this.#tracer = tracer;
    this.#span = span;
  }

  child(name: string, options: SpanOptions): Span {
    const child = startIn(this.#tracer, trace.setSpan(ROOT_CONTEXT, this.#span), name, options, []);
    // A sampler that decides by the trace decides the same for all of its spans.
    return child ?? this;
  }

  set(name: string, value: AttributeValue): void {
    this.#span.setAttribute(name, value as never);
  }

  fail(type: string): void {
    this.#span.setAttribute('error.type', type);
    this.#span.setStatus({ code: SpanStatusCode.ERROR });
  }

  end(): void {
    this.#span.end();
  }
}

/** Starts the spans from which the work of this process descends (docs/design/operations.md#traces). */

import type { TracingSettings } from './settings.ts';
import { type Attributes, ended, followContext, type Span, type SpanKind, type SpanOptions, within } from './span.ts';
import type { TraceContext } from './traceparent.ts';

export interface Tracer {
  /** False: it never starts a span, and nothing needs to ask it. */
  readonly isOn: boolean;
  /**
   * Starts a trace, unless it is not sampled.
   * @param caller a context that the caller sent. It is linked and neither continued nor trusted
   */
  begin(name: string, options: SpanOptions, caller?: TraceContext | null): Span | undefined;
  /** Continues the trace of an event; undefined if the event has none, or it is not sampled here. */
  resume(name: string, traceparent: string | undefined, options: SpanOptions): Span | undefined;
  /** Sends what is left, for a limited time. */
  stop(): Promise<void>;
}

/** The tracer of a service that exports no traces. */
export const NO_TRACES: Tracer = {
  isOn: false,
  begin: () => undefined,
  resume: () => undefined,
  stop: () => Promise.resolve(),
};

export interface TracerLog {
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
}

export interface TracerOptions {
  readonly settings: TracingSettings | null;
  readonly version: string;
  /** Names this process among others of the service. */
  readonly instance: string;
  readonly logger: TracerLog;
  /** How long a finished span may wait for others of its batch, milliseconds; `SEND_EVERY_MS` if omitted. */
  readonly sendEveryMs?: number;
}

/** OpenTelemetry is loaded only here, and only where traces are exported. */
export async function createTracer({ settings, ...rest }: TracerOptions): Promise<Tracer> {
  if (settings === null) return NO_TRACES;
  const { createOpenTelemetryTracer } = await import('./open-telemetry.ts');
  await followContext();
  return createOpenTelemetryTracer({ settings, ...rest });
}

/**
 * Runs what follows from an event in the event's trace. Without a trace it runs in none, even if the process that
 * follows the log was woken by a traced append.
 */
export function continuing<Result>(
  tracer: Tracer,
  name: string,
  traceparent: string | undefined,
  work: () => Promise<Result>,
  { kind = 'internal', attributes }: { readonly kind?: SpanKind; readonly attributes?: Attributes } = {},
): Promise<Result> {
  if (!tracer.isOn) return work();
  const span = tracer.resume(name, traceparent, { kind, attributes });
  return span === undefined ? within(undefined, work) : ended(span, work);
}

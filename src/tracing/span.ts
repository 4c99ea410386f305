/**
 * Spans of the work that runs now. Nothing here loads OpenTelemetry: `tracer.ts` starts the first span of a piece of work,
 * and all below it only extend the span that is active. Without one, work runs as if this file did not exist.
 */
import type { AsyncLocalStorage } from 'node:async_hooks';

export type AttributeValue = string | number | boolean | readonly string[];
export type Attributes = Readonly<Record<string, AttributeValue>>;
export type SpanKind = 'internal' | 'server' | 'client' | 'consumer';

export interface SpanOptions {
  readonly kind?: SpanKind;
  readonly attributes?: Attributes | undefined;
}

/** A span that is exported when it ends. Spans of traces that are not exported do not exist. */
export interface Span {
  /** Names it in the metadata of events (`00-TRACE-SPAN-01`). */
  readonly traceparent: string;
  child(name: string, options: SpanOptions): Span;
  set(name: string, value: AttributeValue): void;
  /** @param type a code from a list, never a message: those may contain URLs and content */
  fail(type: string): void;
  end(): void;
}

/** Null until the first tracer of this process is made: until then not even the asynchronous context is followed. */
let active: AsyncLocalStorage<Span | undefined> | null = null;

/** Called when a tracer is made. */
export const followContext = async (): Promise<void> => {
  const { AsyncLocalStorage } = await import('node:async_hooks');
  active ??= new AsyncLocalStorage();
};

/** Of the span that is active; undefined without one. */
export const currentTraceparent = (): string | undefined => active?.getStore()?.traceparent;

/** Adds to the span that is active. */
export const annotate = (name: string, value: AttributeValue): void => active?.getStore()?.set(name, value);

/** Marks the span that is active as failed, where the failure is no error but a result. @param type as of `fail` */
export const failed = (type: string): void => active?.getStore()?.fail(type);

/** Runs work in a span, or outside of any: it must not join the trace of the work that happened to start it. */
export const within = <Result>(span: Span | undefined, work: () => Result): Result =>
  active === null ? work() : active.run(span, work);

/** Runs work in a new span below the active one; without one, just runs it. */
export function inSpan<Result>(
  name: string,
  work: () => Promise<Result>,
  options: () => SpanOptions = NO_OPTIONS,
): Promise<Result> {
  const parent = active?.getStore();
  return parent === undefined ? work() : ended(parent.child(name, options()), work);
}

/** Runs work in a span that ends with it. */
export function ended<Result>(span: Span, work: () => Promise<Result>): Promise<Result> {
  return within(span, async () => {
    try {
      return await work();
    } catch (error) {
      span.fail(errorTypeOf(error));
      throw error;
    } finally {
      span.end();
    }
  });
}

const NONE: SpanOptions = {};
const NO_OPTIONS = () => NONE;

/** `error.type` of OpenTelemetry: the code of the error, otherwise its class. */
function errorTypeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  return 'code' in error && (typeof error.code === 'string' || typeof error.code === 'number')
    ? String(error.code)
    : error.name;
}

/** `server.address` and `server.port` of a host with a port, as `URL.host` gives it. */
export function serverOf(host: string): Attributes {
  const [, address = host, port] = /^(.*?)(?::(\d+))?$/.exec(host) ?? [];
  return port === undefined
    ? { 'server.address': address }
    : { 'server.address': address, 'server.port': Number(port) };
}

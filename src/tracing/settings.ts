/** Where traces go, read from the variables that OpenTelemetry names (docs/operating.md, *Traces*). */
import { parseUrl } from '../runtime/parse-url.ts';
import type { Attributes } from './span.ts';

export const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

export type SamplerName = (typeof SAMPLERS)[number];

export interface TracingSettings {
  /** Where spans are posted to. */
  readonly url: string;
  /** They may contain a key. */
  readonly headers: Readonly<Record<string, string>>;
  readonly serviceName: string;
  readonly resource: Attributes;
  readonly sampler: SamplerName;
  /** Of traces that are exported, 0 to 1, for the samplers by ratio. */
  readonly ratio: number;
}

export const DEFAULT_SERVICE_NAME = 'docket-monitor';
const SIGNAL_PATH = 'v1/traces';

/** Where spans go if one endpoint receives all kinds of signals. */
function tracesUrlUnder(endpoint: string): string {
  const url = new URL(endpoint);
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/${SIGNAL_PATH}`;
  return url.href;
}

/** A URL that spans can be posted to. Credentials belong in the headers, which are masked. */
export function isEndpoint(text: string): boolean {
  const url = parseUrl(text);
  if (url === null) return false;
  const { protocol, username, password, search, hash } = url;
  return /^https?:$/.test(protocol) && !username && !password && !search && !hash;
}

const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const ATTRIBUTE_NAME = /^[!-~]{1,256}$/;
/** What a header may contain: visible ASCII and spaces. */
const HEADER_VALUE = /^[\x20-\x7e]+$/;

/** `key=value,key=value` with percent-encoded values; null if it has another form. */
function pairsOf(text: string): readonly (readonly [name: string, value: string])[] | null {
  const pairs: (readonly [string, string])[] = [];
  for (const item of text.split(',')) {
    if (item.trim() === '') continue;
    const at = item.indexOf('=');
    if (at < 1) return null;
    try {
      pairs.push([item.slice(0, at).trim(), decodeURIComponent(item.slice(at + 1).trim())]);
    } catch {
      return null;
    }
  }
  return pairs;
}

/** Headers by lower-case name; null if the text is not a list of headers. */
export function readHeaders(text: string): Readonly<Record<string, string>> | null {
  const pairs = pairsOf(text);
  if (pairs === null || !pairs.every(([name, value]) => NAME.test(name) && HEADER_VALUE.test(value))) return null;
  return Object.fromEntries(pairs.map(([name, value]) => [name.toLowerCase(), value]));
}

/** Attributes of the service; null if the text is not a list of them. */
export function readResource(text: string): Readonly<Record<string, string>> | null {
  const pairs = pairsOf(text);
  return pairs === null || !pairs.every(([name]) => ATTRIBUTE_NAME.test(name)) ? null : Object.fromEntries(pairs);
}

/** The variables as they were read, each valid by itself. */
export interface TracingValues {
  readonly OTEL_SDK_DISABLED: boolean;
  readonly OTEL_EXPORTER_OTLP_ENDPOINT?: string | undefined;
  readonly OTEL_EXPORTER_OTLP_TRACES_ENDPOINT?: string | undefined;
  readonly OTEL_EXPORTER_OTLP_HEADERS: Readonly<Record<string, string>>;
  readonly OTEL_SERVICE_NAME: string;
  readonly OTEL_RESOURCE_ATTRIBUTES: Readonly<Record<string, string>>;
  readonly OTEL_TRACES_SAMPLER: SamplerName;
  readonly OTEL_TRACES_SAMPLER_ARG: number;
}

/** Null: no traces. */
export function tracingOf(values: TracingValues): TracingSettings | null {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: own } = values;
  if (values.OTEL_SDK_DISABLED || (endpoint === undefined && own === undefined)) return null;
  return {
    url: own ?? tracesUrlUnder(endpoint ?? ''),
    headers: values.OTEL_EXPORTER_OTLP_HEADERS,
    serviceName: values.OTEL_SERVICE_NAME,
    resource: values.OTEL_RESOURCE_ATTRIBUTES,
    sampler: values.OTEL_TRACES_SAMPLER,
    ratio: values.OTEL_TRACES_SAMPLER_ARG,
  };
}

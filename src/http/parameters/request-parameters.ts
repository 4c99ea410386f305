/** The parts of a request that all endpoints share: names, repetitions, encodings, the tag, the sandbox. */
import type { IncomingHttpHeaders } from 'node:http';
import { nearestName } from '../nearest-name.ts';
import { MAX_TAG_LENGTH, REQUEST_HEADERS } from './described-parameters.ts';
import { echo, type Issue } from './issues.ts';
import { type Query, type QueryValue, readQuery } from './query-string.ts';

/** Most unknown names that are listed, so that an error is not larger than its request; the rest are counted. */
const MAX_UNKNOWN_LISTED = 20;

interface RequestContent {
  readonly headers: IncomingHttpHeaders;
  /** Its bytes, or an already parsed value; undefined if there is none. */
  readonly body?: unknown;
}

/** A request whose parameters are the query string of its target. */
export interface TargetedRequest extends RequestContent {
  readonly url: string;
}

/** A call whose parameters are already parsed: a call of a tool. */
export interface CallRequest extends RequestContent {
  readonly parameters: Query;
}

/** A request as sent, by any transport. */
export type SentRequest = TargetedRequest | CallRequest;

/** The parameters of a request, by name. */
export const queryOf = (request: SentRequest): Query =>
  'parameters' in request ? request.parameters : readQuery(request.url);

export interface RequestParameters {
  /** By name: values that were sent once, are well-formed and have a known name. */
  readonly values: ReadonlyMap<string, string>;
  readonly tag: string | null;
  readonly sandbox: boolean;
  readonly issues: readonly Issue[];
}

/** How version 1 differs. */
export interface ReadingOptions {
  /** Names that may be sent several times. They are checked but not in `values`: the endpoint reads them itself. */
  readonly repeatable?: readonly string[];
  /** Whether `test` is a known parameter. */
  readonly sandbox?: boolean;
}

/** Reads the query and the headers that every paid endpoint shares. `known` does not include `test`. */
export function readRequestParameters(
  request: SentRequest,
  known: readonly string[],
  { repeatable = [], sandbox: hasSandbox = true }: ReadingOptions = {},
): RequestParameters {
  const query = queryOf(request);
  const once = hasSandbox ? [...known, 'test'] : known;
  const values = new Map<string, string>();
  const issues: Issue[] = [];
  for (const name of once) {
    const fault = faultOf(name, query.get(name) ?? []);
    const [value] = query.get(name) ?? [];
    if (fault) issues.push(fault);
    else if (value) values.set(name, value.text);
  }
  for (const name of repeatable) {
    const faults = (query.get(name) ?? []).flatMap((value) => faultOf(name, [value]) ?? []);
    issues.push(...faults.slice(0, 1));
  }
  issues.push(...unknownNames(query, [...once, ...repeatable]));
  const tag = readTag(request);
  issues.push(...tagIssues(tag));
  return { values, tag, sandbox: asksForSandbox(request, values), issues };
}

/** Whether `X-Service-Test: 1` was sent. A header that was sent twice arrives as a list. */
export const hasSandboxHeader = ({ headers }: SentRequest): boolean =>
  headers['x-service-test']
    ?.toString()
    .split(',')
    .some((value) => value.trim() === '1') ?? false;

function tagIssues(tag: string | null): readonly Issue[] {
  if (tag === null || [...tag].length <= MAX_TAG_LENGTH) return [];
  return [
    {
      parameter: 'X-Service-Tag',
      code: 'invalid_parameter',
      received: echo(tag),
      rule: `At most ${MAX_TAG_LENGTH} characters.`,
      example: REQUEST_HEADERS['X-Service-Tag'].example,
    },
  ];
}

/**
 * A request without parameters: x402 crawlers use it to learn the terms of an endpoint
 * (docs/design/request-checks.md#parameters-before-payment). A request with an invalid tag is not bare, so it is not
 * asked to pay.
 */
export const isBareRequest = (request: SentRequest): boolean =>
  queryOf(request).size === 0 &&
  !hasSandboxHeader(request) &&
  tagIssues(readTag(request)).length === 0 &&
  !hasBody(request);

const hasBody = ({ headers }: SentRequest): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

/** Only `test=1` or `X-Service-Test: 1` enables the sandbox (docs/design/interface.md#sandbox). */
const asksForSandbox = (request: SentRequest, values: ReadonlyMap<string, string>): boolean =>
  values.get('test') === '1' || hasSandboxHeader(request);

function faultOf(name: string, values: readonly QueryValue[]): Issue | null {
  const [value] = values;
  const fault = (received: string, rule: string): Issue => ({
    parameter: name,
    code: 'invalid_parameter',
    received: echo(received),
    rule,
    example: null,
  });
  if (!value) return null;
  if (values.length > 1) {
    const received = values.map(({ text }) => `${name}=${text}`).join('&');
    const list = name === 'filing_types' ? ' Separate its types by commas: motion,order.' : '';
    return fault(received, `Send this parameter once; it was sent ${values.length} times.${list}`);
  }
  if (!value.wellFormed) return fault(value.text, 'Percent-encode the value as UTF-8.');
  if (/\p{Cc}/u.test(value.text)) return fault(value.text, 'No control characters.');
  return null;
}

function unknownNames(query: Query, known: readonly string[]): Issue[] {
  const unknown = [...query.keys()].filter((name) => !known.includes(name));
  const issues = unknown.slice(0, MAX_UNKNOWN_LISTED).map((name): Issue => {
    const suggestion = nearestName(name.replace(/\[.*$/s, ''), known);
    const meant = suggestion === null ? `Use one of ${known.join(', ')}.` : `Did you mean ${suggestion}?`;
    return {
      parameter: echo(name),
      code: 'invalid_parameter',
      received: echo(query.get(name)?.[0]?.text ?? ''),
      rule: `Unknown parameter. ${meant}`,
      example: suggestion,
    };
  });
  if (unknown.length > MAX_UNKNOWN_LISTED) {
    issues.push({
      parameter: '…',
      code: 'invalid_parameter',
      received: null,
      rule: `${unknown.length - MAX_UNKNOWN_LISTED} more unknown parameters are not listed.`,
      example: null,
    });
  }
  return issues;
}

/** `X-Service-Tag` as sent: Node gives its bytes as Latin-1, but most callers send UTF-8. */
export function readTag({ headers }: SentRequest): string | null {
  const header = headers['x-service-tag'];
  if (header === undefined) return null;
  const bytes = Buffer.from(header.toString(), 'latin1');
  const text = bytes.toString('utf8');
  return text.includes('\ufffd') ? bytes.toString('latin1') : text;
}

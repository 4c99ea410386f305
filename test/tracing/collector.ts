/** A collector of traces that speaks OTLP over HTTP in JSON, and behaves badly on request. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

type Value = { readonly [kind: string]: unknown };
interface Attribute {
  readonly key: string;
  readonly value: Value;
}

/** One span as it was sent, with its attributes by name. */
export interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for the first span of a trace. */
  readonly parentSpanId: string;
  readonly name: string;
  readonly kind: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly isFailed: boolean;
  readonly resource: Readonly<Record<string, unknown>>;
}

export interface Collector {
  readonly url: string;
  readonly spans: readonly CollectedSpan[];
  /** Every body, as it was sent. */
  readonly bodies: readonly string[];
  readonly headers: readonly IncomingHttpHeaders[];
  readonly requests: number;
  /** From now on; `hang` never answers. */
  behave(how: 'take' | 'fail' | 'hang'): void;
  close(): Promise<void>;
}

export async function openCollector(): Promise<Collector> {
  const spans: CollectedSpan[] = [];
  const bodies: string[] = [];
  const headers: IncomingHttpHeaders[] = [];
  let behaviour: 'take' | 'fail' | 'hang' = 'take';
  let requests = 0;
  const answer = (url: string | undefined, body: string, response: ServerResponse) => {
    if (url !== '/v1/traces') return response.writeHead(404).end();
    requests += 1;
    if (behaviour === 'hang') return;
    if (behaviour === 'fail') return response.writeHead(500).end('S3CR3T of the collector');
    bodies.push(body);
    spans.push(...spansIn(body));
    return response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  };
  const server = createServer(async (request, response) => {
    headers.push(request.headers);
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    answer(request.url, Buffer.concat(parts).toString(), response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    bodies,
    headers,
    get requests() {
      return requests;
    },
    behave(how) {
      behaviour = how;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function spansIn(body: string): readonly CollectedSpan[] {
  const { resourceSpans } = JSON.parse(body);
  const found: CollectedSpan[] = [];
  for (const { resource, scopeSpans } of resourceSpans) {
    for (const { spans } of scopeSpans) {
      for (const { traceId, spanId, parentSpanId = '', name, kind, attributes, links, status } of spans) {
        found.push({
          traceId,
          spanId,
          parentSpanId,
          name,
          kind,
          attributes: valuesOf(attributes),
          links: links ?? [],
          isFailed: status?.code === 2,
          resource: valuesOf(resource.attributes),
        });
      }
    }
  }
  return found;
}

const valuesOf = (attributes: readonly Attribute[] = []): Readonly<Record<string, unknown>> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, attributeOf(value)]));

function attributeOf(value: Value): unknown {
  const [[kind, held] = []] = Object.entries(value);
  if (kind === 'arrayValue') return (held as { readonly values: readonly Value[] }).values.map(attributeOf);
  return kind === 'intValue' ? Number(held) : held;
}

/** Whether the parent of every span has arrived too, and so has a span of that name. */
export function hasTree(spans: readonly CollectedSpan[], name: string): boolean {
  const ids = new Set(spans.map(({ spanId }) => spanId));
  return (
    spans.some((span) => span.name === name) &&
    spans.every(({ parentSpanId }) => parentSpanId === '' || ids.has(parentSpanId))
  );
}

/** Fails unless the spans are one tree. Returns the names from each span up to the root. */
export function branchesOf(spans: readonly CollectedSpan[]): readonly string[] {
  const byId = new Map(spans.map((span) => [span.spanId, span]));
  return spans.map((span) => {
    const names: string[] = [];
    for (let each: CollectedSpan | undefined = span; each; each = byId.get(each.parentSpanId)) {
      names.push(each.name);
      if (each.parentSpanId === '') return names.join(' < ');
    }
    throw new Error(`the parent of ${names.join(' < ')} is missing`);
  });
}

/**
 * Checks answers against the generated OpenAPI document: the status and its code must be listed, documented headers
 * must be well-formed, and a body must match its schema, with no member that is not in the schema.
 */
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { ERROR_CATALOGUE, type ErrorCode } from '../../src/errors.ts';
import { componentSchemas } from '../../src/http/openapi/components.ts';
import { openApiDocument } from '../../src/http/openapi/document.ts';
import { RESPONSE_HEADERS } from '../../src/http/openapi/headers.ts';
import { pathOf } from '../../src/http/route-table.ts';

export interface SeenAnswer {
  readonly method: string;
  readonly target: string;
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

// biome-ignore lint/suspicious/noExplicitAny: a document is read as it comes
type Any = any;

/** Paths under which every answer is documented. */
const OURS = /^\/(v1|v2|docs|openapi\.json|llms\.txt|\.well-known)(\/|$)/;

const published: Any = openApiDocument('https://dockets.example');
/**
 * With every component: the published document has only those that an operation refers to, and errors may occur
 * anywhere.
 */
const document: Any = closed(
  JSON.parse(
    JSON.stringify({
      ...published,
      components: { ...published.components, schemas: componentSchemas(), headers: RESPONSE_HEADERS },
    }),
  ),
);
const ajv = new Ajv2020({ strict: false, allErrors: true, discriminator: false });
(addFormats as unknown as (ajv: Ajv2020) => void)(ajv);
ajv.addSchema({ ...document, $id: 'openapi' });
const validators = new Map<string, ValidateFunction>();

/** Every object accepts the members that it names and no others. */
function closed(node: Any): Any {
  if (Array.isArray(node)) return node.map(closed);
  if (typeof node !== 'object' || node === null) return node;
  const copy = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, closed(value)]));
  if (copy.type === 'object' && copy.properties && copy.additionalProperties === undefined) {
    copy.additionalProperties = false;
  }
  return copy;
}

function validatorAt(pointer: string): ValidateFunction {
  const known = validators.get(pointer) ?? ajv.compile({ $ref: `openapi#${pointer}` });
  validators.set(pointer, known);
  return known;
}

const escaped = (key: string): string => encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'));

const PATTERNS = Object.keys(document.paths).map((path) => ({
  path,
  pattern: new RegExp(`^${path.replace(/[.]/g, '\\.').replace(/\{[^}]+\}/g, '[^/]+')}$`),
}));

/** On the admin port: for operators, and not part of the document. */
const FOR_OPERATORS = ['/healthz', '/readyz', '/metrics'];

/**
 * What is wrong with an answer; empty if everything is as documented.
 * @param ownRoutes whether a test serves its own routes at documented addresses: their successful answers are not
 *   checked, and a missing route is not an error
 */
export function violationsOf(answer: SeenAnswer, ownRoutes = false): string[] {
  const path = plain(pathOf(answer.target));
  const { method, status } = answer;
  if (FOR_OPERATORS.includes(path) || (ownRoutes && status === 200)) return [];
  if (method === 'OPTIONS' && status === 204) return [];
  const found = PATTERNS.find(({ pattern }) => pattern.test(path));
  const operation = found && document.paths[found.path][(method === 'HEAD' ? 'GET' : method).toLowerCase()];
  const nowhere = ownRoutes && codeOf(answer) === 'endpoint_not_found';
  const faults =
    operation && !(method === 'HEAD' && status === 405) && !nowhere
      ? operationFaults(answer, found.path, method === 'HEAD' ? 'get' : method.toLowerCase(), operation)
      : strayFaults(answer, path);
  return faults.map((fault) => `${method} ${answer.target.slice(0, 120)} → ${status}: ${fault}`);
}

function plain(path: string): string {
  try {
    const decoded = decodeURI(path);
    // A trailing slash makes no difference here; everywhere else it is another address.
    return decoded === '/v2/mcp/' ? '/v2/mcp' : decoded;
  } catch {
    return path;
  }
}

function operationFaults(answer: SeenAnswer, path: string, method: string, operation: Any): string[] {
  const listed = operation.responses[answer.status];
  if (!listed) return [`the document lists no ${answer.status} for it: ${textOf(answer).slice(0, 300)}`];
  const faults = headerFaults(answer);
  for (const name of MANDATORY[answer.status] ?? []) {
    if (listed.headers[name] && answer.headers[name.toLowerCase()] === undefined) faults.push(`lacks ${name}`);
  }
  if (answer.method === 'HEAD') return faults;
  if (!listed.content) {
    if (answer.body.length) faults.push('has a body, but the document says that it has none');
    return faults;
  }
  const type = answer.headers['content-type']?.split(';')[0] ?? '';
  if (!listed.content[type]) return [...faults, `is ${type}; documented is ${Object.keys(listed.content)}`];
  if (type !== 'application/json') return faults;
  const pointer = ['', 'paths', path, method, 'responses', String(answer.status), 'content', type, 'schema'];
  return [...faults, ...bodyFaults(answer, pointer.map(escaped).join('/'))];
}

/** Headers without which an answer of this status is useless to its client. */
const MANDATORY: Readonly<Record<number, readonly string[]>> = {
  202: ['Retry-After'],
  304: ['ETag'],
  402: ['PAYMENT-REQUIRED', 'X-Payment-Requirements'],
  429: ['Retry-After'],
};

/** An answer to a request that no endpoint handles: the error object of a code that matches its status. */
function strayFaults(answer: SeenAnswer, path: string): string[] {
  const { status, method, headers } = answer;
  if (!OURS.test(path) && status < 400) return [];
  if (status === 308 && headers.location) return headerFaults(answer);
  if (status < 400) return ['nothing is documented at this address'];
  if (method === 'HEAD') return headerFaults(answer);
  const code = codeOf(answer);
  if (code === null)
    return path === '/v2/mcp' ? [] : [`is not an error of the catalogue: ${textOf(answer).slice(0, 300)}`];
  const faults = headerFaults(answer);
  if (ERROR_CATALOGUE[code].status !== status) faults.push(`${code} has the status ${ERROR_CATALOGUE[code].status}`);
  if (code === 'method_not_allowed' && !headers.allow) faults.push('lacks Allow');
  return [
    ...faults,
    ...bodyFaults(answer, `/components/schemas/${/^\/v1(\/|$)/.test(path) ? 'V1' : ''}${nameOf(code)}`),
  ];
}

const nameOf = (code: string): string =>
  `${code.replace(/(^|_)(.)/g, (_whole, _gap, letter: string) => letter.toUpperCase())}Error`;

function codeOf(answer: SeenAnswer): ErrorCode | null {
  try {
    const { code } = JSON.parse(textOf(answer)).error;
    return code in ERROR_CATALOGUE ? (code as ErrorCode) : null;
  } catch {
    return null;
  }
}

function headerFaults({ headers }: SeenAnswer): string[] {
  const faults: string[] = [];
  if (headers['x-request-id'] === undefined) faults.push('lacks X-Request-Id');
  for (const name of Object.keys(document.components.headers)) {
    const value = headers[name.toLowerCase()];
    if (value === undefined) continue;
    const validate = validatorAt(`/components/headers/${escaped(name)}/schema`);
    const read = document.components.headers[name].schema.type === 'integer' ? Number(value) : value;
    if (!validate(read)) faults.push(`${name}: ${value} ${ajv.errorsText(validate.errors)}`);
  }
  return faults;
}

function bodyFaults(answer: SeenAnswer, pointer: string): string[] {
  const validate = validatorAt(pointer);
  let body: unknown;
  try {
    body = JSON.parse(textOf(answer));
  } catch {
    return ['is not JSON'];
  }
  if (validate(body)) return [];
  const errors = (validate.errors ?? []).slice(-12);
  return [
    `${errors.map((e) => `${e.instancePath} ${e.message} ${JSON.stringify(e.params)}`).join('; ')} in ${textOf(answer).slice(0, 400)}`,
  ];
}

function textOf({ headers, body }: SeenAnswer): string {
  const coding = headers['content-encoding'];
  const bytes = coding === 'br' ? brotliDecompressSync(body) : coding === 'gzip' ? gunzipSync(body) : body;
  return bytes.toString('utf8');
}

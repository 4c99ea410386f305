/** `/docs/reference`: every endpoint with its parameters, answers and errors, from the data of the OpenAPI document. */
import { ERROR_CATALOGUE, type ErrorCode, statusOf } from '../../errors.ts';
import type { Json, JsonObject } from '../../events/event.ts';
import { componentSchemas, schemaName } from '../openapi/components.ts';
import { RESPONSE_HEADERS } from '../openapi/headers.ts';
import type { Operation } from '../openapi/operation.ts';
import { OPERATIONS } from '../openapi/operations.ts';
import { PARAMETERS, REQUEST_HEADERS } from '../parameters/described-parameters.ts';

/** Schemas of errors, which the errors page describes. */
const ELSEWHERE = /Error$|^V1|PaymentRe(quired|jected)|SettlementFailed/;

/** Markdown. */
export function referenceText(publicUrl: string): string {
  const tags = [...new Set(OPERATIONS.map(({ tag }) => tag))];
  return `# Reference

Every endpoint of \`${publicUrl}\`, its parameters and its answers, from the same data as [the OpenAPI document](/openapi.json). Times are ISO-8601 with an offset, in UTC. Answers may gain fields; ignore fields that you do not recognize.

${tags.map(section).join('\n\n')}

## Payment headers

Send a payment in any one of these headers; see [how to create it](/docs/payments).

| Header | |
| --- | --- |
| \`PAYMENT-SIGNATURE\` | x402 v2 |
| \`X-PAYMENT\` | x402 v1 |
| \`X402-Payment\` | self-paid transfer |

## Answer headers

${table(
  ['Header', 'Meaning'],
  Object.entries(RESPONSE_HEADERS).map(([name, { description }]) => [`\`${name}\``, description]),
)}

## Objects

${schemas()}
`;
}

const section = (tag: Operation['tag']): string =>
  [`## ${tag}`, ...OPERATIONS.filter((operation) => operation.tag === tag).map(endpoint)].join('\n\n');

function endpoint(operation: Operation): string {
  const { method, path, id, summary, description, price, body } = operation;
  const cost = price === null ? 'Free' : id === 'postCasesBatch' ? `${price} USD for each query` : `${price} USD`;
  const blocks = [
    `### \`${method.toUpperCase()} ${path}\` {#${id}}`,
    `**${summary}.** ${cost}.${description ? ` ${description}` : ''}`,
    parametersOf(operation),
    body ? `Body:\n\n\`\`\`json\n${JSON.stringify(body.example, null, 2)}\n\`\`\`` : '',
    `Answer: ${answerOf(operation)}${operation.pending ? ' Or `202` while the payment is not settled: [fetch the answer later](/docs/results).' : ''}`,
    refusalsOf(operation),
  ];
  return blocks.filter((block) => block !== '').join('\n\n');
}

function parametersOf({
  required = [],
  optional = [],
  otherwise = [],
  requestHeaders = [],
  inPath = {},
}: Operation): string {
  const rows = [
    ...Object.entries(inPath).map(([name, meaning]) => [`\`${name}\``, 'in the path', meaning]),
    ...required.map((name) => [`\`${name}\``, 'required', PARAMETERS[name].description]),
    ...optional.map((name) => [`\`${name}\``, 'optional', PARAMETERS[name].description]),
    ...otherwise.map(({ name, description, required: must }) => [
      `\`${name}\``,
      must ? 'required' : 'optional',
      description,
    ]),
    ...requestHeaders.map((name) => [`\`${name}\``, 'header', REQUEST_HEADERS[name].description]),
  ];
  return rows.length ? table(['Parameter', '', 'Meaning'], rows) : '';
}

function answerOf({ success: { content } }: Operation): string {
  if ('schema' in content) {
    const name = schemaName(content.schema);
    return name === null || ELSEWHERE.test(name) ? 'JSON.' : `[${name}](#${anchorOf(name)}).`;
  }
  return 'schemas' in content ? 'the paid answer, byte for byte.' : `\`${content.type}\`.`;
}

function refusalsOf({ errors }: Operation): string {
  const codes = (Object.keys(ERROR_CATALOGUE) as ErrorCode[]).filter((code) => errors.includes(code));
  return `Errors: ${codes.map((code) => `${statusOf(code)} [\`${code}\`](/docs/errors#${code})`).join(', ')}.`;
}

const anchorOf = (schema: string): string => `object-${schema}`;

function schemas(): string {
  const all = componentSchemas();
  return Object.entries(all)
    .filter(([name]) => !ELSEWHERE.test(name))
    .map(([name, schema]) => {
      const parts = [`### ${name} {#${anchorOf(name)}}`, String(schema.description ?? '')];
      const alternatives = (schema.anyOf as readonly JsonObject[] | undefined) ?? [schema];
      for (const each of alternatives) parts.push(each.$ref === undefined ? fieldsOf(each) : `- ${typeOf(each)}`);
      return parts.filter((part) => part !== '').join('\n\n');
    })
    .join('\n\n');
}

function fieldsOf({ properties, required = [] }: JsonObject): string {
  const rows = Object.entries((properties ?? {}) as Readonly<Record<string, JsonObject>>).map(([name, schema]) => [
    `\`${name}\``,
    `${typeOf(schema)}${(required as readonly string[]).includes(name) ? '' : ', optional'}`,
    String(schema.description ?? ''),
  ]);
  return rows.length ? table(['Field', 'Type', 'Meaning'], rows) : '';
}

function typeOf(schema: JsonObject): string {
  if (typeof schema.$ref === 'string') {
    const name = schema.$ref.split('/').at(-1) ?? '';
    return ELSEWHERE.test(name) ? '[error](/docs/errors)' : `[${name}](#${anchorOf(name)})`;
  }
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``;
  if (Array.isArray(schema.enum)) return schema.enum.map((value: Json) => `\`${String(value)}\``).join(' \\| ');
  if (Array.isArray(schema.anyOf)) {
    const types = [...new Set((schema.anyOf as readonly JsonObject[]).map(typeOf))];
    return types.length > 3 ? '[error](/docs/errors)' : types.join(' or ');
  }
  if (schema.type === 'array') return `list of ${typeOf((schema.items ?? {}) as JsonObject)}`;
  if (schema.format === 'date-time') return 'time';
  if (schema.type === 'object' && schema.properties) {
    const names = Object.keys(schema.properties);
    return `{${names.map((name) => `\`${name}\``).join(', ')}}`;
  }
  return String(schema.type ?? 'any');
}

/** Table rows must be one line, and an unescaped bar would end a cell. */
const cell = (text: string): string => text.replace(/\n+/g, ' ').replace(/(?<!\\)\|/g, '\\|');

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((row) => `| ${row.map(cell).join(' | ')} |`).join('\n');

/**
 * The parameters of a tool: one table that defines its input schema and parses its arguments. Parsing is lenient if the
 * meaning is certain; otherwise it reports all errors at once.
 */
import type { Json, JsonObject } from '../../events/event.ts';
import { parsedJson } from '../../runtime/parsed-json.ts';
import { nearestName } from '../nearest-name.ts';
import { missing } from '../parameters/case-query.ts';
import { echo, type Issue } from '../parameters/issues.ts';

export interface Parameter {
  readonly type: 'string' | 'boolean' | 'integer' | 'queries';
  readonly description: string;
  readonly required?: true;
  /** A comma-separated text that may also be sent as a list, as models often do. */
  readonly listed?: true;
  /** The accepted values, for the schema and hints; the tool validates them itself. */
  readonly values?: readonly string[];
  readonly default?: string | boolean | number;
  /** A realistic value, shown in errors. */
  readonly example: string;
}

export type Parameters = Readonly<Record<string, Parameter>>;

export type Query = Readonly<Record<string, unknown>>;
export type Argument = string | boolean | number | readonly Query[];

export interface ReadArguments {
  /** The arguments that have the right type. */
  readonly values: ReadonlyMap<string, Argument>;
  readonly issues: readonly Issue[];
}

/** At most this many unknown names are listed, so that an answer is not larger than its request. */
const MAX_UNKNOWN_LISTED = 20;

/** The input schema: one flat object. */
export function inputSchemaOf(parameters: Parameters, queryParameters: Parameters = {}): JsonObject {
  const properties = Object.entries(parameters).map(([name, parameter]): [string, Json] => [
    name,
    parameter.type === 'queries'
      ? { type: 'array', description: parameter.description, items: objectSchema(queryParameters) }
      : propertySchema(parameter),
  ]);
  return { ...objectSchema(parameters), properties: Object.fromEntries(properties) };
}

function objectSchema(parameters: Parameters): JsonObject {
  const required = Object.entries(parameters).flatMap(([name, parameter]) => (parameter.required ? [name] : []));
  const properties = Object.entries(parameters).map(([name, parameter]) => [name, propertySchema(parameter)]);
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(required.length ? { required } : {}),
    additionalProperties: false,
  };
}

const propertySchema = ({ type, description, values, default: preset }: Parameter): JsonObject => ({
  type,
  description,
  ...(values ? { enum: values } : {}),
  ...(preset === undefined ? {} : { default: preset }),
});

/** Parses the arguments of a caller. Null counts as omitted. */
export function readArguments(parameters: Parameters, sent: Readonly<Record<string, unknown>>): ReadArguments {
  const values = new Map<string, Argument>();
  const issues: Issue[] = [];
  for (const [name, parameter] of Object.entries(parameters)) {
    const given = Object.hasOwn(sent, name) ? sent[name] : undefined;
    if (given === undefined || given === null) {
      if (parameter.required) issues.push(missing(name, null, parameter.example));
      continue;
    }
    const value = readers[parameter.type](parameter.listed ? joined(given) : given);
    if (value === null) issues.push(wrongType(name, parameter, given));
    else values.set(name, value);
  }
  issues.push(...unknownNames(parameters, sent));
  return { values, issues };
}

const readers: Readonly<Record<Parameter['type'], (given: unknown) => Argument | null>> = {
  // An unpaired surrogate cannot be encoded in UTF-8.
  string: (given) => (typeof given === 'string' && !/\p{Surrogate}/u.test(given) ? given : null),
  boolean: (given) => (typeof given === 'boolean' ? given : (BOOLEANS[String(given)] ?? null)),
  integer: (given) => {
    const number = typeof given === 'string' && /^-?\d{1,9}$/.test(given.trim()) ? Number(given) : given;
    return typeof number === 'number' && Number.isSafeInteger(number) ? number : null;
  },
  // Some models send nested arguments as text.
  queries: (given) => {
    const list = typeof given === 'string' ? parsedJson(given) : given;
    return Array.isArray(list) && list.every(isObject) ? list : null;
  },
};

const BOOLEANS: Readonly<Record<string, boolean>> = { true: true, false: false };

const isObject = (value: unknown): value is Query =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const TYPE_RULES: Readonly<Record<Parameter['type'], string>> = {
  string: 'A text (a JSON string of well-formed Unicode).',
  boolean: 'true or false.',
  integer: 'A whole number.',
  queries: 'A JSON array of objects, each one query with case_id and court_code.',
};

const wrongType = (name: string, { type, example, listed }: Parameter, given: unknown): Issue => ({
  parameter: name,
  code: type === 'queries' ? 'invalid_batch_request' : 'invalid_parameter',
  received: shown(given),
  rule: listed ? 'A text with commas between the types, or a list of texts.' : TYPE_RULES[type],
  example,
});

/** Joins a list of texts into one; returns anything else unchanged. */
export const joined = (given: unknown): unknown =>
  Array.isArray(given) && given.length > 0 && given.every((each) => typeof each === 'string') ? given.join(',') : given;

/** A sent value for display, shortened. */
const shown = (given: unknown): string => echo(typeof given === 'string' ? given : JSON.stringify(given));

function unknownNames(parameters: Parameters, sent: Readonly<Record<string, unknown>>): Issue[] {
  const known = Object.keys(parameters);
  const unknown = Object.keys(sent).filter((name) => !Object.hasOwn(parameters, name) && sent[name] !== null);
  const issues = unknown.slice(0, MAX_UNKNOWN_LISTED).map((name): Issue => {
    const suggestion = nearestName(name, known);
    const listed = known.length ? `This tool has ${known.join(', ')}.` : 'This tool has no parameters.';
    return {
      parameter: echo(name),
      code: 'invalid_parameter',
      received: shown(sent[name]),
      rule: `There is no such parameter. ${suggestion === null ? listed : `Did you mean ${suggestion}?`}`,
      example: suggestion === null ? null : (parameters[suggestion]?.example ?? null),
    };
  });
  if (unknown.length > MAX_UNKNOWN_LISTED) {
    issues.push({
      parameter: '…',
      code: 'invalid_parameter',
      received: null,
      rule: `There are ${unknown.length - MAX_UNKNOWN_LISTED} more parameters that do not exist.`,
      example: null,
    });
  }
  return issues;
}

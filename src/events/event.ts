/** Defines events: named, versioned facts. The schema of an event is also its type and its documentation. */
import type { z } from 'zod';

export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A fact as a decider returns it, before a log has recorded it. */
export interface DomainEvent<Type extends string = string, Data = unknown> {
  readonly type: Type;
  readonly data: Data;
}

export interface EventDefinition<Type extends string = string, Data = unknown> {
  readonly type: Type;
  /** The schema version that is written today. */
  readonly version: number;
  readonly schema: z.ZodType<Data>;
  /** `upcasters[n]` turns data of version n into version n + 1. */
  readonly upcasters: Readonly<Record<number, (data: JsonObject) => JsonObject>>;
  of(data: Data): DomainEvent<Type, Data>;
}

/** The type of the events of a definition. */
export type EventOf<Definition> = Definition extends {
  readonly type: infer Type;
  readonly schema: z.ZodType<infer Data>;
}
  ? DomainEvent<Type & string, Data>
  : never;

/** Defines an event: its name, the version of its schema, and the schema. */
export function event<const Type extends string, Data>(
  type: Type,
  version: number,
  schema: z.ZodType<Data>,
  upcasters: Readonly<Record<number, (data: JsonObject) => JsonObject>> = {},
): EventDefinition<Type, Data> {
  return { type, version, schema, upcasters, of: (data) => ({ type, data }) };
}

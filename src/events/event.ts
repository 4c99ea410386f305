/** What an event is: a named, versioned fact whose schema is its type is its documentation. */
import type { z } from 'zod';

export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

/** A fact as a decider gives it, before a log has recorded it. */
export interface DomainEvent<Type extends string = string, Data = unknown> {
  readonly type: Type;
  readonly data: Data;
}

export interface EventDefinition<Type extends string = string, Data = unknown> {
  readonly type: Type;
  /** Version of the schema that is written today. */
  readonly version: number;
  readonly schema: z.ZodType<Data>;
  /** `upcasters[n]` turns data of version n into version n + 1. */
  readonly upcasters: Readonly<Record<number, (data: JsonObject) => JsonObject>>;
  of(data: Data): DomainEvent<Type, Data>;
}

/** The events that a definition defines. */
export type EventOf<Definition> = Definition extends {
  readonly type: infer Type;
  readonly schema: z.ZodType<infer Data>;
}
  ? DomainEvent<Type & string, Data>
  : never;

/** Defines an event: its name, the version of its schema, the schema. */
export function event<const Type extends string, Data>(
  type: Type,
  version: number,
  schema: z.ZodType<Data>,
  upcasters: Readonly<Record<number, (data: JsonObject) => JsonObject>> = {},
): EventDefinition<Type, Data> {
  return { type, version, schema, upcasters, of: (data) => ({ type, data }) };
}

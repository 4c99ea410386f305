/** Converts between events in the code and events in a log, and validates them on write and on read. */
import { CONTENT_EVENTS } from './content.ts';
import { DELIVERY_EVENTS } from './delivery.ts';
import { DOCKET_EVENTS } from './docket.ts';
import type { DomainEvent, EventDefinition, Json, JsonObject } from './event.ts';
import { FORGET_EVENTS } from './forget.ts';
import { LOG_HEAD_EVENTS } from './log-head.ts';
import { LOG_IDENTITY_EVENTS } from './log-identity.ts';
import { OPERATOR_EVENTS } from './operator.ts';
import { PAYMENT_EVENTS } from './payment.ts';
import { SIGNING_KEY_EVENTS } from './signing-key.ts';
import { SOURCE_EVENTS } from './source.ts';
import { type EventPlace, UnreadableEvent } from './unreadable-event.ts';

const DEFINITIONS: ReadonlyMap<string, EventDefinition> = new Map(
  [
    ...PAYMENT_EVENTS,
    ...DELIVERY_EVENTS,
    ...SIGNING_KEY_EVENTS,
    ...DOCKET_EVENTS,
    ...CONTENT_EVENTS,
    ...OPERATOR_EVENTS,
    ...SOURCE_EVENTS,
    ...FORGET_EVENTS,
    ...LOG_IDENTITY_EVENTS,
    ...LOG_HEAD_EVENTS,
  ].map((definition) => [definition.type, definition as EventDefinition]),
);

/** Every type that this version of the service knows. */
export const EVENT_TYPES: readonly string[] = [...DEFINITIONS.keys()];

/** The log contains an event of a type that this version of the service does not know. */
export class UnknownEventType extends Error {
  readonly code = 'unknown_event_type';
  constructor(readonly type: string) {
    super(`unknown event type ${type}`);
    this.name = 'UnknownEventType';
  }
}

function definitionOf(type: string): EventDefinition {
  const definition = DEFINITIONS.get(type);
  if (!definition) throw new UnknownEventType(type);
  return definition;
}

/** The newest schema of a type that this version of the service knows. @throws UnknownEventType */
export const newestSchemaOf = (type: string): number => definitionOf(type).version;

/**
 * @throws UnknownEventType
 * @throws ZodError if the data does not fit the schema
 */
export function encodeEvent(event: DomainEvent): { type: string; schemaVersion: number; data: JsonObject } {
  const definition = definitionOf(event.type);
  return {
    type: event.type,
    schemaVersion: definition.version,
    data: definition.schema.parse(event.data) as JsonObject,
  };
}

/**
 * The data in the newest schema, whichever version was written, for a caller who knows that it fits.
 * @throws UnknownEventType
 * @throws UnreadableEvent if the version cannot be converted
 */
export function upcastData(
  recorded: EventPlace & { readonly data: Json; readonly metadata: { readonly schemaVersion: number } },
): JsonObject {
  const definition = definitionOf(recorded.type);
  let data = recorded.data as JsonObject;
  for (let version = recorded.metadata.schemaVersion; version < definition.version; version++) {
    const upcast = definition.upcasters[version];
    if (!upcast) throw new UnreadableEvent(recorded, `there is no upcaster from schema version ${version}`);
    data = upcast(data);
  }
  return data;
}

/**
 * Converts an event to its newest schema, whichever version was written.
 * @throws UnknownEventType
 * @throws UnreadableEvent if the data does not fit the schema
 */
export function decodeEvent(
  recorded: EventPlace & {
    readonly data: Json;
    readonly metadata: { readonly schemaVersion: number };
  },
): DomainEvent {
  const definition = definitionOf(recorded.type);
  const parsed = definition.schema.safeParse(upcastData(recorded));
  if (parsed.success) return { type: recorded.type, data: parsed.data };
  const problems = parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'data'}: ${message}`);
  throw new UnreadableEvent(recorded, `the data does not fit the schema (${problems.join('; ')})`, {
    cause: parsed.error,
  });
}

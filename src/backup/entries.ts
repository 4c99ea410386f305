/** The lines in the files of a backup. Everything read from a file is checked here. */
import { hash } from 'node:crypto';
import { z } from 'zod';
import { isJsonObject, type JsonObject } from '../events/event.ts';
import { Instant } from '../runtime/instant.ts';
import type { StoredCell } from '../storage/copies.ts';
import type { RecordedEvent } from '../storage/event-log.ts';
import type { BlobName } from '../storage/payload-store.ts';
import { unusable } from './manifest.ts';

const Hash = z.string().regex(/^[0-9a-f]{64}$/);
const Kind = z.enum(['docket', 'target', 'envelope', 'answer', 'pushed', 'look']);
/** It comes from JSON.parse, so that only its outermost shape is in question. */
const Data = z.custom<JsonObject>(isJsonObject);

/** Loose, so that a field that a later version records is kept too. */
const Metadata = z.looseObject({
  recordedAt: z.string(),
  requestId: z.string().nullable(),
  correlationId: z.string(),
  causationId: z.string().nullable(),
  actor: z.string(),
  schemaVersion: z.int().positive(),
  commandId: z.string().optional(),
  traceparent: z.string().optional(),
  hash: Hash,
});

const EventLine = z.strictObject({
  id: z.string().min(1),
  // No stream of this service starts like this: an event store keeps its settings in such streams.
  stream: z.string().regex(/^[^$]/, 'not a stream of this service'),
  revision: z.int().nonnegative(),
  position: z.string().min(1),
  type: z.string().min(1),
  data: Data,
  metadata: Metadata,
});

/** What the store had under a name: content, a reference to its replacement, damaged content, or nothing. */
const PayloadLine = z.discriminatedUnion('as', [
  z.strictObject({ as: z.literal('stored'), name: Hash, kind: Kind, storedAt: Instant, bytes: z.base64() }),
  z.strictObject({ as: z.literal('replaced'), name: Hash, replacement: Hash }),
  z.strictObject({ as: z.literal('damaged'), name: Hash }),
  z.strictObject({ as: z.literal('absent'), name: Hash }),
]);

/** A name of an earlier part whose content was removed since. */
const GoneLine = z.strictObject({ name: Hash, replacement: Hash.nullable() });
const CellLine = z.strictObject({ id: z.string().min(1).max(1000), value: Data });

export type PayloadLine = z.infer<typeof PayloadLine>;
export type GoneLine = z.infer<typeof GoneLine>;

const reader =
  <Value>(schema: z.ZodType<Value>) =>
  (value: unknown, shown: string, index: number): Value => {
    const read = schema.safeParse(value);
    if (read.success) return read.data;
    const [issue] = read.error.issues;
    throw unusable(`${shown}, line ${index + 1}: ${issue?.path.join('.') || 'value'}: ${issue?.message}`);
  };

export const readEventLine = reader(EventLine) as (value: unknown, shown: string, index: number) => RecordedEvent;
export const readPayloadLine = reader(PayloadLine);
export const readGoneLine = reader(GoneLine);
export const readNameLine = reader(Hash);
export const readCellLine = reader(CellLine) as (value: unknown, shown: string, index: number) => StoredCell;

export const isNameOf = (name: BlobName, bytes: Uint8Array): boolean => hash('sha256', bytes) === name;

/** In this order, whichever fields an engine adds. */
export const eventLine = ({ id, stream, revision, position, type, data, metadata }: RecordedEvent): RecordedEvent => ({
  id,
  stream,
  revision,
  position,
  type,
  data,
  metadata,
});

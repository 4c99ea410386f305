/**
 * A list of content that was withdrawn after a backup was taken. A restore leaves that content out and records its
 * removal (docs/design/operations.md#restore).
 */
import { hash } from 'node:crypto';
import { z } from 'zod';
import { decodeFilings, encodeBlob, filingsBlob, REDACTED_FILING } from '../dockets/filing-content.ts';
import { withoutFilings } from '../dockets/withdrawn-answer.ts';
import { ContentRedacted } from '../events/content.ts';
import type { BlobName, PayloadKind } from '../storage/payload-store.ts';
import { CopyRefused } from './refused.ts';

const Text = z.string().min(1).max(2000);
const Fields = z.object({
  name: z.string().regex(/^[0-9a-f]{64}$/, 'expected 64 hex digits'),
  filingIds: z.array(z.string().min(1).max(200)).max(100_000).default([]),
  reason: Text,
  by: Text.optional(),
});

/** `ContentRedacted` as `docket audit replay --json` prints it. */
const Recorded = z.object({
  revision: z.int().nonnegative(),
  data: Fields.extend({ replacement: z.string().nullable(), masking: z.int().optional() }),
});

/** What to withdraw of one content: some filings of it, or if there are none, all of it. */
export interface WantedRedaction {
  readonly name: BlobName;
  readonly filingIds: readonly string[];
  readonly reason: string;
  readonly by: string;
}

export interface ListedRedaction extends WantedRedaction {
  /** Of the event that recorded it in the content's stream; null if the line is no event. */
  readonly revision: number | null;
}

export interface RedactionList {
  readonly listed: readonly ListedRedaction[];
  /** Of the text, so that a restore is continued with the same list only. */
  readonly hash: string;
}

export const NO_REDACTIONS: RedactionList = { listed: [], hash: '' };

/**
 * Content that was only masked again is not withdrawn: the service masks it again by itself.
 * @param text one JSON object per line, bare or as `docket audit replay --json` prints it
 * @throws CopyRefused
 */
export function readRedactions(text: string): RedactionList {
  const lines = [...text.split('\n').entries()].filter(([, line]) => line.trim() !== '');
  return { listed: lines.flatMap(([index, line]) => readLine(line, index + 1)), hash: hash('sha256', text) };
}

function readLine(line: string, number: number): readonly ListedRedaction[] {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw wrong(number, 'it is not JSON');
  }
  const { type } = Object(value) as { readonly type?: unknown };
  if (type === undefined) {
    const { by = UNNAMED, ...fields } = parsed(Fields, value, number);
    return [{ ...fields, by, revision: null }];
  }
  if (type !== ContentRedacted.type) throw wrong(number, `it is not a ${ContentRedacted.type}`);
  const { revision, data } = parsed(Recorded, value, number);
  const { name, reason, by = UNNAMED, replacement, masking } = data;
  if (masking !== undefined) return [];
  return [{ name, reason, by, filingIds: replacement === null ? [] : data.filingIds, revision }];
}

/** Who withdrew it, if the line does not say. */
const UNNAMED = 'restore';

function parsed<Value>(schema: z.ZodType<Value>, value: unknown, number: number): Value {
  const read = schema.safeParse(value);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw wrong(number, `${issue?.path.join('.') || 'value'}: ${issue?.message}`);
}

/** Several withdrawals of one content as one. */
export function together(one: WantedRedaction, other: WantedRedaction): WantedRedaction {
  // If one of them withdraws everything, so do both.
  const isWhole = one.filingIds.length === 0 || other.filingIds.length === 0;
  const { name, by } = other;
  return {
    name,
    by,
    filingIds: isWhole ? [] : [...new Set([...one.filingIds, ...other.filingIds])],
    reason: one.reason === other.reason ? one.reason : `${one.reason}; ${other.reason}`,
  };
}

const wrong = (number: number, problem: string): CopyRefused =>
  new CopyRefused(
    `Line ${number} of the list of redactions cannot be used: ${problem}.`,
    'Each line is a JSON object with name and reason, and optionally filingIds and by, or an event as docket audit replay --json prints it.',
  );

/** What remains of a content; null if nothing does, or if it is not what its kind says. */
export function redacted(kind: PayloadKind, content: Buffer, wanted: WantedRedaction): Buffer | null {
  try {
    return remainderOf(kind, content, wanted);
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return null;
    throw error;
  }
}

function remainderOf(kind: PayloadKind, content: Buffer, { filingIds }: WantedRedaction): Buffer | null {
  switch (kind) {
    case 'docket': {
      const filings = decodeFilings(content);
      if (filings.size === 0) return encodeBlob({ details: { redacted: true } });
      const isHeld = (id: string): boolean => filingIds.length === 0 || filingIds.includes(id);
      const left = [...filings].map(([id, filing]) => [id, isHeld(id) ? REDACTED_FILING : filing] as const);
      return encodeBlob(filingsBlob(new Map(left)));
    }
    case 'answer':
      return filingIds.length === 0 ? null : withoutFilings(content, new Set(filingIds));
    default:
      return null;
  }
}

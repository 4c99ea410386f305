/**
 * The manifest of a backup, `backup.json`: its parts, each chained to the one before it, and every file with its hash
 * (docs/design/operations.md#backup). Pure; everything in it is untrusted until it was parsed here.
 */
import { hash } from 'node:crypto';
import { z } from 'zod';
import { canonicalJson } from '../events/canonical-json.ts';
import type { Json } from '../events/event.ts';
import { Instant } from '../runtime/instant.ts';
import { CopyRefused } from './refused.ts';

export const MANIFEST = 'backup.json';
/** A part's own entry, in its folder: a run that died before it could list the part is completed from it. */
export const PART_ENTRY = 'part.json';
export const FORMAT = 'docket-backup';
const FORMAT_VERSION = 1;

/** Limits of one file. What is larger was not written by this service. */
export const MAX_RAW_BYTES = 128 * 1024 * 1024;
const MAX_LINES = 1_000_000;
const MAX_MANIFEST_BYTES = 64 * 1024 * 1024;

const Hash = z.string().regex(/^[0-9a-f]{64}$/);
const Count = z.int().nonnegative();

/** A file's name says what it holds; no name leads out of the part's folder. */
const FileName = z
  .string()
  .regex(/^(?:(?:events|payloads|names|gone|cells)-\d{6}\.ndjson\.gz|keys\/[A-Za-z0-9][A-Za-z0-9._-]{0,99})$/);

const BackupFile = z.strictObject({
  name: FileName,
  bytes: Count.max(2 * MAX_RAW_BYTES),
  sha256: Hash,
  /** Before compression. */
  rawBytes: Count.max(MAX_RAW_BYTES),
  lines: Count.max(MAX_LINES),
});

const Part = z.strictObject({
  /** From 1. */
  number: z.int().positive().max(9999),
  /** SHA-256 of the canonical JSON of the part before it; null for the first. */
  previous: Hash.nullable(),
  logId: z.uuid(),
  takenAt: Instant,
  /** How many events this part holds. */
  events: Count,
  /** The last event of the log as this part knows it. */
  head: z.strictObject({
    position: z.string().max(100),
    stream: z.string().max(500),
    revision: Count,
    id: z.string().max(100),
    hash: Hash,
  }),
  /** The tree over all events up to the head (docs/design/audit.md#tree). */
  tree: z.strictObject({ size: z.int().positive(), root: Hash, peaks: z.array(Hash).min(1).max(64) }),
  payloads: z.strictObject({ stored: Count, replaced: Count, absent: Count, damaged: Count }),
  cells: Count,
  /** Names of the key files; null if it was taken without keys. */
  keys: z.array(z.string().max(101)).max(100).nullable(),
  files: z.array(BackupFile).max(1_000_000),
});

const Manifest = z.strictObject({
  format: z.literal(FORMAT),
  version: z.literal(FORMAT_VERSION),
  logId: z.uuid(),
  parts: z.array(Part).min(1).max(9999),
  /** SHA-256 of the canonical JSON of everything else. */
  sha256: Hash,
});

export type BackupFile = z.infer<typeof BackupFile>;
export type Part = z.infer<typeof Part>;
export type Manifest = z.infer<typeof Manifest>;

const hashOf = (value: unknown): string => hash('sha256', canonicalJson(value as Json));

export const partFolder = (number: number): string => `part-${String(number).padStart(4, '0')}`;

/** The link to a part in the part after it. */
export const partHash = (part: Part): string => hashOf(part);

export function manifestOf(parts: readonly [Part, ...Part[]]): Manifest {
  const content = { format: FORMAT, version: FORMAT_VERSION, logId: parts[0].logId, parts };
  // Parsed, so that its text has the fields in the order in which a reader writes them again.
  return Manifest.parse({ ...content, sha256: hashOf(content) });
}

export const manifestText = (manifest: Manifest): string => `${JSON.stringify(manifest, null, 2)}\n`;
export const partText = (part: Part): string => `${JSON.stringify(part, null, 2)}\n`;

/** The last part, which knows the whole log. */
export const newestPart = ({ parts }: Pick<Manifest, 'parts'>): Part => parts.at(-1) as Part;

/** @throws CopyRefused if it is no manifest, of another version, or was changed */
export function readManifest(text: string): Manifest {
  const value = parsed(text, MANIFEST);
  const version = (value as { readonly version?: unknown } | null)?.version;
  if (typeof version === 'number' && version !== FORMAT_VERSION) {
    throw new CopyRefused(
      `The backup has format version ${version}; this version of docket reads ${FORMAT_VERSION}.`,
      'Use the version of docket that wrote it.',
    );
  }
  const read = Manifest.safeParse(value);
  if (!read.success) throw unusable(`${MANIFEST} is not a manifest of a backup (${issuesOf(read.error)})`);
  const { sha256, ...content } = read.data;
  if (text !== manifestText(read.data) || hashOf(content) !== sha256) {
    throw unusable(`${MANIFEST} was changed: its content does not match its own hash`);
  }
  const fault = chainFault(read.data);
  if (fault !== null) throw unusable(fault);
  return read.data;
}

/** @throws CopyRefused */
export function readPart(text: string): Part {
  const read = Part.safeParse(parsed(text, PART_ENTRY));
  if (!read.success) throw unusable(`${PART_ENTRY} is not the entry of a part (${issuesOf(read.error)})`);
  return read.data;
}

/** Why the parts do not follow one another; null if they do. */
export function chainFault({ logId, parts }: Pick<Manifest, 'logId' | 'parts'>): string | null {
  let [size, previous] = [0, null as string | null];
  for (const [index, part] of parts.entries()) {
    const name = partFolder(index + 1);
    if (part.number !== index + 1) return `${name} is missing from ${MANIFEST}`;
    if (part.previous !== previous) return `${name} does not follow the part before it`;
    if (part.logId !== logId) return `${name} is of another log (${part.logId})`;
    if (part.tree.size !== size + part.events)
      return `${name} counts ${part.events} events after ${size}, not to ${part.tree.size}`;
    const names = part.files.map((file) => file.name);
    if (new Set(names).size !== names.length) return `${name} lists a file twice`;
    size = part.tree.size;
    previous = partHash(part);
  }
  return null;
}

function parsed(text: string, name: string): unknown {
  if (text.length > MAX_MANIFEST_BYTES) throw unusable(`${name} is too large`);
  try {
    return JSON.parse(text);
  } catch {
    throw unusable(`${name} is not JSON`);
  }
}

const issuesOf = ({ issues }: z.ZodError): string =>
  issues
    .slice(0, 3)
    .map(({ path, message }) => `${path.join('.') || 'value'}: ${message}`)
    .join('; ');

export const unusable = (problem: string): CopyRefused =>
  new CopyRefused(`The backup cannot be used: ${problem}.`, 'Use another copy of this backup, or an older backup.');

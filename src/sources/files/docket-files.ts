/**
 * Reads files of dockets: JSON with one docket or a list, or one docket per line (NDJSON). Memory is bounded. What
 * cannot be read is reported with its place, and the rest is still imported.
 */
import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** One docket as it is in a file. */
export interface RawDocketItem {
  /** Its place in the file: empty for a file of one docket, otherwise `[4]` or `line 12`. */
  readonly where: string;
  readonly value: unknown;
  /** SHA-256, hex, of its bytes. Importing the same bytes again changes nothing. */
  readonly hash: string;
  readonly bytes: number;
  /** False if the source itself shows only a part of the docket. */
  readonly complete?: boolean;
  /** The reason for that. */
  readonly note?: string;
}

export interface UnreadableItem {
  readonly where: string;
  readonly why: string;
}

/** A docket of 100,000 entries has some 60 MiB. */
export const MAX_DOCKET_BYTES = 128 * 1024 * 1024;

const LINES = /\.(?:ndjson|jsonl)$/i;
const DOCKET_FILE = /\.(?:json|ndjson|jsonl)$/i;

/** The files behind paths: a folder means every docket file in it, at any depth, sorted by name. */
export async function findDocketFiles(
  paths: readonly string[],
): Promise<{ readonly files: readonly string[]; readonly missing: readonly string[] }> {
  const files: string[] = [];
  const missing: string[] = [];
  for (const path of paths) {
    const found = await stat(path).catch(() => null);
    if (!found) missing.push(path);
    else if (found.isDirectory()) {
      const entries = await readdir(path, { recursive: true, withFileTypes: true });
      files.push(
        ...entries
          .filter((entry) => entry.isFile() && DOCKET_FILE.test(entry.name))
          .map((entry) => join(entry.parentPath, entry.name))
          .sort(),
      );
    } else files.push(path);
  }
  return { files: [...new Set(files)], missing };
}

/** Every docket of a file, one by one. Never throws because of a file's content. */
export async function* readDocketFile(path: string): AsyncGenerator<RawDocketItem | UnreadableItem> {
  try {
    if (LINES.test(path)) yield* readLines(path);
    else yield* readWhole(path);
  } catch (error) {
    yield { where: '', why: error instanceof Error ? error.message : String(error) };
  }
}

async function* readWhole(path: string): AsyncGenerator<RawDocketItem | UnreadableItem> {
  const { size } = await stat(path);
  if (size > MAX_DOCKET_BYTES) {
    yield {
      where: '',
      why: `has ${size} bytes; the limit for one JSON value is ${MAX_DOCKET_BYTES}. Write one docket per line to an .ndjson file`,
    };
    return;
  }
  const bytes = await readFile(path);
  const parsed = parse(bytes);
  if ('why' in parsed) yield { where: '', why: parsed.why };
  else if (!Array.isArray(parsed.value)) yield { where: '', value: parsed.value, hash: sha256(bytes), bytes: size };
  else if (parsed.value.length === 0) yield { where: '', why: 'is an empty list' };
  else {
    for (const [index, value] of parsed.value.entries()) {
      const where = `[${index}]`;
      const own = serialised(value);
      if (own === null) yield { where, why: 'is nested too deeply' };
      else yield { where, value, hash: sha256(own), bytes: own.length };
    }
  }
}

/** Null for a value that is too deeply nested to be serialized; JSON of any depth can be parsed. */
export function serialised(value: unknown): Buffer | null {
  try {
    return Buffer.from(JSON.stringify(value));
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

async function* readLines(path: string): AsyncGenerator<RawDocketItem | UnreadableItem> {
  let number = 0;
  for await (const line of splitLines(createReadStream(path, { highWaterMark: 1024 * 1024 }))) {
    number++;
    const where = `line ${number}`;
    if (line === null) {
      yield { where, why: `is longer than ${MAX_DOCKET_BYTES} bytes` };
      continue;
    }
    if (line.length === 0 || line.toString('latin1').trim() === '') continue;
    const parsed = parse(line);
    if ('why' in parsed) yield { where, why: parsed.why };
    else yield { where, value: parsed.value, hash: sha256(line), bytes: line.length };
  }
}

const NEWLINE = 10;

/** Lines as bytes; null for one that is too long to hold in memory. */
async function* splitLines(stream: AsyncIterable<Buffer>): AsyncGenerator<Buffer | null> {
  let parts: Buffer[] = [];
  let length = 0;
  const take = (part: Buffer): void => {
    length += part.length;
    if (length <= MAX_DOCKET_BYTES) parts.push(part);
    else parts = [];
  };
  const end = (): Buffer | null => {
    const line = length <= MAX_DOCKET_BYTES ? Buffer.concat(parts) : null;
    parts = [];
    length = 0;
    return line;
  };
  for await (const chunk of stream) {
    let start = 0;
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, start)) {
      take(chunk.subarray(start, at));
      yield end();
      start = at + 1;
    }
    take(chunk.subarray(start));
  }
  if (length > 0) yield end();
}

export function parse(bytes: Buffer): { readonly value: unknown } | { readonly why: string } {
  const text = textOf(bytes);
  if (text === null) return { why: 'is not UTF-8: save or send it in that encoding' };
  if (text.trim() === '') return { why: 'is empty' };
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    return { why: `is not JSON: ${error instanceof Error ? error.message.slice(0, 200) : ''}` };
  }
}

/** Null for other bytes than UTF-8: what would take their place would be sold as the court's text. */
function textOf(bytes: Buffer): string | null {
  return isUtf8(bytes) ? bytes.toString('utf8').replace(/^\uFEFF/, '') : null;
}

export const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

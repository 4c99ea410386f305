/** The files of a part: lines of JSON, compressed, each file small enough to be in memory as a whole. */
import { hash } from 'node:crypto';
import { open, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { constants, gunzip, gzip } from 'node:zlib';
import { makeFolder } from '../runtime/make-folder.ts';
import { type BackupFile, MAX_RAW_BYTES, unusable } from './manifest.ts';
import { CopyRefused } from './refused.ts';

export type SegmentKind = 'events' | 'payloads' | 'names' | 'gone' | 'cells';

/** Bytes of lines at which a file is complete. */
const FULL: Readonly<Record<SegmentKind, number>> = {
  events: 8 * 1024 * 1024,
  payloads: 16 * 1024 * 1024,
  names: 8 * 1024 * 1024,
  gone: 8 * 1024 * 1024,
  cells: 8 * 1024 * 1024,
};

const compress = promisify<Buffer, object, Buffer>(gzip);
const decompress = promisify<Buffer, object, Buffer>(gunzip);

export class SegmentWriter {
  readonly #folder: string;
  readonly #kind: SegmentKind;
  #lines: string[] = [];
  #bytes = 0;
  readonly files: BackupFile[] = [];

  constructor(folder: string, kind: SegmentKind) {
    this.#folder = folder;
    this.#kind = kind;
  }

  /** @throws CopyRefused for a line that no file can hold */
  async write(value: unknown): Promise<void> {
    const line = `${JSON.stringify(value)}\n`;
    const bytes = Buffer.byteLength(line);
    if (bytes > MAX_RAW_BYTES) {
      throw new CopyRefused(
        `A content of the log takes ${bytes} bytes; a file of a backup holds ${MAX_RAW_BYTES}.`,
        "Use the engines' own backup (docs/operating.md).",
      );
    }
    if (this.#bytes + bytes > MAX_RAW_BYTES) await this.flush();
    this.#lines.push(line);
    this.#bytes += bytes;
    if (this.#bytes >= FULL[this.#kind]) await this.flush();
  }

  /** Completes the present file, if it has any line. */
  async flush(): Promise<void> {
    if (this.#lines.length === 0) return;
    const raw = Buffer.from(this.#lines.join(''));
    const name = `${this.#kind}-${String(this.files.length + 1).padStart(6, '0')}.ndjson.gz`;
    // Payloads are compressed already: this only takes back what base64 adds.
    const level = this.#kind === 'payloads' ? constants.Z_BEST_SPEED : constants.Z_DEFAULT_COMPRESSION;
    const bytes = await compress(raw, { level });
    this.files.push(
      await writeBackupFile(this.#folder, name, bytes, { rawBytes: raw.length, lines: this.#lines.length }),
    );
    this.#lines = [];
    this.#bytes = 0;
  }
}

/** Writes one file that only its owner can read, and syncs it. */
export async function writeBackupFile(
  folder: string,
  name: string,
  bytes: Buffer,
  { rawBytes = bytes.length, lines = 0 }: { readonly rawBytes?: number; readonly lines?: number } = {},
): Promise<BackupFile> {
  const path = join(folder, name);
  makeFolder(dirname(path));
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
  return { name, bytes: bytes.length, sha256: hash('sha256', bytes), rawBytes, lines };
}

/** @throws CopyRefused that names the file if it is missing or not as the manifest has it */
export async function readBackupFile(folder: string, file: BackupFile, shown: string): Promise<Buffer> {
  await assertPresent(folder, file, shown);
  const bytes = await readFile(join(folder, file.name));
  if (hash('sha256', bytes) !== file.sha256) throw unusable(`${shown} was changed: its SHA-256 differs`);
  return bytes;
}

const LINE_END = 0x0a;

function lineEnds(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(LINE_END); at !== -1; at = bytes.indexOf(LINE_END, at + 1)) count++;
  return count;
}

/** @throws CopyRefused that names a file that is missing or has another size; its bytes are not read */
export async function assertPresent(folder: string, file: BackupFile, shown: string): Promise<void> {
  const found = await stat(join(folder, file.name)).catch(() => null);
  if (!found?.isFile()) throw unusable(`${shown} is missing`);
  if (found.size !== file.bytes) throw unusable(`${shown} has ${found.size} bytes, not ${file.bytes}`);
}

/**
 * The lines of a file, parsed, in portions: parsed lines take many times the memory of their text.
 * @throws CopyRefused, before the first line unless a line is not JSON
 */
export async function* readSegment(
  folder: string,
  file: BackupFile,
  shown: string,
  linesAtOnce: number,
): AsyncGenerator<readonly unknown[], void> {
  const bytes = await readBackupFile(folder, file, shown);
  let raw: Buffer;
  try {
    // Never more memory than the manifest admits, whatever the file expands to.
    raw = await decompress(bytes, { maxOutputLength: Math.max(1, file.rawBytes) });
  } catch {
    throw unusable(`${shown} does not expand to ${file.rawBytes} bytes`);
  }
  if (raw.length !== file.rawBytes) throw unusable(`${shown} expands to ${raw.length} bytes, not ${file.rawBytes}`);
  // Counted first: lists of lines take much more memory than bytes that are nothing but ends of lines.
  if (lineEnds(raw) !== file.lines || raw.at(-1) !== LINE_END) {
    throw unusable(`${shown} does not hold ${file.lines} complete lines`);
  }
  let lines: unknown[] = [];
  for (let start = 0; start < raw.length; ) {
    const end = raw.indexOf(LINE_END, start);
    lines.push(parsed(raw.toString('utf8', start, end), shown));
    start = end + 1;
    if (lines.length < linesAtOnce && start < raw.length) continue;
    yield lines;
    lines = [];
  }
}

function parsed(line: string, shown: string): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch {
    throw unusable(`${shown} holds a line that is not JSON`);
  }
}

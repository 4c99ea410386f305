/** Reads a backup, part by part. Every file is compared with its hash before any line of it is used. */
import { join } from 'node:path';
import type { StoredCell } from '../storage/copies.ts';
import type { RecordedEvent } from '../storage/event-log.ts';
import type { BlobName } from '../storage/payload-store.ts';
import {
  type GoneLine,
  type PayloadLine,
  readCellLine,
  readEventLine,
  readGoneLine,
  readNameLine,
  readPayloadLine,
} from './entries.ts';
import { loadManifest } from './folder.ts';
import { type BackupFile, type Manifest, newestPart, type Part, partFolder } from './manifest.ts';
import type { Names, Scratch } from './scratch.ts';
import { assertPresent, readBackupFile, readSegment, type SegmentKind } from './segments.ts';

const LINES_AT_ONCE = 500;

export interface PartFile {
  readonly part: Part;
  readonly file: BackupFile;
  readonly folder: string;
  /** For messages: the file within the backup. */
  readonly shown: string;
}

export interface OlderKey {
  readonly name: string;
  /** Number of the newest part that holds it. */
  readonly part: number;
}

export const shownOlderKeys = (keys: readonly OlderKey[]): string =>
  keys.map(({ name, part }) => `${name} (${partFolder(part)})`).join(', ');

export class Backup {
  readonly directory: string;
  readonly manifest: Manifest;

  constructor(directory: string, manifest: Manifest) {
    this.directory = directory;
    this.manifest = manifest;
  }

  /** @throws CopyRefused */
  static async open(directory: string): Promise<Backup> {
    return new Backup(directory, await loadManifest(directory));
  }

  get newest(): Part {
    return newestPart(this.manifest);
  }

  /** Files of a kind in the order in which they were written. @param parts all, unless given */
  files(kind: SegmentKind | 'keys', parts: readonly Part[] = this.manifest.parts): readonly PartFile[] {
    const isOfKind = ({ name }: BackupFile): boolean => name.startsWith(kind === 'keys' ? 'keys/' : `${kind}-`);
    return parts.flatMap((part) => {
      const folder = join(this.directory, partFolder(part.number));
      const toFile = (file: BackupFile) => ({ part, file, folder, shown: `${partFolder(part.number)}/${file.name}` });
      return part.files.filter(isOfKind).map(toFile);
    });
  }

  /** @throws CopyRefused that names a missing file: a half copy is not continued */
  async assertWhole(): Promise<void> {
    for (const kind of ['events', 'payloads', 'names', 'gone', 'cells', 'keys'] as const) {
      for (const { folder, file, shown } of this.files(kind)) await assertPresent(folder, file, shown);
    }
  }

  /** In log order. */
  async *events(parts?: readonly Part[]): AsyncIterable<readonly RecordedEvent[]> {
    for (const file of this.files('events', parts)) yield* linesOf(file, readEventLine);
  }

  /** A file at a time: a copy that is continued counts these portions. */
  async *payloads(parts?: readonly Part[]): AsyncIterable<readonly PayloadLine[]> {
    for (const file of this.files('payloads', parts)) yield* linesOf(file, readPayloadLine, Number.POSITIVE_INFINITY);
  }

  /** Names whose content the store held when their part was taken. */
  async *heldNames(parts?: readonly Part[]): AsyncIterable<readonly BlobName[]> {
    for (const file of this.files('names', parts)) yield* linesOf(file, readNameLine);
  }

  /** What was removed from the store after the part that holds its content; a later line wins. */
  async *gone(): AsyncIterable<readonly GoneLine[]> {
    for (const file of this.files('gone')) yield* linesOf(file, readGoneLine);
  }

  /** The replacement of each content that was removed; null if nothing replaced it. */
  async goneNames(scratch: Scratch): Promise<Names> {
    const gone = scratch.names();
    for await (const lines of this.gone()) for (const { name, replacement } of lines) gone.set(name, replacement);
    return gone;
  }

  /** Content that was damaged when its part was taken; about it `damaged`, or null if a part holds its bytes. */
  async damagedNames(scratch: Scratch): Promise<Names> {
    const damaged = scratch.names();
    for (const part of this.manifest.parts) {
      // Without any damage, which is usual, nothing is read.
      if (part.payloads.damaged > 0) {
        for await (const lines of this.payloads([part])) {
          for (const { as, name } of lines) if (as === 'damaged') damaged.add(name, 'damaged');
        }
      }
    }
    if (damaged.size === 0) return damaged;
    for await (const names of this.heldNames())
      for (const name of names) if (damaged.has(name)) damaged.set(name, null);
    return damaged;
  }

  /** Whether the newest part has the same case clocks, and some part the same keys. */
  hasSameState(cells: readonly BackupFile[], keys: readonly BackupFile[]): boolean {
    const isSame = (one: BackupFile, other: BackupFile | undefined) => one.sha256 === other?.sha256;
    const before = this.files('cells', [this.newest]);
    const known = this.#keyFiles();
    return (
      cells.length === before.length &&
      cells.every((file, index) => isSame(file, before[index]?.file)) &&
      keys.every((file) => isSame(file, known.get(file.name.slice('keys/'.length))?.file))
    );
  }

  /** As the newest part has them. */
  async *cells(): AsyncIterable<StoredCell> {
    for (const file of this.files('cells', [this.newest])) {
      for await (const cells of linesOf(file, readCellLine)) yield* cells;
    }
  }

  /** Key files by name, each in its newest version: a part may be taken without keys, or on a node that has fewer. */
  async keys(): Promise<ReadonlyMap<string, Buffer>> {
    const keys = new Map<string, Buffer>();
    for (const [name, { file, folder, shown }] of this.#keyFiles()) {
      keys.set(name, await readBackupFile(folder, file, shown));
    }
    return keys;
  }

  /** Keys that are missing in the newest part; an earlier part holds them. */
  get olderKeys(): readonly OlderKey[] {
    return [...this.#keyFiles()].flatMap(([name, { part }]) =>
      part === this.newest ? [] : { name, part: part.number },
    );
  }

  #keyFiles(): ReadonlyMap<string, PartFile> {
    return new Map(this.files('keys').map((found) => [found.file.name.slice('keys/'.length), found]));
  }
}

async function* linesOf<Line>(
  { folder, file, shown }: PartFile,
  read: (value: unknown, shown: string, index: number) => Line,
  linesAtOnce = LINES_AT_ONCE,
): AsyncGenerator<readonly Line[], void> {
  let before = 0;
  for await (const values of readSegment(folder, file, shown, linesAtOnce)) {
    yield values.map((value, index) => read(value, shown, before + index));
    before += values.length;
  }
}

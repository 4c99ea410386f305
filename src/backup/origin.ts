/** What a copy is made from: a backup, or another storage. */

import type { StorageCopies, StoredBlob, StoredCell } from '../storage/copies.ts';
import type { EventLog, Position, RecordedEvent } from '../storage/event-log.ts';
import type { BlobName } from '../storage/payload-store.ts';
import { isNameOf, type PayloadLine } from './entries.ts';
import { blobsNamedBy } from './named-content.ts';
import type { Backup } from './read.ts';
import { type Names, Scratch } from './scratch.ts';

export interface CopyOrigin {
  /** The same for the same content: an interrupted copy is continued only from the same origin. */
  readonly id: string;
  readonly logId: string;
  /** Of the tree over all events, hex. */
  readonly size: number;
  readonly root: string;
  /** In log order. */
  events(): AsyncIterable<readonly RecordedEvent[]>;
  /** In portions that are the same each time. */
  content(): AsyncIterable<readonly PayloadLine[]>;
  cells(): AsyncIterable<StoredCell>;
}

/** A backup that was verified. */
export function backupOrigin(backup: Backup): CopyOrigin {
  const { manifest, newest } = backup;
  return {
    id: manifest.sha256,
    logId: manifest.logId,
    size: newest.tree.size,
    root: newest.tree.root,
    events: () => backup.events(),
    async *content() {
      const scratch = Scratch.open();
      try {
        const gone = await backup.goneNames(scratch);
        const standing = (line: PayloadLine): PayloadLine => {
          const replacement = gone.about(line.name);
          if (replacement === undefined) return line;
          const { name } = line;
          return replacement === null ? { as: 'absent', name } : { as: 'replaced', name, replacement };
        };
        for await (const lines of backup.payloads()) yield lines.map(standing);
      } finally {
        scratch.close();
      }
    },
    cells: () => backup.cells(),
  };
}

/** Cells that cannot be rebuilt from events: the case clocks. */
export const CELLS = 'case-clock-';
const BLOBS_AT_ONCE = 32;

/** A storage that nothing writes to. */
export interface StillStorage {
  readonly log: Pick<EventLog, 'readAll'>;
  readonly copies: StorageCopies;
}

export interface StillLog {
  readonly logId: string;
  readonly size: number;
  readonly root: string;
  readonly head: Position;
}

export function storageOrigin({ log, copies }: StillStorage, { logId, size, root, head }: StillLog): CopyOrigin {
  async function* events(): AsyncIterable<readonly RecordedEvent[]> {
    for await (const batch of log.readAll(null, { by: 'all' })) {
      const upToHead = batch.events.filter(({ position }) => position <= head);
      yield upToHead;
      if (upToHead.length < batch.events.length) return;
    }
  }
  return {
    id: root,
    logId,
    size,
    root,
    events,
    async *content() {
      const scratch = Scratch.open();
      try {
        const names = scratch.names();
        for await (const batch of events())
          for (const event of batch) for (const name of blobsNamedBy(event)) names.add(name);
        yield* contentOf(copies, names);
      } finally {
        scratch.close();
      }
    },
    cells: () => copies.cells(CELLS),
  };
}

/** What the store has under each name, and under the names of replacements that no event names yet: they are added. */
export async function* contentOf(copies: StorageCopies, wanted: Names): AsyncIterable<readonly PayloadLine[]> {
  for (const page of wanted.pages(BLOBS_AT_ONCE)) {
    const portion = page.map(({ name }) => name);
    const found = await copies.blobs(portion);
    const lines = portion.map((name) => lineOf(name, found.get(name)));
    for (const line of lines) if (line.as === 'replaced') wanted.add(line.replacement);
    yield lines;
  }
}

function lineOf(name: BlobName, blob: StoredBlob | undefined): PayloadLine {
  if (blob?.bytes) {
    if (!isNameOf(name, blob.bytes)) return { as: 'damaged', name };
    const { kind, storedAt, bytes } = blob;
    return { as: 'stored', name, kind, storedAt, bytes: Buffer.from(bytes).toString('base64') };
  }
  return blob?.replacement ? { as: 'replaced', name, replacement: blob.replacement } : { as: 'absent', name };
}

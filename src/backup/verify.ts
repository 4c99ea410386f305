/** Checks everything about a backup without restoring it, and names whatever is missing or changed. */
import { LOG_IDENTITY_STREAM } from '../events/log-identity.ts';
import { LogTree, leafOf } from '../events/log-tree.ts';
import type { RecordedEvent } from '../storage/event-log.ts';
import type { BlobName } from '../storage/payload-store.ts';
import { ChainCheck } from './chain-check.ts';
import { isNameOf } from './entries.ts';
import { unfinishedIn } from './folder.ts';
import { type Part, partFolder } from './manifest.ts';
import { blobsNamedBy } from './named-content.ts';
import { type Backup, shownOlderKeys } from './read.ts';
import { CopyRefused, type Progress } from './refused.ts';
import { type Names, Scratch } from './scratch.ts';
import { readBackupFile } from './segments.ts';

export interface BackupVerdict {
  /** Why the backup cannot be restored; empty if it can. */
  readonly problems: readonly string[];
  /** What is no fault of the backup: it was so in the storage when it was taken. */
  readonly remarks: readonly string[];
  readonly events: number;
  readonly payloads: number;
  readonly cells: number;
  /** Root of the tree over all events, hex. */
  readonly root: string;
}

/** The rest is only counted. */
const MOST_PROBLEMS = 100;
const NAMES_AT_ONCE = 1000;

export async function verifyBackup(backup: Backup, onProgress: Progress): Promise<BackupVerdict> {
  const scratch = Scratch.open();
  try {
    return await verifyWith(scratch, backup, onProgress);
  } finally {
    scratch.close();
  }
}

async function verifyWith(scratch: Scratch, backup: Backup, onProgress: Progress): Promise<BackupVerdict> {
  const problems = new Problems();
  const remarks = (await unfinishedIn(backup.directory)).map((name) => `${name} is left of a run that did not end`);
  const state: LogState = { tree: new LogTree(), chains: new ChainCheck(scratch), named: scratch.names(), last: null };
  let payloads = 0;
  const held = scratch.names();
  const damaged = new Set<BlobName>();
  const { manifest, newest } = backup;
  for (const part of manifest.parts) {
    await problems.of(async () => {
      for await (const events of backup.events([part])) {
        for (const event of events) problems.add(await takeIn(state, event, manifest.logId));
        onProgress('verified events', state.tree.size, newest.tree.size);
      }
    });
    for (const problem of partProblems(part, state)) problems.add(problem);
    await problems.of(async () => {
      payloads += await checkPayloads(backup, part, { held, damaged }, problems, onProgress);
    });
    await problems.of(async () => {
      for await (const names of backup.heldNames([part])) {
        for (const name of names) if (!held.has(name)) problems.add(`content ${name} is listed but not in the backup`);
      }
    });
    for (const { file, folder, shown } of [...backup.files('keys', [part]), ...olderCells(backup, part)]) {
      await problems.of(async () => void (await readBackupFile(folder, file, shown)));
    }
  }
  for (const page of state.named.pages(NAMES_AT_ONCE)) {
    for (const { name, about } of page) {
      if (!held.has(name)) problems.add(`content ${name} is missing; ${about} names it`);
    }
  }
  await problems.of(async () => {
    for await (const _lines of backup.gone());
  });
  let cells = 0;
  await problems.of(async () => {
    for await (const _cell of backup.cells()) cells++;
    if (cells !== newest.cells) problems.add(`the backup holds ${cells} case clocks, not ${newest.cells}`);
  });
  if (backup.olderKeys.length > 0) {
    remarks.push(
      `keys missing in the newest part, which a restore takes from earlier parts: ${shownOlderKeys(backup.olderKeys)}`,
    );
  }
  if (damaged.size > 0) {
    remarks.push(`contents that were damaged in the storage when the backup was taken: ${damaged.size}`);
  }
  return {
    problems: problems.list(),
    remarks,
    events: state.tree.size,
    payloads,
    cells,
    root: state.tree.root().toString('hex'),
  };
}

interface LogState {
  readonly tree: LogTree;
  readonly chains: ChainCheck;
  /** Names that events hold, each with the first event that holds it. */
  readonly named: Names;
  last: RecordedEvent | null;
}

async function takeIn(state: LogState, event: RecordedEvent, logId: string): Promise<string | null> {
  const { stream, revision, data, metadata } = event;
  for (const name of blobsNamedBy(event)) state.named.add(name, `revision ${revision} of ${stream}`);
  state.tree.add(leafOf({ stream, revision, hash: metadata.hash }));
  state.last = event;
  const isOther = stream === LOG_IDENTITY_STREAM && revision === 0 && data.logId !== logId;
  return isOther ? `the events are of log ${data.logId}, not ${logId}` : state.chains.problemOf(event);
}

function partProblems({ number, head, tree }: Part, { tree: built, last }: LogState): readonly string[] {
  const name = partFolder(number);
  const isHead = last !== null && last.id === head.id && last.stream === head.stream && last.revision === head.revision;
  return [
    ...(built.size === tree.size ? [] : [`${name} ends after ${built.size} events, not ${tree.size}`]),
    ...(built.root().toString('hex') === tree.root ? [] : [`${name}: the root of the events is not ${tree.root}`]),
    ...(isHead ? [] : [`${name}: its last event is not revision ${head.revision} of ${head.stream}`]),
  ];
}

async function checkPayloads(
  backup: Backup,
  part: Part,
  { held, damaged }: { readonly held: Names; readonly damaged: Set<BlobName> },
  problems: Problems,
  onProgress: Progress,
): Promise<number> {
  const counts = { stored: 0, replaced: 0, absent: 0, damaged: 0 };
  for await (const lines of backup.payloads([part])) {
    for (const line of lines) {
      counts[line.as]++;
      held.add(line.name, line.as);
      if (line.as === 'damaged' && held.about(line.name) !== 'stored') damaged.add(line.name);
      if (line.as === 'stored') damaged.delete(line.name);
      if (line.as === 'stored' && !isNameOf(line.name, Buffer.from(line.bytes, 'base64'))) {
        problems.add(`content ${line.name}: its bytes do not match its name`);
      }
    }
    onProgress('verified content', held.size, null);
  }
  for (const [as, count] of Object.entries(part.payloads)) {
    const found = counts[as as keyof typeof counts];
    if (found !== count) problems.add(`${partFolder(part.number)} holds ${found} contents as ${as}, not ${count}`);
  }
  return counts.stored;
}

/** Case clocks of parts that are not the newest are not restored; only their bytes are compared. */
const olderCells = (backup: Backup, part: Part) => (part === backup.newest ? [] : backup.files('cells', [part]));

class Problems {
  readonly #found: string[] = [];
  #more = 0;

  add(problem: string | null): void {
    if (problem === null) return;
    if (this.#found.length < MOST_PROBLEMS) this.#found.push(problem);
    else this.#more++;
  }

  /** Runs a check that may find a file unusable; the other files are still checked. */
  async of(check: () => Promise<void>): Promise<void> {
    try {
      await check();
    } catch (error) {
      if (!(error instanceof CopyRefused)) throw error;
      this.add(error.message.replace(/^The backup cannot be used: /, '').replace(/\.$/, ''));
    }
  }

  list(): readonly string[] {
    return this.#more === 0 ? this.#found : [...this.#found, `and ${this.#more} more`];
  }
}

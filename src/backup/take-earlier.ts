/**
 * What became of the content of earlier parts: removed, so that a restore must not bring it back, or damaged when its
 * part was taken and repaired since.
 */
import type { StorageCopies } from '../storage/copies.ts';
import type { BlobName } from '../storage/payload-store.ts';
import { isNameOf } from './entries.ts';
import type { BackupFile } from './manifest.ts';
import type { Backup } from './read.ts';
import type { Progress } from './refused.ts';
import type { KnownName, Names, Scratch } from './scratch.ts';
import { SegmentWriter } from './segments.ts';

const NAMES_AT_ONCE = 1000;
const CONTENTS_AT_ONCE = 32;

interface Look {
  readonly source: { readonly copies: StorageCopies };
  readonly earlier: Backup;
  readonly folder: string;
  /** Gets what this part has to hold: replacements, and content that was repaired. */
  readonly wanted: Names;
  readonly onProgress: Progress;
}

/** Writes the list of what was removed, and returns its files. */
export async function lookAtEarlier(scratch: Scratch, look: Look): Promise<readonly BackupFile[]> {
  const { earlier, onProgress } = look;
  const writer = new SegmentWriter(look.folder, 'gone');
  const known = await earlier.goneNames(scratch);
  let checked = 0;
  for await (const names of earlier.heldNames()) {
    for (let start = 0; start < names.length; start += NAMES_AT_ONCE) {
      const portion = names.slice(start, start + NAMES_AT_ONCE);
      await writeGone(look, portion, known, writer);
      checked += portion.length;
      onProgress('content of earlier parts', checked, null);
    }
  }
  const damaged = await earlier.damagedNames(scratch);
  for (const page of damaged.pages(CONTENTS_AT_ONCE)) await wantRepaired(look, page);
  await writer.flush();
  return writer.files;
}

async function writeGone(
  { source: { copies }, wanted }: Look,
  names: readonly BlobName[],
  known: Names,
  writer: SegmentWriter,
): Promise<void> {
  const standings = await copies.standings(names);
  for (const name of names) {
    const replacement = standings.get(name);
    // Its own bytes are there.
    if (replacement === null) continue;
    if (known.about(name) === (replacement ?? null)) continue;
    if (replacement !== undefined) wanted.add(replacement);
    await writer.write({ name, replacement: replacement ?? null });
  }
}

async function wantRepaired({ source: { copies }, wanted }: Look, names: readonly KnownName[]): Promise<void> {
  const missing = names.flatMap(({ name, about }) => (about === 'damaged' ? name : []));
  for (const [name, { bytes }] of await copies.blobs(missing)) if (bytes && isNameOf(name, bytes)) wanted.add(name);
}

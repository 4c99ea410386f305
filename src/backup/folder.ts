/** The folder of a backup: what is in it, and how a new part becomes visible in one step. */
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pause } from '../runtime/pause.ts';
import { privateFolder } from '../runtime/secret-file.ts';
import { isDeadLocalOwner } from '../storage/lease-owner.ts';
import {
  chainFault,
  MANIFEST,
  type Manifest,
  manifestOf,
  manifestText,
  newestPart,
  PART_ENTRY,
  type Part,
  partFolder,
  partHash,
  partText,
  readManifest,
  readPart,
  unusable,
} from './manifest.ts';
import { CopyRefused } from './refused.ts';
import { writeBackupFile } from './segments.ts';

const OWNER = 'owner';
const NAMED_WITHIN_MS = 1_000;
const partialFolder = (number: number): string => `${partFolder(number)}.partial`;

/** The manifest of a backup. @throws CopyRefused if the folder holds none that can be used */
export async function loadManifest(directory: string): Promise<Manifest> {
  const text = await readFile(join(directory, MANIFEST), 'utf8').catch(missing);
  if (text !== null) return readManifest(text);
  const entries = await readdir(directory).catch(missing);
  if (entries === null) throw new CopyRefused(`There is no folder ${directory}.`, 'Name the folder of a backup.');
  throw entries.some((name) => name.startsWith('part-'))
    ? unusable(`${MANIFEST} is missing from ${directory}: the copy is not whole, or the backup was interrupted`)
    : new CopyRefused(`${directory} holds no backup.`, 'Name the folder that docket backup wrote.');
}

export interface NewPart {
  /** The parts before it. */
  readonly manifest: Manifest | null;
  readonly number: number;
  /** Where its files are written. */
  readonly folder: string;
}

/**
 * Prepares the folder of the next part. What a killed run left unfinished is removed; a part that it completed but did
 * not list is added to the manifest first.
 * @throws CopyRefused if the folder holds anything that does not fit
 */
export async function beginPart(directory: string, incremental: boolean, owner: string): Promise<NewPart> {
  privateFolder(directory);
  const manifest = await completed(directory);
  if (incremental && manifest === null) {
    throw new CopyRefused(
      `${directory} holds no backup to continue.`,
      'Run docket backup without --incremental first.',
    );
  }
  const number = (manifest?.parts.length ?? 0) + 1;
  const others = (await readdir(directory)).filter((name) => !isPartial(name));
  if (!incremental && others.length > 0) {
    throw new CopyRefused(
      `${directory} is not empty.`,
      manifest
        ? 'Add --incremental to add what is new since then, or name an empty folder for a new full backup.'
        : 'Name an empty folder, or one that does not exist yet.',
    );
  }
  const folder = join(directory, partialFolder(number));
  await removeAbandoned(folder);
  // Not if it exists: of two runs that start at the same moment, one is first.
  await mkdir(folder, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'EEXIST' ? inUse(folder) : error;
  });
  await writeBackupFile(folder, OWNER, Buffer.from(owner));
  if ((await stat(join(directory, partFolder(number))).catch(missing)) !== null) {
    await rm(folder, { recursive: true, force: true });
    throw new CopyRefused(
      `Another process has added ${partFolder(number)} meanwhile.`,
      'Run it again with --incremental.',
    );
  }
  return { manifest, number, folder };
}

/** Makes a part visible: its folder gets its name, then the manifest lists it. Each step is complete or not made. */
export async function finishPart(directory: string, begun: NewPart, part: Part): Promise<Manifest> {
  await writeBackupFile(begun.folder, PART_ENTRY, Buffer.from(partText(part)));
  await rm(join(begun.folder, OWNER));
  await syncFolder(begun.folder);
  await rename(begun.folder, join(directory, partFolder(part.number)));
  await syncFolder(directory);
  return list(directory, begun.manifest, part);
}

export async function abandonPart({ folder }: NewPart): Promise<void> {
  await rm(folder, { recursive: true, force: true });
}

/** The manifest, with a part that was complete when its run died before it could list it. */
async function completed(directory: string): Promise<Manifest | null> {
  const text = await readFile(join(directory, MANIFEST), 'utf8').catch(missing);
  const manifest = text === null ? null : readManifest(text);
  const folder = join(directory, partFolder((manifest?.parts.length ?? 0) + 1));
  const entry = await readFile(join(folder, PART_ENTRY), 'utf8').catch(missing);
  if (entry === null) {
    if ((await stat(folder).catch(missing)) === null) return manifest;
    throw unusable(`${folder} is not listed in ${MANIFEST}, and its own entry is missing`);
  }
  const part = readPart(entry);
  const fault = chainFault({ logId: manifest?.logId ?? part.logId, parts: [...(manifest?.parts ?? []), part] });
  if (fault !== null) throw unusable(`${folder} is not listed in ${MANIFEST}: ${fault}`);
  return list(directory, manifest, part);
}

async function list(directory: string, before: Manifest | null, part: Part): Promise<Manifest> {
  const [first = part, ...rest] = [...(before?.parts ?? []), part];
  const manifest = manifestOf([first, ...rest]);
  const temporary = `${MANIFEST}.partial`;
  await rm(join(directory, temporary), { force: true });
  await writeBackupFile(directory, temporary, Buffer.from(manifestText(manifest)));
  await rename(join(directory, temporary), join(directory, MANIFEST));
  await syncFolder(directory);
  return manifest;
}

/** @throws CopyRefused while another process writes to it */
async function removeAbandoned(folder: string): Promise<void> {
  const owner = await ownerOf(folder);
  if (owner !== null && !isDeadLocalOwner(owner)) throw inUse(folder);
  await rm(folder, { recursive: true, force: true });
}

const inUse = (folder: string): CopyRefused =>
  new CopyRefused(
    `Another process is writing to ${folder}.`,
    'Wait for it. If no docket backup runs on any machine, delete that folder.',
  );

/** Null if no process that may still be alive has named itself. */
async function ownerOf(folder: string): Promise<string | null> {
  if ((await stat(folder).catch(missing)) === null) return null;
  const read = () => readFile(join(folder, OWNER), 'utf8').catch(missing);
  const owner = await read();
  if (owner) return owner;
  // A living process writes its name as soon as it has created the folder; a killed one may not have come so far.
  await pause(NAMED_WITHIN_MS, undefined);
  return (await read()) || null;
}

/** What is left of runs that did not end. */
const isPartial = (name: string): boolean => /^(?:part-\d{4}|backup\.json)\.partial$/.test(name);

export const unfinishedIn = async (directory: string): Promise<readonly string[]> =>
  (await readdir(directory)).filter(isPartial);

export const linkTo = (manifest: Manifest | null): string | null => manifest && partHash(newestPart(manifest));

function missing(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
  throw error;
}

/** New names are durable once their folder is synced. Not every platform allows opening a folder. */
async function syncFolder(folder: string): Promise<void> {
  try {
    const handle = await open(folder, 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EISDIR' && code !== 'EPERM' && code !== 'EINVAL') throw error;
  }
}

/** Writes a result to a file that appears only once it is complete, or to stdout with backpressure. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { lstat, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { type CliContext, CliError, EXIT, printable } from './command.ts';

export interface Output {
  /** A file; `-` or null: stdout. */
  readonly out: string | null;
  /** Whether an existing file may be replaced. */
  readonly force: boolean;
}

export const STDOUT: Output = { out: null, force: false };

export const isStdout = (out: string | null): boolean => out === null || out === '-';

/** @throws CliError if the file exists and may not be replaced, or its folder cannot be written */
export async function writeOutput(
  context: CliContext,
  { out, force }: Output,
  chunks: AsyncIterable<Uint8Array | string>,
): Promise<void> {
  if (out === null || out === '-') return toStdout(context, chunks);
  const path = resolve(out);
  await assertFree(path, force);
  const temporary = join(dirname(path), `.${basename(path)}.${randomUUID()}.partial`);
  const endWatch = removedAtStop(temporary);
  try {
    const file = await opened(temporary, path);
    try {
      for await (const chunk of chunks) await file.writeFile(chunk);
      await file.sync();
    } finally {
      await file.close();
    }
    // Another program may have created it since.
    await assertFree(path, force);
    await rename(temporary, path);
  } finally {
    await rm(temporary, { force: true });
    endWatch();
  }
}

/** Leaves no partial file if the user stops the command. Returns what ends the watch. */
function removedAtStop(temporary: string): () => void {
  const stop = (signal: NodeJS.Signals): void => {
    rmSync(temporary, { force: true });
    end();
    process.kill(process.pid, signal);
  };
  const end = (): void => {
    for (const signal of STOPS) process.removeListener(signal, stop);
  };
  for (const signal of STOPS) process.once(signal, stop);
  return end;
}

const STOPS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

async function assertFree(path: string, force: boolean): Promise<void> {
  const existing = await lstat(path).catch(() => null);
  if (existing === null) return;
  // Replacing a device such as /dev/null, or a link to one, would break the machine.
  if (!existing.isFile())
    throw new CliError(`${path} is not a regular file.`, 'Give the name of a file, or - for stdout.');
  if (!force) throw new CliError(`${path} exists already.`, 'Give another name, or --force to replace it.');
}

/** For its owner alone: it says who bought what. */
async function opened(temporary: string, path: string) {
  try {
    return await open(temporary, 'wx', 0o600);
  } catch (error) {
    throw new CliError(
      `${path} cannot be written: ${error instanceof Error ? error.message : String(error)}`,
      'Give --out a name in a folder that exists and that you may write.',
      EXIT.unavailable,
    );
  }
}

export const isTerminal = ({ stdout }: CliContext): boolean => 'isTTY' in stdout && stdout.isTTY === true;

async function toStdout(context: CliContext, chunks: AsyncIterable<Uint8Array | string>): Promise<void> {
  const { stdout } = context;
  const forTerminal = isTerminal(context);
  for await (const chunk of chunks) {
    const shown = forTerminal ? printable(asText(chunk).replaceAll('\r\n', '\n')) : chunk;
    if (!stdout.write(shown)) await once(stdout, 'drain');
  }
}

const asText = (chunk: Uint8Array | string): string =>
  typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString();

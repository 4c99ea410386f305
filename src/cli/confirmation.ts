/** Asks on a terminal before something is done to many; elsewhere nobody can answer, so the answer is no. */
import { createInterface } from 'node:readline/promises';
import { type CliContext, printable } from './command.ts';

export async function isConfirmed(
  { interactive, stdin, stderr }: Pick<CliContext, 'interactive' | 'stdin' | 'stderr'>,
  question: string,
): Promise<boolean> {
  if (!interactive || !('isTTY' in stdin && stdin.isTTY === true)) return false;
  const asking = createInterface({ input: stdin, output: stderr });
  // At the end of the input nobody answers any more.
  const ended = new Promise<string>((resolve) => asking.once('close', () => resolve('')));
  try {
    const answer = await Promise.race([asking.question(`${printable(question)} [y/N] `), ended]);
    return /^\s*y(es)?\s*$/i.test(answer);
  } finally {
    asking.close();
  }
}

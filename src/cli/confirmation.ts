/** Asks on a terminal before something is done to many; elsewhere nobody can answer, so the answer is no. */
import { createInterface } from 'node:readline/promises';
import { type CliContext, printable } from './command.ts';

export async function isConfirmed({ interactive, stdin, stderr }: CliContext, question: string): Promise<boolean> {
  if (!interactive || !('isTTY' in stdin && stdin.isTTY === true)) return false;
  const asking = createInterface({ input: stdin, output: stderr });
  try {
    return /^\s*y(es)?\s*$/i.test(await asking.question(`${printable(question)} [y/N] `));
  } finally {
    asking.close();
  }
}

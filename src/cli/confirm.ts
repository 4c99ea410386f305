/** Asks a person before something that cannot be undone. */
import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import { type CliContext, CliError } from './command.ts';

/** @throws CliError unless a person agrees */
export async function confirm(context: CliContext, question: string): Promise<void> {
  const { stdin, stderr } = context;
  if (!('isTTY' in stdin && stdin.isTTY === true)) {
    throw new CliError(
      'This cannot be undone and must be confirmed, but there is no terminal.',
      'Add --yes, or --dry-run to look.',
    );
  }
  const lines = createInterface({ input: stdin, output: stderr });
  try {
    const asked = lines.question(`${question} Type "forget" to continue: `);
    // At the end of the input no answer ever comes.
    const answer = await Promise.race([asked, once(lines, 'close').then(() => '')]);
    if (answer.trim() !== 'forget') throw new CliError('Nothing was removed.', 'Run it again, or with --yes.');
  } finally {
    lines.close();
  }
}

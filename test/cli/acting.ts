/** Runs one group of commands in this process on an open storage. */
import { Writable } from 'node:stream';
import { Command } from 'commander';
import { type AddCommand, type CliContext, CliError, EXIT } from '../../src/cli/command.ts';

class Collected extends Writable {
  text = '';
  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  readonly error?: CliError;
}

export async function runCommand(add: AddCommand, ...argv: string[]): Promise<Ran> {
  const [stdout, stderr] = [new Collected(), new Collected()];
  const context: CliContext = { environment: {}, stdin: process.stdin, stdout, stderr, interactive: false };
  const program = new Command().exitOverride().configureOutput({ writeErr: () => undefined });
  add(program, context);
  try {
    await program.parseAsync(argv, { from: 'user' });
    return { code: EXIT.ok, out: stdout.text, err: stderr.text };
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    return { code: error.exitCode, out: stdout.text, err: stderr.text, error };
  }
}

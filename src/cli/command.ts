/** What each command of `docket` is given, and how it speaks: results on stdout, progress and errors on stderr. */
import type { Command } from 'commander';

export interface CliContext {
  readonly environment: NodeJS.ProcessEnv;
  readonly stdin: NodeJS.ReadableStream;
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream;
  /** Whether stderr is a terminal, where a progress line may be redrawn. */
  readonly interactive: boolean;
}

/** Adds one command to the program. One file of `src/cli` each. */
export type AddCommand = (program: Command, context: CliContext) => void;

/** Exit codes that scripts may rely on; `docket --help` lists them. */
export const EXIT = {
  ok: 0,
  /** The command ran and found something wrong: a breach, a failed check, files skipped whole. */
  found: 1,
  /** The call was wrong: an option, an argument, the configuration. */
  usage: 2,
  /** Something that the command needs could not be reached. */
  unavailable: 3,
} as const;

/** An error that teaches: what went wrong and what to do about it. */
export class CliError extends Error {
  constructor(
    message: string,
    readonly hint: string,
    readonly exitCode: number = EXIT.usage,
  ) {
    super(message);
    this.name = 'CliError';
  }
}

/** Writes one line of result. */
export const print = (context: CliContext, text: string): void => {
  context.stdout.write(`${text}\n`);
};

/** Writes one JSON value as a line: what `--json` gives. */
export const printJson = (context: CliContext, value: unknown): void => {
  context.stdout.write(`${JSON.stringify(value)}\n`);
};

/** Writes one line about progress. */
export const note = (context: CliContext, text: string): void => {
  context.stderr.write(`${text}\n`);
};

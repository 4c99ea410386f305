/** What each command of `docket` is given, and how it speaks: results on stdout, progress and errors on stderr. */
import type { Command } from 'commander';

export interface CliContext {
  readonly environment: NodeJS.ProcessEnv;
  readonly stdin: NodeJS.ReadableStream;
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream;
  /** Whether stderr is a terminal, where a progress line may be redrawn. */
  readonly interactive: boolean;
  /** Something was paid for: what stderr says of it, should the result not come out on stdout. */
  readonly paidFor?: (reminder: string) => void;
  /** What stderr must say because stdout cannot be written; null where the failure is another, or nothing was paid for. */
  readonly unwritten?: (error: unknown) => string | null;
}

/** Runs one command line of `docket` in this process and gives its exit code. Never throws. */
export type RunDocket = (argv: readonly string[], context: CliContext) => Promise<number>;

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
    /** What `--json` says beside message and hint, for programs. */
    readonly facts: Readonly<Record<string, unknown>> = {},
  ) {
    super(message);
    this.name = 'CliError';
  }
}

/** A command has given its result, and the result is that something is wrong: `--json` adds nothing to it. */
export class FoundWrong extends CliError {
  constructor(message: string, hint: string) {
    super(message, hint, EXIT.found);
    this.name = 'FoundWrong';
  }
}

/**
 * What a terminal would obey or hide rather than show: control characters, those that turn the direction of writing,
 * zero-width and tag characters, halves of characters. Names of files, faults of JSON and answers of a service may hold
 * them.
 */
const OBEYED = /[\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}\u2028\u2029]/gu;

/** A text as a terminal may be given it: lines and tabs stay, whatever else it would obey is spelt out. */
export const printable = (text: string): string =>
  text.replace(OBEYED, (character) =>
    character === '\n' || character === '\t'
      ? character
      : [...Array(character.length).keys()]
          .map((index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`)
          .join(''),
  );

/** Writes one line of result. */
export const print = (context: CliContext, text: string): void => {
  context.stdout.write(`${printable(text)}\n`);
};

/** Writes one JSON value as a line: what `--json` gives. */
export const printJson = (context: CliContext, value: unknown): void => {
  context.stdout.write(`${printable(JSON.stringify(value))}\n`);
};

/** Writes one line about progress. */
export const note = (context: CliContext, text: string): void => {
  context.stderr.write(`${printable(text)}\n`);
};

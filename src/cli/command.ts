/** What each command of `docket` gets and how it writes: results to stdout, progress and errors to stderr. */
import type { Command } from 'commander';

export interface CliContext {
  readonly environment: NodeJS.ProcessEnv;
  readonly stdin: NodeJS.ReadableStream;
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream;
  /** Whether stderr is a terminal, so that a progress line can be redrawn. */
  readonly interactive: boolean;
  /** Notes that a payment was made. The reminder goes to stderr if the result cannot be written to stdout. */
  readonly paidFor?: (reminder: string) => void;
  /** What to write to stderr after this error; null if the error is not a failed write to stdout or nothing was paid. */
  readonly unwritten?: (error: unknown) => string | null;
}

/** Runs one command line of `docket` in this process and gives its exit code. Never throws. */
export type RunDocket = (argv: readonly string[], context: CliContext) => Promise<number>;

/** Adds one command to the program. Each command has its own file in `src/cli`. */
export type AddCommand = (program: Command, context: CliContext) => void;

/** Exit codes that scripts may rely on; `docket --help` lists them. */
export const EXIT = {
  ok: 0,
  /** The command ran and found a problem: a breach, a failed check, files skipped whole. */
  found: 1,
  /** Wrong usage: an option, an argument, the configuration. */
  usage: 2,
  /** Something that the command needs cannot be reached. */
  unavailable: 3,
} as const;

/** An error with a message that says what went wrong and a hint that says what to do. */
export class CliError extends Error {
  constructor(
    message: string,
    readonly hint: string,
    readonly exitCode: number = EXIT.usage,
    /** Extra fields for programs, which `--json` prints next to message and hint. */
    readonly facts: Readonly<Record<string, unknown>> = {},
  ) {
    super(message);
    this.name = 'CliError';
  }
}

/** A command has printed its result, and the result is a problem, so `--json` adds nothing to it. */
export class FoundWrong extends CliError {
  constructor(message: string, hint: string) {
    super(message, hint, EXIT.found);
    this.name = 'FoundWrong';
  }
}

/**
 * Characters that a terminal would obey or hide instead of showing: control characters, bidirectional controls,
 * zero-width and tag characters, unpaired surrogates. File names, JSON errors and answers of a service may contain
 * them.
 */
const OBEYED = /[\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}\u2028\u2029]/gu;

/** Makes a text safe for a terminal: keeps lines and tabs, escapes every other character that it would obey. */
export const printable = (text: string): string =>
  text.replace(OBEYED, (character) =>
    character === '\n' || character === '\t'
      ? character
      : [...Array(character.length).keys()]
          .map((index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`)
          .join(''),
  );

/** Writes one line of the result. */
export const print = (context: CliContext, text: string): void => {
  context.stdout.write(`${printable(text)}\n`);
};

/** Writes one JSON value as a line, for `--json`. */
export const printJson = (context: CliContext, value: unknown): void => {
  context.stdout.write(`${printable(JSON.stringify(value))}\n`);
};

/** Writes one line of progress. */
export const note = (context: CliContext, text: string): void => {
  context.stderr.write(`${printable(text)}\n`);
};

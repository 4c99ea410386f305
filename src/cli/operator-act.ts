/** What every command that acts on the service records about it: who decided it, and why. */
import { randomUUID } from 'node:crypto';
import { userInfo } from 'node:os';
import type { Command } from 'commander';
import type { CommandContext } from '../storage/event-log.ts';
import { CliError } from './command.ts';

export interface ActOptions {
  readonly reason: string;
  readonly by?: string;
}

export interface OperatorAct {
  readonly by: string;
  readonly reason: string;
}

const MAX_TEXT = 500;

export const withActOptions = (command: Command): Command =>
  command
    .requiredOption('--reason <text>', 'why; recorded in the log')
    .option('--by <name>', 'who decided it; recorded (default: the current user)');

/** @throws CliError for a text that is empty or too long */
export const readAct = ({ reason, by }: ActOptions): OperatorAct => ({
  reason: readText('reason', reason),
  by: readBy(by),
});

/** Who acts; the current user if omitted. @throws CliError for a text that is empty or too long */
export const readBy = (by: string = userName()): string => readText('by', by);

function readText(option: keyof OperatorAct, text: string): string {
  if (text.trim() === '' || text.length > MAX_TEXT) {
    throw new CliError(
      `--${option} is empty or too long.`,
      `Give 1 to ${MAX_TEXT} characters, e.g. --reason "the receiver is fixed" --by "Ann Lee".`,
    );
  }
  return text.trim();
}

/** The context of one run of a command. */
export function actContext(): CommandContext {
  const commandId = randomUUID();
  return { commandId, requestId: null, correlationId: commandId, causationId: null, actor: 'cli' };
}

/** A container may run as a user without a name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return process.env.USER || `uid ${process.getuid?.()}`;
  }
}

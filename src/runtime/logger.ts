import { type Logger, pino } from 'pino';
import { logDestination } from './log-destination.ts';

/** Logs go to stderr: JSON, or readable lines on a terminal. */
export function makeLogger(level: string): Logger {
  if (!process.stderr.isTTY) return pino({ level }, logDestination(2));
  return pino({ level, transport: { target: 'pino-pretty', options: { destination: 2, ignore: 'pid,hostname' } } });
}

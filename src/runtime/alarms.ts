/**
 * Alarms: log lines with a field `alarm`, whose value is the alarm's name. This is the one place that all of them pass:
 * what follows from an alarm (docket status, metrics) subscribes here.
 */
import type { Logger } from 'pino';
import { type Clock, type Micros, systemClock } from './instant.ts';

export type AlarmLevel = 'info' | 'warn' | 'error' | 'fatal';

export interface RaisedAlarm {
  readonly name: string;
  readonly level: AlarmLevel;
  readonly at: Micros;
  readonly message: string;
  /** What the line says besides, as far as it is plain text that operators need. */
  readonly details: Readonly<Record<string, string>>;
}

/** Fields of log lines that alarms keep. None of them can hold a secret, a URL of a caller or the text of a docket. */
const DETAILS = [
  'part',
  'code',
  'reason',
  'hint',
  'projection',
  'generation',
  'process',
  'stream',
  'payment',
  'transaction',
  'blob',
  'file',
  'path',
  'peer',
  'window',
] as const;
const LONGEST_DETAIL = 500;

const LEVELS = ['info', 'warn', 'error', 'fatal'] as const satisfies readonly AlarmLevel[];

type Write = (...line: readonly unknown[]) => void;

/**
 * The same logger, but each line with an alarm is also reported, whatever the level of the logger.
 * @param raised must not throw
 */
export function reportingAlarms(
  logger: Logger,
  raised: (alarm: RaisedAlarm) => void,
  clock: Clock = systemClock,
): Logger {
  const write = (level: AlarmLevel): Write => {
    const plain = logger[level].bind(logger) as Write;
    return (...line) => {
      const alarm = alarmOf(level, line, clock);
      if (alarm) raised(alarm);
      plain(...line);
    };
  };
  // As pino makes its own children: what is not replaced here is the original's.
  return Object.assign(Object.create(logger) as Logger, {
    ...Object.fromEntries(LEVELS.map((level) => [level, write(level)])),
    child: (...given: Parameters<Logger['child']>) =>
      reportingAlarms(logger.child(...given) as unknown as Logger, raised, clock),
  });
}

function alarmOf(level: AlarmLevel, [fields, message]: readonly unknown[], clock: Clock): RaisedAlarm | null {
  if (typeof fields !== 'object' || fields === null || !('alarm' in fields)) return null;
  const line = fields as Readonly<Record<string, unknown>>;
  if (typeof line.alarm !== 'string') return null;
  const { err } = line;
  const all: typeof line = err instanceof Error ? { reason: err.message, ...line } : line;
  const details = DETAILS.flatMap((name) => {
    const value = all[name];
    return typeof value === 'string' || typeof value === 'number'
      ? [[name, String(value).slice(0, LONGEST_DETAIL)] as const]
      : [];
  });
  return {
    name: line.alarm,
    level,
    at: clock.now(),
    message: typeof message === 'string' ? message : '',
    details: Object.fromEntries(details),
  };
}

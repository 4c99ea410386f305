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

/** The logger that a reporting one writes to. */
const PLAIN = Symbol('plain logger');
type Reporting = Logger & { readonly [PLAIN]: Logger };

/**
 * The same logger, but each line with an alarm is also reported, whatever the level of the logger.
 * @param raised must not throw
 */
export function reportingAlarms(
  logger: Logger,
  raised: (alarm: RaisedAlarm) => void,
  clock: Clock = systemClock,
): Logger {
  // Shared by all children, because the server makes one for each request.
  const methods = Object.fromEntries(
    LEVELS.map((level) => [
      level,
      function write(this: Reporting, ...line: Parameters<Logger['info']>): void {
        const alarm = alarmOf(level, line, clock);
        if (alarm) raised(alarm);
        this[PLAIN][level](...line);
      },
    ]),
  );
  function child(this: Reporting, ...given: Parameters<Logger['child']>): Logger {
    return reporting(this[PLAIN].child(...given) as unknown as Logger);
  }
  // As pino makes its own children: what is not replaced here is the original's.
  const reporting = (plain: Logger): Logger =>
    Object.assign(Object.create(plain) as Logger, methods, { child, [PLAIN]: plain });
  return reporting(logger);
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

/** Times as CourtListener writes them: Pacific, with microseconds. Tests move the clock, so nothing here reads one. */
const PARTS = new Intl.DateTimeFormat('en-US', {
  timeZone: 'America/Los_Angeles',
  hourCycle: 'h23',
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
});

const MICROS_PER_MINUTE = 60_000_000;
const two = (value: number): string => String(value).padStart(2, '0');

/** `2026-03-02T09:14:55.402118-08:00`. */
export function pacific(micros: number): string {
  const parts = new Map(PARTS.formatToParts(Math.floor(micros / 1_000)).map(({ type, value }) => [type, value]));
  const [year, month, day, hour, minute, second] = ['year', 'month', 'day', 'hour', 'minute', 'second'].map((name) =>
    Number(parts.get(name as Intl.DateTimeFormatPartTypes)),
  ) as [number, number, number, number, number, number];
  const fraction = ((micros % 1_000_000) + 1_000_000) % 1_000_000;
  const offset = (Date.UTC(year, month - 1, day, hour, minute, second) * 1_000 + fraction - micros) / MICROS_PER_MINUTE;
  const sign = offset < 0 ? '-' : '+';
  const size = Math.abs(offset);
  const date = `${year}-${two(month)}-${two(day)}T${two(hour)}:${two(minute)}:${two(second)}`;
  return `${date}.${String(fraction).padStart(6, '0')}${sign}${two(Math.floor(size / 60))}:${two(size % 60)}`;
}

/** The value of a cursor: `2026-04-03 01:20:44.017762+00:00`. */
export function utc(micros: number): string {
  const fraction = ((micros % 1_000_000) + 1_000_000) % 1_000_000;
  return `${new Date((micros - fraction) / 1_000).toISOString().slice(0, 19).replace('T', ' ')}.${String(fraction).padStart(6, '0')}+00:00`;
}

/** Reads a date-time of a filter or a cursor; null if it is none. */
export function readMicros(text: string): number | null {
  const match = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?(Z|[+-]\d\d:\d\d)?)?$/.exec(text);
  if (!match) return null;
  const [, day, time = '00:00:00', fraction = '', zone = '-08:00'] = match;
  const at = Date.parse(`${day}T${time}${zone}`);
  return Number.isNaN(at) ? null : at * 1_000 + Number(fraction.padEnd(6, '0'));
}

/** Progress of a rebuild: one line that is redrawn on a terminal, a line every five seconds elsewhere. */
import { type RebuildReport, reach } from '../../projections/status.ts';
import { type CliContext, note } from '../command.ts';
import { count } from './lines.ts';

const LINE_MS = 5_000;
/** Rates are those of this last span. */
const WINDOW_MS = 10_000;

interface Seen {
  readonly at: number;
  readonly folded: number;
  /** Into the log, in a unit of the engine. */
  readonly reach: number;
}

export interface RebuildProgress {
  show(report: RebuildReport): void;
  end(): void;
}

export function startRebuildProgress(context: CliContext, name: string): RebuildProgress {
  const seen: Seen[] = [];
  let lineAt = Number.NEGATIVE_INFINITY;
  let last = '';
  return {
    show(report) {
      const now: Seen = { at: performance.now(), folded: report.folded, reach: reach(report.position) };
      seen.push(now);
      while (seen.length > 2 && now.at - (seen[0]?.at ?? 0) > WINDOW_MS) seen.shift();
      last = `${name}: ${progressText(report, seen[0] ?? now, now)}`;
      if (context.interactive) context.stderr.write(`\r\u001B[K${last}`);
      else if (now.at - lineAt >= LINE_MS) {
        lineAt = now.at;
        note(context, last);
      }
    },
    end() {
      if (context.interactive && last !== '') context.stderr.write('\n');
    },
  };
}

/** Percent, events a second, time left, dead letters. */
export function progressText(report: RebuildReport, first: Seen, now: Seen): string {
  const seconds = Math.max(0.001, (now.at - first.at) / 1000);
  const rate = Math.max(0, (now.folded - first.folded) / seconds);
  // By what is left of the whole log, because a projection folds only some of its events.
  const behind = reach(report.through) - now.reach;
  const closing = (now.reach - first.reach) / seconds;
  const left = behind > 0 && closing > 0 ? `, ${timeText(behind / closing)} left` : '';
  const letters = `${count(report.skipped)} skipped${report.halt ? `, halted at ${report.halt.position}` : ''}`;
  return `${report.percent}%, ${count(Math.round(rate))} events/s${left}, ${count(report.folded)} folded, ${letters}`;
}

const timeText = (seconds: number): string =>
  seconds < 120
    ? `${Math.ceil(seconds)} s`
    : seconds < 7200
      ? `${Math.ceil(seconds / 60)} min`
      : `${Math.ceil(seconds / 3600)} h`;

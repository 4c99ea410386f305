/** Progress of a copy: one line that is redrawn on a terminal, elsewhere one line for each step that ends. */
import type { Progress } from '../../backup/refused.ts';
import { type CliContext, note } from '../command.ts';

const REDRAW_MS = 200;

export interface CopyProgress {
  readonly onProgress: Progress;
  end(): void;
}

export function startCopyProgress(context: CliContext): CopyProgress {
  let present: { readonly step: string; readonly line: string } | null = null;
  let drawnAt = 0;
  /** A step begins where the one before it was last heard of: its own first report comes after its first portion. */
  let startedAt = performance.now();
  let reportedAt = startedAt;
  const finish = (): void => {
    if (present === null) return;
    if (context.interactive) context.stderr.write(`\r\u001B[K${present.line}\n`);
    else note(context, present.line);
    present = null;
  };
  return {
    onProgress(step, done, of) {
      if (present?.step !== step) {
        finish();
        startedAt = reportedAt;
      }
      reportedAt = performance.now();
      present = { step, line: lineOf(step, done, of, startedAt) };
      if (!context.interactive || performance.now() - drawnAt < REDRAW_MS) return;
      drawnAt = performance.now();
      context.stderr.write(`\r\u001B[K${present.line}`);
    },
    end: finish,
  };
}

function lineOf(step: string, done: number, of: number | null, startedAt: number): string {
  if (step.startsWith('seconds')) return `${step}: ${done}`;
  const seconds = Math.max(0.001, (performance.now() - startedAt) / 1000);
  const rate = done / seconds;
  if (of === null || of === 0) return `${step}: ${done}, ${Math.round(rate)} a second`;
  const left = done < of && rate > 0 ? `, ${Math.ceil((of - done) / rate)} s left` : '';
  return `${step}: ${done} of ${of} (${Math.floor((done / of) * 100)}%), ${Math.round(rate)} a second${left}`;
}

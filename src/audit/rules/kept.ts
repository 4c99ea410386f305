/** Whether content is kept as long as promised. After its `keepUntil` it may be absent without a record. */
import { MICROS_PER_SECOND, toMicros } from '../../runtime/instant.ts';
import type { Findings, JudgedEvent } from '../judging.ts';
import { KEPT_TO_WITHIN } from './limits.ts';

const DAY = 86_400 * MICROS_PER_SECOND;

/** @param retention how long the service keeps such content, from when it is recorded, in microseconds */
export function judgeKept({ data, metadata }: JudgedEvent, retention: number, findings: Findings): void {
  const keepUntil = String(data.keepUntil);
  const kept = toMicros(keepUntil) - toMicros(metadata.recordedAt);
  if (Math.abs(kept - retention) <= KEPT_TO_WITHIN) return;
  const expected = `kept for ${retention / DAY} days from ${metadata.recordedAt}, give or take one`;
  findings.breach('content_kept', expected, `until ${keepUntil}`);
}

/**
 * Events that no head covers long after they were recorded (docs/design/audit.md#missing-heads): listed, because AUDIT_HEADS may
 * be off, or the service was killed and has not run since.
 */
import { type Instant, toMicros } from '../../runtime/instant.ts';
import type { RawEvent } from '../../storage/raw-events.ts';
import type { Breach, BreachPlace } from '../judging.ts';
import { HEAD_WITHIN } from '../rules/limits.ts';

/** The first event that no head covers. */
export interface Uncovered extends BreachPlace {
  readonly recordedAt: Instant;
}

/** Null for an event that is missing or cannot be read, which is a breach of its own. */
export function uncoveredOf(event: RawEvent | null): Uncovered | null {
  if (event === null) return null;
  const { stream, revision, position, metadata } = event;
  try {
    const { recordedAt } = JSON.parse(metadata) as { readonly recordedAt: Instant };
    toMicros(recordedAt);
    return { stream, revision, position, recordedAt };
  } catch {
    return null;
  }
}

/** @param until when the newest event was recorded */
export function uncoveredFault(uncovered: Uncovered | null, until: Instant): Breach | null {
  if (uncovered === null) return null;
  const { stream, revision, position, recordedAt } = uncovered;
  if (toMicros(until) - toMicros(recordedAt) <= HEAD_WITHIN) return null;
  return {
    rule: 'head_in_time',
    stream,
    revision,
    position,
    expected: 'a head over this event within an hour',
    found: `none by ${until}`,
  };
}

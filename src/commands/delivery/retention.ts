/** How long the bytes of a callback are kept (docs/design/operations.md#retention). */
import { MICROS_PER_SECOND, type Micros } from '../../runtime/instant.ts';
import type { RecordedEvent } from '../../storage/event-log.ts';
import { folded } from '../handle.ts';
import { delivery } from './delivery.ts';

/**
 * How long the envelope of an acknowledged callback is kept after its last attempt, so that an operator can send it
 * again. The event of the acknowledgement is the record of its removal.
 */
export const ACKNOWLEDGED_RETENTION: Micros = 7 * 86_400 * MICROS_PER_SECOND;

/** The envelope of a delivery whose last attempt is over and that was acknowledged; null if it is still needed. */
export function doneEnvelope(recorded: readonly RecordedEvent[]): string | null {
  const { state } = folded(delivery, recorded);
  if (state.status !== 'succeeded' || state.underway !== null || state.redelivery !== null) return null;
  return state.facts.envelope;
}

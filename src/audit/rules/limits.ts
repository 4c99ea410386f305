/** How long the service may take for what it owes before it is a breach (docs/design/audit.md#time-limits). */
import { MICROS_PER_SECOND, type Micros } from '../../runtime/instant.ts';

const HOUR: Micros = 3_600 * MICROS_PER_SECOND;

/** A submitted payment without an outcome (docs/design/payments.md#overdue-outcomes), a settled one without finality. It takes 90 s, and as long as the chain's endpoints are silent. */
export const OUTCOME_WITHIN: Micros = 24 * HOUR;
/** A callback or key call that a settled payment owes. It takes milliseconds, and as long as the storage fails. */
export const OWED_WITHIN: Micros = HOUR;
/** A service that works records something at least this often; longer times do not count against what it owes. */
export const AT_WORK_WITHIN: Micros = HOUR / 4;
/** An attempt that is due, or the outcome of one under way. It takes seconds, and as long as the service is stopped. */
export const DUE_WITHIN: Micros = 24 * HOUR;
/** An order to forget. It takes minutes, and as long as the service is stopped after a kill. */
export const FORGOTTEN_WITHIN: Micros = 24 * HOUR;
/** A message that a source pushed. It takes a second, and as long as the service is stopped. */
export const APPLIED_WITHIN: Micros = 24 * HOUR;
/** An event that no head covers. It takes a minute, and as long as the service is stopped after a kill. */
export const HEAD_WITHIN: Micros = HOUR;
/** How far the end of a content's time may be from what its recording time gives: clocks are set in between. */
export const KEPT_TO_WITHIN: Micros = 24 * HOUR;
/** Payments to a former receiver that were under way when it changed. */
export const UNDER_WAY_FOR: Micros = HOUR;
/** A decision of an operator that a node does not know of yet. It takes a second, and as long as the node cannot follow the log. */
export const APPLIES_WITHIN: Micros = HOUR / 12;
/** A time in an event of a callback or a key, and its recording. Both are read a moment apart. */
export const RECORDED_WITHIN: Micros = HOUR / 60;
/** An attempt that starts later than this after it was due is listed. It takes seconds, and as long as the service is stopped. */
export const LISTED_AFTER: Micros = HOUR / 6;

/** Every rule about streams, facts and the whole log, for the engine that judges them. */
import type { Json } from '../../events/event.ts';
import type { FactRules, LogRules, StreamRules } from '../judging.ts';

export const STREAM_RULES: readonly StreamRules<Json>[] = [];
export const FACT_RULES: readonly FactRules[] = [];
export const LOG_RULES: readonly LogRules<Json>[] = [];

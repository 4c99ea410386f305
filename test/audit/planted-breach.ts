import type { RuleName } from '../../src/audit/rules/catalogue.ts';
import type { BaseLog } from './base-log.ts';
import type { CopiedEvent, LogCopy } from './log-copy.ts';

/** A breach that an insider plants in a copy of the base log, and what must be found. */
export interface PlantedBreach {
  readonly name: string;
  readonly rule: RuleName;
  /** Whether the breach is found only if signatures are not checked. */
  readonly unsigned?: boolean;
  /** @returns the event at which it must be found, or the stream if it is in no event */
  plant(log: LogCopy, base: BaseLog): CopiedEvent | string;
}

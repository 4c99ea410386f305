/**
 * What running processes leave for operators: that a node is alive, which alarms it raised. Disposable like all of the
 * read store, and bounded: of each kind only the newest are kept.
 */
import type { JsonObject } from '../events/event.ts';
import type { Micros } from '../runtime/instant.ts';

export type NoticeKind = 'node' | 'alarm';

export interface Notice {
  readonly kind: NoticeKind;
  readonly id: string;
  readonly value: JsonObject;
  /** When it was written, by the clock of its writer. */
  readonly at: Micros;
}

export interface NoticeToWrite extends Omit<Notice, 'value'> {
  /** Of plain JSON. */
  readonly value: object;
  /** It is not shown after this, and then removed. */
  readonly expiresAt: Micros;
}

/** A process that restarts again and again leaves no more than this. */
export const MOST_NOTICES = 500;

export interface Notices {
  /** Replaces the notices with these ids. */
  writeNotices(notices: readonly NoticeToWrite[]): Promise<void>;
  /** Notices of one kind that have not expired, newest first. */
  notices(kind: NoticeKind, now: Micros): Promise<readonly Notice[]>;
}

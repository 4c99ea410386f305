/**
 * The heads of the log: which keys sign them, the newest head, and the newest anchor. A head is recorded only if it
 * covers more events than the one before, so that two nodes that both write heads never record one twice.
 */
import type { EventOf } from '../../events/event.ts';
import { LogHeadAnchored, type LogHeadEvent, LogHeadKeyIntroduced, LogHeadRecorded } from '../../events/log-head.ts';
import { type Decider, rejected, unreachable } from '../decider.ts';

export type LogHead = EventOf<typeof LogHeadRecorded>['data'];
export type LogAnchor = EventOf<typeof LogHeadAnchored>['data'];

export interface LogHeads {
  /** The key that signed last. The public key is null if its introduction was not read. */
  readonly key: { readonly masterVersion: number; readonly publicKey: string | null } | null;
  readonly head: LogHead | null;
  readonly anchor: LogAnchor | null;
}

export type LogHeadCommand =
  | { readonly type: 'Record'; readonly head: LogHead; readonly publicKey: string }
  | { readonly type: 'Anchor'; readonly anchor: LogAnchor };

export type LogHeadRejection =
  /** This version of the master key signed heads with another key before. */
  | 'another_key'
  /** No recorded head has this size, or it has another root. */
  | 'unknown_head';

export const logHeads: Decider<LogHeads, LogHeadCommand, LogHeadEvent, LogHeadRejection> = {
  initialState: { key: null, head: null, anchor: null },

  decide({ key, head: last, anchor: lastAnchor }, command) {
    switch (command.type) {
      case 'Record': {
        const { head, publicKey } = command;
        const { masterVersion } = head;
        const isKnown = key?.masterVersion === masterVersion;
        if (isKnown && key.publicKey !== null && key.publicKey !== publicKey) return rejected('another_key');
        if (last && head.size <= last.size) return [];
        const recorded = LogHeadRecorded.of(head);
        return isKnown ? [recorded] : [LogHeadKeyIntroduced.of({ masterVersion, publicKey }), recorded];
      }
      case 'Anchor': {
        const { anchor } = command;
        if (!last || anchor.size > last.size || (anchor.size === last.size && anchor.root !== last.root)) {
          return rejected('unknown_head');
        }
        return lastAnchor?.transaction === anchor.transaction ? [] : [LogHeadAnchored.of(anchor)];
      }
      default:
        return unreachable(command);
    }
  },

  evolve(heads, event) {
    switch (event.type) {
      case 'LogHeadKeyIntroduced':
        return { ...heads, key: event.data };
      case 'LogHeadRecorded': {
        const { masterVersion } = event.data;
        // A reader of only the end of the stream has not seen the introduction, but it came before the first use.
        const key = heads.key?.masterVersion === masterVersion ? heads.key : { masterVersion, publicKey: null };
        return { ...heads, key, head: event.data };
      }
      case 'LogHeadAnchored':
        return { ...heads, anchor: event.data };
      default:
        return unreachable(event);
    }
  },
};

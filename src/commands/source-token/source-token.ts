/** The tokens of one source that pushes dockets. Several at once, so that a new one can replace another without a gap. */
import type { EventOf } from '../../events/event.ts';
import { type SOURCE_ACTS, SourceTokenIssued, SourceTokenRevoked } from '../../events/operator.ts';
import { type Decider, rejected, unreachable } from '../decider.ts';

export type SourceAct = EventOf<(typeof SOURCE_ACTS)[number]>;

export interface ValidToken {
  readonly tokenHash: string;
  /** Null for all courts. */
  readonly courts: readonly string[] | null;
}

export interface SourceTokens {
  /** In the order in which they were issued. */
  readonly valid: readonly ValidToken[];
}

export type SourceTokenCommand =
  | { readonly type: 'Issue'; readonly issued: EventOf<typeof SourceTokenIssued>['data'] }
  | {
      readonly type: 'Revoke';
      readonly source: string;
      /** The beginning of a token's hash; null for every token of the source. */
      readonly tokenId: string | null;
      readonly by: string;
      readonly reason: string;
    };

export type SourceTokenRejection = 'too_many_tokens' | 'token_issued_before';

/** Enough to replace one on several machines, one after the other. */
export const MOST_TOKENS = 5;

export const sourceToken: Decider<SourceTokens, SourceTokenCommand, SourceAct, SourceTokenRejection> = {
  initialState: { valid: [] },

  decide({ valid }, command) {
    switch (command.type) {
      case 'Issue': {
        const { issued } = command;
        if (valid.some(({ tokenHash }) => tokenHash === issued.tokenHash)) return rejected('token_issued_before');
        return valid.length < MOST_TOKENS ? [SourceTokenIssued.of(issued)] : rejected('too_many_tokens');
      }
      case 'Revoke': {
        const { source, tokenId, by, reason } = command;
        return valid
          .filter(({ tokenHash }) => tokenId === null || tokenHash.startsWith(tokenId))
          .map(({ tokenHash }) => SourceTokenRevoked.of({ source, tokenHash, by, reason }));
      }
      default:
        return unreachable(command);
    }
  },

  evolve({ valid }, { type, data }) {
    const { tokenHash } = data;
    if (type === 'SourceTokenRevoked') return { valid: valid.filter((one) => one.tokenHash !== tokenHash) };
    return { valid: [...valid, { tokenHash, courts: data.courts }] };
  },
};

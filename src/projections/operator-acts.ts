/** Read model of what operators have decided and not taken back: paused hosts, banned wallets, tokens of sources. */
import { unreachable } from '../commands/decider.ts';
import type { EventOf, JsonObject } from '../events/event.ts';
import { HOST_ACTS, SOURCE_ACTS, WALLET_ACTS } from '../events/operator.ts';
import type { Instant } from '../runtime/instant.ts';
import type { Projection } from './projection.ts';

export const PAUSED_HOSTS = 'paused-hosts';
export const BANNED_WALLETS = 'banned-wallets';
export const SOURCE_TOKENS = 'source-tokens';

type Decided = {
  readonly since: Instant;
  /** Who decided it, and why. */
  readonly by: string;
  readonly reason: string;
};

/** Scheme, host and port; also the document's id. */
export type PausedHost = Decided & { readonly origin: string };
/** Base58 address, which is the document's id. */
export type BannedWallet = Decided & { readonly wallet: string };

/** By the hash of the token, which is the document's id. */
export type SourceToken = Decided & {
  readonly source: string;
  readonly tokenHash: string;
  /** Null for all courts. */
  readonly courts: readonly string[] | null;
};

export type OperatorAct =
  | EventOf<(typeof HOST_ACTS)[number]>
  | EventOf<(typeof WALLET_ACTS)[number]>
  | EventOf<(typeof SOURCE_ACTS)[number]>;

export const operatorActs: Projection<OperatorAct> = {
  name: 'operator-acts',
  events: [...HOST_ACTS, ...WALLET_ACTS, ...SOURCE_ACTS],
  collections: [
    { name: PAUSED_HOSTS, indexes: [] },
    { name: BANNED_WALLETS, indexes: [] },
    { name: SOURCE_TOKENS, indexes: [] },
  ],

  targets: ({ event: { data } }) => {
    if ('origin' in data) return [{ collection: PAUSED_HOSTS, id: data.origin }];
    if ('wallet' in data) return [{ collection: BANNED_WALLETS, id: data.wallet }];
    return [{ collection: SOURCE_TOKENS, id: data.tokenHash }];
  },

  fold(_target, document, { event, recorded }): JsonObject | null {
    const since = recorded.metadata.recordedAt;
    switch (event.type) {
      case 'HostPaused':
      case 'WalletBanned':
      case 'SourceTokenIssued':
        // Repeated, it changes nothing: the first one is what applies.
        return document ?? { ...event.data, since };
      case 'HostResumed':
      case 'WalletUnbanned':
      case 'SourceTokenRevoked':
        return null;
      default:
        return unreachable(event);
    }
  },
};

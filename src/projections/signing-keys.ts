/** Read model of signing keys, for operators: one document per wallet. Paid answers come from the wallet's stream. */
import { unreachable } from '../commands/decider.ts';
import { SIGNING_KEY_CHANGES, type SigningKeyChange, walletOf } from '../events/signing-key.ts';
import type { Instant } from '../runtime/instant.ts';
import type { Projection } from './projection.ts';

export const SIGNING_KEYS = 'signing-keys';

export type SigningKeysRecord = {
  /** Base58 address, which is the document's id. */
  readonly wallet: string;
  readonly currentKeyId: string;
  readonly currentCreatedAt: Instant;
  /** Version of the master key that its secret is derived from. */
  readonly masterVersion: number;
  /** The previous key, and until when it is valid. */
  readonly previousKeyId: string | null;
  readonly previousMasterVersion: number | null;
  readonly previousValidUntil: Instant | null;
  readonly rotations: number;
};

export const signingKeyRecords: Projection<SigningKeyChange> = {
  name: SIGNING_KEYS,
  events: SIGNING_KEY_CHANGES,
  collections: [{ name: SIGNING_KEYS, indexes: [['masterVersion']] }],

  targets({ recorded }) {
    const id = walletOf(recorded.stream);
    return id === null ? [] : [{ collection: SIGNING_KEYS, id }];
  },

  fold({ id }, document, { event }) {
    const before = document as SigningKeysRecord | null;
    const { keyId, createdAt, masterVersion } = event.data;
    const current = { wallet: id, currentKeyId: keyId, currentCreatedAt: createdAt, masterVersion };
    switch (event.type) {
      case 'SigningKeyCreated':
        return {
          ...current,
          previousKeyId: null,
          previousMasterVersion: null,
          previousValidUntil: null,
          rotations: 0,
        };
      case 'SigningKeyRotated':
        return {
          ...current,
          previousKeyId: event.data.previousKeyId,
          previousMasterVersion: before?.masterVersion ?? null,
          previousValidUntil: event.data.previousValidUntil,
          rotations: (before?.rotations ?? 0) + 1,
        };
      default:
        return unreachable(event);
    }
  },
};

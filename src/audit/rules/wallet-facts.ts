/** A wallet's keys against the attempts that they signed and the payments that bought them. */
import { type Instant, MICROS_PER_SECOND, plus, toMicros } from '../../runtime/instant.ts';
import type { Breach, Fact, FactRules } from '../judging.ts';
import { OWED_WITHIN } from './limits.ts';
import { tooLate } from './moment.ts';

interface MadeKey {
  readonly createdAt: Instant;
  /** When it was replaced, and until when it then was valid; null while it is the current key. */
  replaced: { readonly at: Instant; readonly validUntil: Instant } | null;
  /** When the key that replaced it was itself replaced. From then on this one is not valid any more. */
  endedAt: Instant | null;
}

/**
 * A process reads the keys and then claims the attempt, on a clock of its own: a key that two rotations ended in
 * between may still be claimed for this long.
 */
const CLAIMED_WITHIN = 60 * MICROS_PER_SECOND;

export const walletFacts: FactRules = {
  kind: 'wallet',
  judge(facts, until, breach) {
    const keys = new Map<string, MadeKey>();
    let newest: MadeKey | null = null;
    let beforeNewest: MadeKey | null = null;
    const bought = new Map<string, Fact>();
    /** Bought by payments that were rolled back; the key may have been made by then, or is made at the same time. */
    const undone = new Set<string>();
    for (const fact of facts) {
      const { keyId } = fact.value as { readonly keyId: string };
      switch (fact.says) {
        case 'bought':
          bought.set(keyId, fact);
          undone.delete(keyId);
          break;
        case 'undone':
          undone.add(keyId);
          break;
        case 'attempt':
          judgeAttempt(keys.get(keyId), fact, breach);
          break;
        default: {
          const { createdAt, previousValidUntil } = fact.value as unknown as Made;
          if (previousValidUntil !== null && !isRotation(bought.get(keyId))) {
            breach({ ...placeOf(fact), rule: 'key_paid', expected: 'a settled rotation', found: `none of ${keyId}` });
          }
          judgeDone(keyId, undone.has(keyId) ? undefined : bought.get(keyId), fact, breach);
          if (beforeNewest) beforeNewest.endedAt ??= createdAt;
          if (newest && previousValidUntil) newest.replaced ??= { at: createdAt, validUntil: previousValidUntil };
          beforeNewest = newest;
          newest = { createdAt, replaced: null, endedAt: null };
          keys.set(keyId, newest);
        }
      }
    }
    for (const [keyId, fact] of bought) {
      if (
        keys.has(keyId) ||
        undone.has(keyId) ||
        !isRotation(fact) ||
        toMicros(until) - toMicros(fact.at) <= OWED_WITHIN
      )
        continue;
      const expected = `key ${keyId} within an hour of ${fact.at}`;
      breach({ ...placeOf(fact), rule: 'key_call_done', expected, found: `none until ${until}` });
    }
  },
};

interface Made {
  readonly createdAt: Instant;
  readonly previousValidUntil: Instant | null;
}

const isRotation = (fact: Fact | undefined): boolean =>
  (fact?.value as { readonly does?: string } | undefined)?.does === 'rotate';

const placeOf = ({ stream, revision, position }: Fact) => ({ stream, revision, position });

function judgeDone(keyId: string, owed: Fact | undefined, made: Fact, breach: (breach: Breach) => void): void {
  const late = owed && isRotation(owed) ? tooLate(owed, made) : null;
  if (late) breach({ ...placeOf(made), rule: 'key_call_done', expected: `key ${keyId} ${late}`, found: made.at });
}

function judgeAttempt(key: MadeKey | undefined, fact: Fact, breach: (breach: Breach) => void): void {
  const { keyId, startedAt } = fact.value as { readonly keyId: string; readonly startedAt: Instant };
  const broken = (expected: string, found: string) =>
    breach({ ...placeOf(fact), rule: 'attempt_key_valid', expected, found });
  if (!key) broken('a key of the wallet', `${keyId}, which it did not have`);
  else if (key.replaced && startedAt >= key.replaced.validUntil) {
    broken(`a key valid at ${startedAt}`, `${keyId}, valid until ${key.replaced.validUntil}`);
  } else if (key.endedAt && startedAt >= plus(key.endedAt, CLAIMED_WITHIN)) {
    broken(`a key valid at ${startedAt}`, `${keyId}, which ended at ${key.endedAt}`);
  }
}

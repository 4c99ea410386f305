/**
 * Paid calls on a wallet's signing keys. They take effect only after settlement (docs/design/payments.md#key-calls).
 * The paying request, the result URL and the process that follows settlements all run this code, possibly several times
 * and in parallel. The payment reserves the key's id, so the first of them creates the key and the others find it.
 */
import { MasterKeyMissing, type MasterKeys } from '../../callbacks/master-keys.ts';
import { type Problem, problem } from '../../errors.ts';
import { type Clock, type Instant, toInstant } from '../../runtime/instant.ts';
import type { CommandContext, EventLog } from '../../storage/event-log.ts';
import { isRejection } from '../decider.ts';
import { handledOf, record } from '../handle.ts';
import { type Purchase, payment } from '../payment/payment.ts';
import type { KeyCalls } from '../purchase/contract.ts';
import { type MadeKey, madeKey, type ValidKeys, validKeysAt, type WalletKeys } from './signing-key.ts';
import { ensureSigningKey, rotateSigningKey, type SigningKeyPorts } from './use.ts';

export interface KeyCallPorts extends SigningKeyPorts {
  readonly masterKeys: MasterKeys;
}

/** What an answer says about the call that paid for it. */
export interface AnsweredKeyCall {
  readonly requestId: string;
  readonly wallet: string;
  /** Base units. */
  readonly amount: string;
  readonly tag: string | null;
  readonly at: Instant;
}

/** Composes the bodies of both answers, including `meta`, which belongs to the transport. */
export interface KeyAnswers {
  shown(call: AnsweredKeyCall, keys: ValidKeys): Buffer;
  /** @param signInRequired whether the wallet must prove itself from now on */
  rotated(call: AnsweredKeyCall, key: MadeKey, secret: string, signInRequired: boolean): Buffer;
}

export interface KeyCallsPorts extends KeyCallPorts {
  readonly answers: KeyAnswers;
  newKeyId(): string;
}

/**
 * Does what a settled call on keys requires: creates the wallet's first key if it has none, or the key that a rotation
 * reserved. Idempotent.
 * @throws the errors of the log; the outcome is then unknown, and repeating is safe
 */
export async function applyKeyCall(
  ports: KeyCallPorts,
  { authorization: { wallet }, answer: { keyCall } }: Pick<Purchase, 'authorization' | 'answer'>,
  context: CommandContext,
): Promise<WalletKeys> {
  if (keyCall === null) throw new TypeError('this payment bought no call on keys');
  const { does, keyId, requireSignIn = false } = keyCall;
  const masterVersion = ports.masterKeys.newest;
  return does === 'rotate'
    ? rotateSigningKey(ports, wallet, { keyId, masterVersion, requireSignIn }, context)
    : ensureSigningKey({ ...ports, newKeyId: () => keyId }, wallet, masterVersion, context);
}

/** Calls on keys, for purchases and the result URL. */
export function createKeyCalls(ports: KeyCallsPorts): KeyCalls {
  const { clock, masterKeys, answers } = ports;
  const callOf = ({ authorization: { requestId, wallet, amount } }: Purchase, tag: string | null): AnsweredKeyCall => ({
    requestId,
    wallet,
    amount,
    tag,
    at: toInstant(clock.now()),
  });
  return {
    newKeyId: () => ports.newKeyId(),
    async show(purchase, { tag, context }) {
      const keys = validKeysAt(await applyKeyCall(ports, purchase, context), clock.now());
      if (!keys) throw new Error('a wallet has no key though one was just made');
      return answers.shown(callOf(purchase, tag), keys);
    },
    async rotate(stream, purchase, { tag, context }) {
      const keyId = purchase.answer.keyCall?.keyId ?? '';
      const keys = await applyKeyCall(ports, purchase, context);
      const key = madeKey(keys, keyId);
      if (!key) throw new Error('a rotation left no key though it was just made');
      const secret = secretOf(masterKeys, purchase.authorization.wallet, key);
      // Checked before the handout is recorded, so that a node without the master key leaves it to another node.
      if (secret === null) return masterKeyMissing();
      // Recorded before the secret is sent, so that it is sent at most once.
      if (!(await handOut(ports, stream, context))) return handedOutBefore();
      return answers.rotated(callOf(purchase, tag), key, secret, keys.proofs !== null);
    },
  };
}

function secretOf(masterKeys: MasterKeys, wallet: string, { keyId, masterVersion }: MadeKey): string | null {
  try {
    return masterKeys.secretOf({ wallet, keyId, masterVersion });
  } catch (error) {
    if (error instanceof MasterKeyMissing) return null;
    throw error;
  }
}

/**
 * This node does not have the master key that a signing key was derived from. `/readyz` and the log report it to
 * operators.
 */
export const masterKeyMissing = (): Problem =>
  problem(
    'service_unavailable',
    { component: 'signing_keys', retry_after: 60 },
    'A signing key of this wallet cannot be used here now.',
  );

const handedOutBefore = (): Problem =>
  problem(
    'result_gone',
    {
      successor: 'POST /v2/wallet/keys',
      hint: 'A secret is given once. If that answer was lost, rotate again: the new key replaces this one.',
    },
    'The secret of this key was handed out before.',
  );

/**
 * Records that the answer of a payment is handed out now.
 * @returns false if it was handed out before
 * @throws the errors of the log; the answer may then count as handed out and must not be sent
 */
async function handOut(
  {
    log,
    clock,
    appendRepeatsMs,
  }: { readonly log: EventLog; readonly clock: Clock; readonly appendRepeatsMs?: readonly number[] },
  stream: string,
  context: CommandContext,
): Promise<boolean> {
  const outcome = await record(
    { log, clock },
    {
      decider: payment,
      stream,
      command: { type: 'HandOut' },
      context,
      repeatsMs: appendRepeatsMs,
      decisions: Number.POSITIVE_INFINITY,
    },
  );
  return !isRejection(handledOf(outcome));
}

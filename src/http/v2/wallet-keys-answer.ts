/** The bodies of both calls on a wallet's keys (docs/design/interface.md#2.6), real or from fixtures. */
import { SANDBOX_KEY_ID, SANDBOX_SECRET, SANDBOX_WALLET } from '../../callbacks/sandbox-key.ts';
import { standardSecret } from '../../callbacks/signature.ts';
import type { AnsweredKeyCall, KeyAnswers } from '../../commands/signing-key/paid-call.ts';
import { type MadeKey, ROTATION_WINDOW, type ValidKeys } from '../../commands/signing-key/signing-key.ts';
import { type Clock, type Instant, plus, toInstant } from '../../runtime/instant.ts';
import { type Meta, metaOf } from '../meta.ts';
import { costInUsd, type SandboxAnswer } from '../paid/paid-call.ts';

/** The answers to paid calls. */
export const keyAnswers: KeyAnswers = {
  shown: (call, keys) => Buffer.from(JSON.stringify(shownBody(paidMeta(call), call.wallet, keys))),
  rotated: (call, key, secret, signInRequired) =>
    Buffer.from(JSON.stringify(rotatedBody(paidMeta(call), call.wallet, { key, secret, signInRequired }))),
};

const paidMeta = ({ requestId, amount, tag, at }: AnsweredKeyCall): Meta =>
  metaOf({ request_id: requestId, queried_at: at, query_cost_usd: costInUsd(BigInt(amount)), tag });

const shownBody = (meta: Meta, wallet: string, { current, previous }: ValidKeys) => ({
  meta,
  wallet,
  current_key_id: current.keyId,
  current_key_created_at: current.createdAt,
  previous_key_id: previous?.keyId ?? null,
});

const rotatedBody = (
  meta: Meta,
  wallet: string,
  { key, secret, signInRequired }: { readonly key: MadeKey; readonly secret: string; readonly signInRequired: boolean },
) => ({
  meta,
  wallet,
  new_key_id: key.keyId,
  new_key_secret: secret,
  new_key_secret_standard_webhooks: standardSecret(secret),
  new_key_created_at: key.createdAt,
  previous_key_id: key.replaced?.keyId ?? null,
  previous_key_valid_until: key.replaced?.validUntil ?? null,
  sign_in_required: signInRequired,
});

const FIXTURE_CREATED: Instant = '2026-01-05T15:00:00.000000Z';
const FIXTURE = { keyId: SANDBOX_KEY_ID, createdAt: FIXTURE_CREATED, masterVersion: 1 };

/** The sandbox's `GET /v2/wallet/keys`. */
export const sandboxKeys =
  (clock: Clock): SandboxAnswer =>
  (call) =>
    JSON.stringify(shownBody(sandboxMeta(clock.now(), call), SANDBOX_WALLET, { current: FIXTURE, previous: null }));

/** The sandbox's `POST /v2/wallet/keys`: the published key, as if it had just replaced another one. */
export const sandboxRotation =
  (clock: Clock, signInRequired: boolean): SandboxAnswer =>
  (call) => {
    const now = clock.now();
    const createdAt = toInstant(now);
    const replaced = { keyId: `${SANDBOX_KEY_ID}-before`, validUntil: plus(createdAt, ROTATION_WINDOW) };
    const key = { ...FIXTURE, createdAt, replaced };
    return JSON.stringify(
      rotatedBody(sandboxMeta(now, call), SANDBOX_WALLET, { key, secret: SANDBOX_SECRET, signInRequired }),
    );
  };

const sandboxMeta = (now: number, { requestId, tag }: Parameters<SandboxAnswer>[0]): Meta =>
  metaOf({ request_id: requestId, queried_at: toInstant(now), sandbox: true, tag });

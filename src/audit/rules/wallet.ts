/** The rules of a wallet's stream: its signing keys and its proofs. */
import { ROTATION_WINDOW, rememberedUntil, type UsedProof } from '../../commands/signing-key/signing-key.ts';
import type { Json } from '../../events/event.ts';
import { type SigningKeyEvent, WALLET_STREAM_EVENTS, walletOf } from '../../events/signing-key.ts';
import { plus } from '../../runtime/instant.ts';
import type { Findings, StreamRules } from '../judging.ts';
import { momentOf } from './moment.ts';
import { judgeRecordedTime } from './recorded-times.ts';

export interface WalletState {
  readonly [member: string]: Json;
  /** Every key of the wallet, oldest first. */
  readonly keyIds: readonly string[];
  /** Proofs that are not forgotten yet. */
  readonly proofs: readonly (UsedProof & { readonly [member: string]: Json })[];
}

const TYPES: ReadonlySet<string> = new Set(WALLET_STREAM_EVENTS.map(({ type }) => type));

export const walletRules: StreamRules<WalletState> = {
  covers: (stream) => walletOf(stream) !== null,

  judge(before, judged, findings) {
    const { stream, type, data } = judged;
    const state = before ?? { keyIds: [], proofs: [] };
    if (!TYPES.has(type)) {
      findings.breach('event_in_its_stream', 'an event of a wallet', type);
      return state;
    }
    const event = { type, data } as unknown as SigningKeyEvent;
    if (event.type === 'SignInProved') return afterProof(state, event.data, findings);
    judgeKey(state, event, findings);
    judgeRecordedTime(judged, findings);
    const { keyId, createdAt } = event.data;
    const previousValidUntil = event.type === 'SigningKeyRotated' ? event.data.previousValidUntil : null;
    findings.state(`wallet:${walletOf(stream)}`, 'made', {
      ...{ keyId, createdAt, previousValidUntil },
      ...momentOf(judged, findings),
    });
    return { ...state, keyIds: [...state.keyIds, keyId] };
  },
};

function judgeKey(
  { keyIds }: WalletState,
  event: Exclude<SigningKeyEvent, { readonly type: 'SignInProved' }>,
  findings: Findings,
): void {
  const current = keyIds.at(-1);
  const { keyId } = event.data;
  if (keyIds.includes(keyId)) findings.breach('key_unique', 'a new key id', keyId);
  if (event.type === 'SigningKeyCreated') {
    if (current !== undefined) findings.breach('key_order', `a key that replaces ${current}`, `a first key ${keyId}`);
    return;
  }
  const { previousKeyId, previousValidUntil, createdAt } = event.data;
  if (previousKeyId !== current) {
    findings.breach('key_order', `a key that replaces ${current ?? 'none'}`, `one that replaces ${previousKeyId}`);
  }
  const expected = plus(createdAt, ROTATION_WINDOW);
  if (previousValidUntil !== expected) findings.breach('key_window', expected, previousValidUntil);
}

type Proof = Extract<SigningKeyEvent, { readonly type: 'SignInProved' }>['data'];

function afterProof(
  state: WalletState,
  { proof, payment, provedAt, validUntil }: Proof,
  findings: Findings,
): WalletState {
  const used = state.proofs.find((one) => one.proof === proof);
  if (used) findings.breach('proof_used_once', 'a proof that is new', `one accepted for payment ${used.payment}`);
  const remembered = state.proofs.filter((one) => rememberedUntil(one) > provedAt);
  return { ...state, proofs: [...remembered, { proof, payment, validUntil }] };
}

/**
 * Puts the newest head's root on the chain and records it once it is final. If the process dies in between, the next
 * anchor writes one more memo, which costs its fee and harms nothing.
 */
import bs58 from 'bs58';
import { LOG_HEAD_STREAM } from '../../events/log-head.ts';
import { type Clock, MICROS_PER_SECOND, toInstant } from '../../runtime/instant.ts';
import { pause } from '../../runtime/pause.ts';
import { ANCHOR_FEE_LAMPORTS, composeAnchor } from '../../solana/anchor-transaction.ts';
import { ChainUnavailable, type LatestBlockhash } from '../../solana/chain.ts';
import type { SolanaKey } from '../../solana/keys.ts';
import { RENT_RESERVE_LAMPORTS } from '../../solana/prepare-receiver.ts';
import type { RpcChain } from '../../solana/rpc-chain.ts';
import { type CommandContext, type EventLog, RevisionConflict } from '../../storage/event-log.ts';
import { isRejection } from '../decider.ts';
import { handle } from '../handle.ts';
import { type LogAnchor, type LogHead, logHeads } from './log-head.ts';
import { loadNewestHeads } from './newest-heads.ts';

export interface AnchorPorts {
  readonly log: Pick<EventLog, 'append' | 'read'>;
  readonly chain: Pick<
    RpcChain,
    'latestBlockhash' | 'send' | 'signatureStatus' | 'blockHeight' | 'balance' | 'blockTime'
  >;
  readonly feePayer: SolanaKey;
  readonly logId: string;
  readonly clock: Clock;
  /** Between two looks for the outcome, milliseconds; 2,000 if omitted. */
  readonly lookEveryMs?: number;
}

export interface AnchorCall {
  /** Who anchors, as recorded. */
  readonly by: string;
  readonly context: CommandContext;
  readonly signal?: AbortSignal;
  /** Called before anything is sent that costs something. */
  readonly sending?: (head: LogHead) => void;
  /** Called once the transaction is on its way. */
  readonly sent?: (signature: string) => void;
}

export type AnchorOutcome =
  | { readonly anchored: LogAnchor; readonly isNew: boolean }
  /** There is no head yet. */
  | { readonly anchored: null };

/** The anchor was not written, and cost nothing unless the transaction failed on the chain. */
export class AnchorFailed extends Error {
  constructor(
    readonly code: 'fee_payer_funds' | 'anchor_refused' | 'anchor_failed' | 'anchor_expired' | 'anchor_interrupted',
    message: string,
  ) {
    super(message);
    this.name = 'AnchorFailed';
  }
}

const LOOK_EVERY_MS = 2_000;
/** Looks without an answer before the outcome is given up: half a minute. */
const MOST_UNANSWERED = 15;
const DECISIONS = 10;

/**
 * Anchors the newest head, unless it is anchored.
 * @throws AnchorFailed, ChainUnavailable, and the errors of the log
 */
export async function anchorNewestHead(ports: AnchorPorts, call: AnchorCall): Promise<AnchorOutcome> {
  const { head, anchor } = (await loadNewestHeads(ports.log)).state;
  if (head === null) return { anchored: null };
  if (anchor !== null && anchor.size === head.size) return { anchored: anchor, isNew: false };
  const { transaction, slot } = await send(ports, head, call);
  const seconds = await ports.chain.blockTime(slot).catch(() => null);
  const blockTime = seconds === null ? null : toInstant(seconds * MICROS_PER_SECOND);
  const fee = Number(ANCHOR_FEE_LAMPORTS);
  const anchored = { size: head.size, root: head.root, transaction, slot, blockTime, fee, by: call.by };
  await recordAnchor(ports, anchored, call.context);
  return { anchored, isNew: true };
}

async function send(
  { chain, feePayer, logId, lookEveryMs = LOOK_EVERY_MS }: AnchorPorts,
  head: LogHead,
  call: AnchorCall,
) {
  const lamports = await chain.balance(feePayer.address);
  if (lamports < RENT_RESERVE_LAMPORTS + ANCHOR_FEE_LAMPORTS) {
    throw new AnchorFailed('fee_payer_funds', `the fee payer ${feePayer.address} holds only ${lamports} lamports`);
  }
  call.sending?.(head);
  const latest = await chain.latestBlockhash();
  const wire = composeAnchor(feePayer, { logId, size: head.size, root: head.root }, latest.blockhash);
  const signature = bs58.encode(wire.subarray(1, 65));
  const accepted = await chain.send(wire, { signature, everywhere: true });
  if (!accepted.sent) throw new AnchorFailed('anchor_refused', `the chain refused it: ${accepted.code}`);
  call.sent?.(signature);
  for (let unanswered = 0; ; ) {
    try {
      const slot = await finalSlot(chain, signature, latest);
      if (slot !== null) return { transaction: signature, slot };
      unanswered = 0;
    } catch (error) {
      // It may be final already: giving up now would cost the fee again.
      if (!(error instanceof ChainUnavailable) || ++unanswered > MOST_UNANSWERED) throw error;
    }
    await pause(lookEveryMs, call.signal);
    if (call.signal?.aborted) throw new AnchorFailed('anchor_interrupted', `${signature} is not final yet`);
    // An endpoint may have accepted what the cluster never saw; a repeat costs nothing.
    await chain.send(wire, { signature, everywhere: true }).catch(() => undefined);
  }
}

/** The slot of a final transaction; null while it may still become final. @throws AnchorFailed if it never can */
async function finalSlot(
  chain: AnchorPorts['chain'],
  signature: string,
  { lastValidBlockHeight }: LatestBlockhash,
): Promise<number | null> {
  const height = await chain.blockHeight('finalized');
  const status = await chain.signatureStatus(signature);
  if (status?.error) throw new AnchorFailed('anchor_failed', `${signature} failed: ${status.error}`);
  if (status?.commitment === 'finalized') return status.slot;
  if (status === null && height > lastValidBlockHeight) {
    throw new AnchorFailed('anchor_expired', `${signature} was not processed before its blockhash expired`);
  }
  return null;
}

async function recordAnchor({ log, clock }: AnchorPorts, anchor: LogAnchor, context: CommandContext): Promise<void> {
  for (let decision = 1; ; decision++) {
    const known = await loadNewestHeads(log);
    try {
      const command = { type: 'Anchor', anchor } as const;
      const handled = await handle({ log, clock }, logHeads, LOG_HEAD_STREAM, command, context, known);
      if (isRejection(handled)) throw new Error(`an anchor was rejected: ${handled.rejected}`);
      return;
    } catch (error) {
      // Heads are recorded meanwhile.
      if (!(error instanceof RevisionConflict) || decision >= DECISIONS) throw error;
    }
  }
}

/**
 * Checks anchors against the chain: those that the log recorded, and those that the chain has and the log should know
 * (docs/design/audit.md#anchors).
 */
import type { LogAnchor } from '../commands/log-head/log-head.ts';
import { decodeEvent } from '../events/codec.ts';
import { LOG_HEAD_STREAM, type LogHeadEvent } from '../events/log-head.ts';
import { isSignature, SIGNATURE } from '../solana/addresses.ts';
import { type AnchorMemo, anchorAddress, anchorMemo, readAnchorMemo } from '../solana/anchor-transaction.ts';
import type { ChainHistory } from '../solana/chain-history.ts';
import type { EventLog, RecordedEvent } from '../storage/event-log.ts';

/** The history of the chain, as far as anchors need it. */
export type AnchorHistory = Pick<ChainHistory, 'transaction' | 'signatures'>;

export type AnchorCheck =
  | { readonly holds: true; readonly signer: string }
  /** The endpoints no longer keep the history of that slot. */
  | { readonly holds: null; readonly keptFrom: number }
  | { readonly holds: false; readonly expected: string; readonly found: string };

/**
 * Whether the chain has what the log says that it anchored.
 * @param signers the addresses that may have anchored, if the auditor knows them
 * @throws the errors of the history
 */
export async function checkAnchor(
  history: Pick<AnchorHistory, 'transaction'>,
  logId: string,
  { size, root, transaction: signature, slot }: Pick<LogAnchor, 'size' | 'root' | 'transaction' | 'slot'>,
  signers: ReadonlySet<string> | null = null,
): Promise<AnchorCheck> {
  const wrong = (expected: string, found: string): AnchorCheck => ({ holds: false, expected, found });
  // An endpoint refuses such a question, which says nothing about the chain.
  if (!isSignature(signature)) return wrong(SIGNATURE, 'another text');
  const looked = await history.transaction(signature, { slot, commitment: 'finalized' });
  if (!looked.found) {
    if (looked.keptFrom > slot) return { holds: null, keptFrom: looked.keptFrom };
    return wrong(`transaction ${signature}`, 'no such transaction on the chain');
  }
  const { transaction } = looked;
  if (transaction.error !== null) return wrong('a transaction that succeeded', `it failed: ${transaction.error}`);
  if (transaction.slot !== slot) return wrong(`slot ${slot}`, `slot ${transaction.slot}`);
  const memo = anchorMemo({ logId, size, root });
  if (!transaction.memos.includes(memo)) return wrong(memo, transaction.memos.join('; ') || 'no memo');
  const [signer = ''] = transaction.signers;
  if (signers && !signers.has(signer)) return wrong(`signed by ${[...signers].join(' or ')}`, `signed by ${signer}`);
  return { holds: true, signer };
}

/** An anchor that the chain has. Anybody may write such a memo: only one that a known address signed proves something. */
export interface FoundAnchor extends AnchorMemo {
  readonly transaction: string;
  readonly slot: number;
  readonly signer: string;
}

/**
 * The anchors of a log that the chain has, the newest first, whether or not the log knows them: a log whose tail was cut
 * together with its anchors does not lead to their roots.
 * @param notKept called for each listed transaction that the endpoints no longer keep, so that its memo is unknown
 * @throws the errors of the history
 */
export async function* anchorsOnChain(
  history: AnchorHistory,
  logId: string,
  notKept: (transaction: string) => void = () => undefined,
): AsyncIterable<FoundAnchor> {
  const seen = new Set<string>();
  let before: string | null = null;
  // Until a page with nothing new, since an endpoint may return shorter pages than it could.
  for (;;) {
    const { signatures } = await history.signatures(anchorAddress(logId), { before, until: null });
    const fresh = signatures.filter(({ signature }) => !seen.has(signature));
    for (const { signature, failed } of fresh) {
      seen.add(signature);
      if (failed) continue;
      const looked = await history.transaction(signature, { slot: null, commitment: 'finalized' });
      if (!looked.found) {
        notKept(signature);
        continue;
      }
      const { memos, slot, signers } = looked.transaction;
      for (const text of memos) {
        const memo = readAnchorMemo(text);
        if (memo?.logId === logId) yield { ...memo, transaction: signature, slot, signer: signers[0] ?? '' };
      }
    }
    const last = fresh.at(-1);
    if (!last) return;
    before = last.signature;
  }
}

/** Something that log and chain say differently about an anchor. */
export interface AnchorFault {
  readonly transaction: string;
  /** Revision in the stream of the heads; null if the log does not know the anchor. */
  readonly revision: number | null;
  readonly expected: string;
  readonly found: string;
}

export interface AnchorsReport {
  /** Anchors that the log recorded. */
  readonly recorded: number;
  readonly held: number;
  /** Recorded anchors whose transaction the endpoints no longer keep. */
  readonly notKept: number;
  /** Listed by the chain, but no longer kept by the endpoints: they may be anchors that are missing in the log. */
  readonly listedNotKept: number;
  /** Recorded anchors that hold, but are signed by none of the given fee payers. */
  readonly otherSigner: number;
  /** `given`: by the caller. `log`: those who signed the anchors in the log, so a rewritten log names its own signer. */
  readonly signersFrom: 'given' | 'log';
  /** Anchors that the chain has, by known signers. */
  readonly onChain: number;
  /** Memos like ours that somebody else signed; they prove nothing. */
  readonly foreign: number;
  /** The newest head that the chain proves, if the signers are given; null if there is none. */
  readonly proven: AnchorMemo | null;
  readonly faults: readonly AnchorFault[];
}

const EVENTS_A_READ = 4_096;

/**
 * Compares all anchors that the log recorded with the chain, and all that the chain has with the heads of the log: one of
 * which the log has no head shows that the log was cut or replaced.
 * @param feePayers whose memos count; if there are none, those of the signers of anchors that the log recorded
 * @throws the errors of the log and of the history
 */
export async function checkAnchors(
  log: Pick<EventLog, 'read'>,
  history: AnchorHistory,
  logId: string,
  feePayers: readonly string[],
): Promise<AnchorsReport> {
  const chain: FoundAnchor[] = [];
  let listedNotKept = 0;
  for await (const found of anchorsOnChain(history, logId, () => listedNotKept++)) chain.push(found);
  const bySize = new Map<number, FoundAnchor[]>();
  for (const anchor of chain) bySize.set(anchor.size, [...(bySize.get(anchor.size) ?? []), anchor]);
  const known = new Set<FoundAnchor>();
  const signers = new Set(feePayers);
  const signersFrom = feePayers.length > 0 ? 'given' : 'log';
  const faults: AnchorFault[] = [];
  const count = { recorded: 0, held: 0, notKept: 0, otherSigner: 0 };
  for await (const recorded of eventsOf(log, LOG_HEAD_STREAM)) {
    const event = decodeEvent(recorded) as LogHeadEvent;
    if (event.type === 'LogHeadRecorded') {
      const { size, root } = event.data;
      for (const anchor of bySize.get(size) ?? []) if (anchor.root === root) known.add(anchor);
    }
    if (event.type !== 'LogHeadAnchored') continue;
    const { transaction } = event.data;
    count.recorded++;
    const check = await checkAnchor(history, logId, event.data);
    if (check.holds) {
      count.held++;
      if (signersFrom === 'log') signers.add(check.signer);
      else if (!signers.has(check.signer)) count.otherSigner++;
    } else if (check.holds === null) count.notKept++;
    else faults.push({ transaction, revision: recorded.revision, expected: check.expected, found: check.found });
  }
  const ours = chain.filter(({ signer }) => signers.has(signer));
  for (const anchor of ours) {
    if (known.has(anchor)) continue;
    const { transaction, size, root } = anchor;
    const expected = `a head over ${size} events with root ${root}`;
    faults.push({ transaction, revision: null, expected, found: 'no such head in the log' });
  }
  const proven = ours.filter((anchor) => known.has(anchor)).reduce<FoundAnchor | null>(larger, null);
  return {
    ...count,
    listedNotKept,
    signersFrom,
    onChain: ours.length,
    foreign: chain.length - ours.length,
    proven: proven && { logId, size: proven.size, root: proven.root },
    faults,
  };
}

const larger = (a: FoundAnchor | null, b: FoundAnchor): FoundAnchor => (a !== null && a.size > b.size ? a : b);

async function* eventsOf(log: Pick<EventLog, 'read'>, stream: string): AsyncIterable<RecordedEvent> {
  for (let from = 0; ; from += EVENTS_A_READ) {
    const events = await log.read(stream, { from, limit: EVENTS_A_READ });
    yield* events;
    if (events.length < EVENTS_A_READ) return;
  }
}

/**
 * Checks anchors against the chain: those that the log recorded, and those that the chain has and the log should know
 * (docs/design/audit.md#anchors).
 */
import type { LogAnchor } from '../commands/log-head/log-head.ts';
import { type AnchorMemo, anchorAddress, anchorMemo, readAnchorMemo } from '../solana/anchor-transaction.ts';
import type { ChainHistory } from '../solana/chain-history.ts';

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
  { size, root, transaction: signature, slot }: LogAnchor,
  signers: ReadonlySet<string> | null = null,
): Promise<AnchorCheck> {
  const looked = await history.transaction(signature, { slot, commitment: 'finalized' });
  const wrong = (expected: string, found: string): AnchorCheck => ({ holds: false, expected, found });
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

const PAGE = 1_000;

/**
 * The anchors of a log that the chain has, the newest first, whether or not the log knows them: a log whose tail was cut
 * together with its anchors does not lead to their roots.
 * @throws the errors of the history
 */
export async function* anchorsOnChain(history: AnchorHistory, logId: string): AsyncIterable<FoundAnchor> {
  let before: string | null = null;
  for (;;) {
    const { signatures } = await history.signatures(anchorAddress(logId), { before, until: null });
    for (const { signature, failed } of signatures) {
      if (failed) continue;
      const looked = await history.transaction(signature, { slot: null, commitment: 'finalized' });
      if (!looked.found) continue;
      const { memos, slot, signers } = looked.transaction;
      for (const text of memos) {
        const memo = readAnchorMemo(text);
        if (memo?.logId === logId) yield { ...memo, transaction: signature, slot, signer: signers[0] ?? '' };
      }
    }
    const last = signatures.at(-1);
    if (!last || signatures.length < PAGE) return;
    before = last.signature;
  }
}

/**
 * The transaction that puts the root of the event log on the chain (docs/design/audit.md#anchors). It moves nothing. All
 * anchors of one log name one account that is used for nothing else, so that they are found without their log.
 */
import { createHash } from 'node:crypto';
import bs58 from 'bs58';
import { addressBytes, MEMO_PROGRAM, SYSTEM_PROGRAM } from './addresses.ts';
import type { SolanaKey } from './keys.ts';
import { composeTransaction } from './local/compose.ts';
import { LAMPORTS_PER_SIGNATURE } from './network-fee.ts';

/** What an anchor says: the log's first `size` events have this root. */
export interface AnchorMemo {
  readonly logId: string;
  readonly size: number;
  /** 64 lower-case hex characters. */
  readonly root: string;
}

/** One signature, no priority. */
export const ANCHOR_FEE_LAMPORTS = LAMPORTS_PER_SIGNATURE;

const MEMO = /^docket-log ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}) ([1-9]\d{0,15}) ([A-Za-z0-9+/]{43}=)$/;
const TRANSFER = 2;

export const anchorMemo = ({ logId, size, root }: AnchorMemo): string =>
  `docket-log ${logId} ${size} ${Buffer.from(root, 'hex').toString('base64')}`;

/** Null for any text that `anchorMemo` does not write. */
export function readAnchorMemo(text: string): AnchorMemo | null {
  const [, logId, size, root] = MEMO.exec(text) ?? [];
  if (logId === undefined || root === undefined) return null;
  const memo = { logId, size: Number(size), root: Buffer.from(root, 'base64').toString('hex') };
  return anchorMemo(memo) === text ? memo : null;
}

/** The account that all anchors of a log name. It has no known key and never holds anything. */
export const anchorAddress = (logId: string): string =>
  bs58.encode(createHash('sha256').update(`docket-log anchors ${logId}`).digest());

/** A signed transaction: the memo, and a transfer of nothing from the payer to itself that names the log's account. */
export function composeAnchor(payer: SolanaKey, memo: AnchorMemo, blockhash: string): Buffer {
  const bytes = addressBytes(blockhash);
  if (!bytes) throw new RangeError(`not a blockhash: ${blockhash}`);
  const nothing = Buffer.alloc(12);
  nothing.writeUInt32LE(TRANSFER);
  const self = { address: payer.address, writable: true };
  const accounts = [self, self, { address: anchorAddress(memo.logId), writable: false }];
  const instructions = [
    { program: SYSTEM_PROGRAM, accounts, data: nothing },
    { program: MEMO_PROGRAM, accounts: [], data: Buffer.from(anchorMemo(memo)) },
  ];
  return composeTransaction(payer, instructions, bytes);
}

/**
 * Whether the submitted bytes are the transaction that they are said to be, and pay what was authorized. Checking each
 * signature costs more than all other rules together, so `wire_signed` is judged only on request.
 */
import { hash } from 'node:crypto';
import bs58 from 'bs58';
import type { Purchase } from '../../commands/payment/payment.ts';
import type { JsonObject } from '../../events/event.ts';
import { paymentOf, paymentStream } from '../../events/payment.ts';
import { addressBytes, associatedTokenAddress, USDC_DECIMALS } from '../../solana/addresses.ts';
import { verifySignature } from '../../solana/keys.ts';
import { type PaymentInstruction, readInstruction } from '../../solana/verify-transaction-instructions.ts';
import { decodeTransaction } from '../../solana/verify-transaction-wire.ts';
import type { Findings, LogRules } from '../judging.ts';
import { isBase58Of } from './base58.ts';
import { otherCallIn } from './payment-memo.ts';

export function judgeWire(
  stream: string,
  authorization: Purchase['authorization'],
  { wire, transaction }: Purchase['submission'],
  findings: Findings,
): void {
  const decoded = decodeTransaction(Buffer.from(wire, 'base64'));
  if ('fault' in decoded) {
    findings.breach('wire_is_the_payment', 'the bytes of a transaction', decoded.fault);
    return;
  }
  const messageStream = paymentStream(hash('sha256', decoded.message));
  if (messageStream !== stream) {
    findings.breach('wire_is_the_payment', stream, messageStream);
    return;
  }
  const [first] = decoded.signatures;
  if (!first || !isBase58Of(transaction, first)) {
    const signature = first ? bs58.encode(first) : 'none';
    findings.breach('wire_is_the_payment', `the first signature ${signature}`, transaction);
  }
  const instructions = decoded.instructions.map(readInstruction);
  const fault = faultOfTransfer(instructions, authorization);
  if (fault) findings.breach('wire_pays_as_authorized', fault.expected, fault.found);
  const other = otherCallIn(instructions, authorization.endpoint);
  if (other !== null)
    findings.breach('memo_names_the_call', `a memo for ${authorization.endpoint}`, `one for ${other}`);
}

interface Fault {
  readonly expected: string;
  readonly found: string;
}

type Transfer = Extract<PaymentInstruction, { readonly kind: 'transfer' }>;
/** Instructions that move money, or may. */
const MOVES: ReadonlySet<PaymentInstruction['kind']> = new Set(['transfer', 'token-2022', 'advance-nonce', 'unknown']);

function faultOfTransfer(
  instructions: readonly PaymentInstruction[],
  { wallet, payTo, mint, amount }: Purchase['authorization'],
): Fault | null {
  const moving = instructions.filter(({ kind }) => MOVES.has(kind));
  const [transfer, ...others] = moving;
  if (transfer?.kind !== 'transfer' || others.length > 0) {
    return { expected: 'one transfer', found: moving.map(({ kind }) => kind).join(', ') || 'none' };
  }
  return (
    faultOfParties(transfer, wallet, payTo, mint) ??
    (transfer.amount === BigInt(amount) ? null : { expected: `amount ${amount}`, found: `amount ${transfer.amount}` })
  );
}

function faultOfParties(
  { authority, destination, checked }: Transfer,
  wallet: string,
  payTo: string,
  mint: string,
): Fault | null {
  const account = accountOf(payTo, mint);
  if (!isAddressOf(wallet, authority)) {
    return { expected: `authority ${wallet}`, found: `authority ${bs58.encode(authority)}` };
  }
  if (account === null || !isAddressOf(account, destination)) {
    return { expected: `destination ${account ?? 'of an address'}`, found: `destination ${bs58.encode(destination)}` };
  }
  if (checked === null) return null;
  if (!isAddressOf(mint, checked.mint)) return { expected: `mint ${mint}`, found: `mint ${bs58.encode(checked.mint)}` };
  return checked.decimals === USDC_DECIMALS
    ? null
    : { expected: `${USDC_DECIMALS} decimals`, found: `${checked.decimals} decimals` };
}

/** Nearly all payments of a log go to the same account. */
let lastAccount: { readonly payTo: string; readonly mint: string; readonly account: string | null } | null = null;

function accountOf(payTo: string, mint: string): string | null {
  if (lastAccount?.payTo === payTo && lastAccount.mint === mint) return lastAccount.account;
  const account = bytesOf(payTo) && bytesOf(mint) ? associatedTokenAddress(payTo, mint) : null;
  lastAccount = { payTo, mint, account };
  return account;
}

/** Decoding base58 is slow, and the same few thousand addresses come again and again. */
const REMEMBERED = 10_000;
const decodedAddresses = new Map<string, Uint8Array | null>();

function bytesOf(address: string): Uint8Array | null {
  let bytes = decodedAddresses.get(address);
  if (bytes !== undefined) return bytes;
  bytes = addressBytes(address);
  if (decodedAddresses.size >= REMEMBERED) decodedAddresses.clear();
  decodedAddresses.set(address, bytes);
  return bytes;
}

function isAddressOf(address: string, bytes: Buffer): boolean {
  const known = bytesOf(address);
  return known !== null && bytes.equals(known);
}

/** Judges `wire_signed`: about 0.1 ms for each signature. */
export const signatureRules: LogRules<JsonObject> = {
  types: new Set(['PaymentSubmitted']),
  judge(state, { stream, data }, findings) {
    const decoded = paymentOf(stream) === null ? null : decodeTransaction(Buffer.from(String(data.wire), 'base64'));
    if (decoded === null || 'fault' in decoded) return state ?? {};
    decoded.signatures.forEach((signature, index) => {
      const signer = decoded.accounts[index];
      if (signer && verifySignature(signer, decoded.message, signature)) return;
      const name = signer ? bs58.encode(signer) : `signer ${index}`;
      findings.breach('wire_signed', `a valid signature of ${name}`, 'another');
    });
    return state ?? {};
  },
};

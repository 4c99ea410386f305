/**
 * Every value of `details.reason` of `payment_rejected`: what it means and what to do. The documentation, the OpenAPI
 * document and the hints of rejections are generated from this table, and every reason for a rejection is listed in it.
 */

export interface RejectionEntry {
  /** What is wrong. */
  readonly meaning: string;
  /** What to do. The last step is always a new payment from the terms of the 402. */
  readonly advice: string;
}

const row = (meaning: string, advice: string): RejectionEntry => ({ meaning, advice });

const BUILD_FROM_TERMS = 'Let an x402 client build the transaction from the terms.';
const ONE_TRANSFER = 'Pay with one transfer of the exact amount and nothing else.';

export const PAYMENT_REJECTIONS = {
  // The envelope.
  invalid_x402_version: row('The envelope names a version of x402 other than 1 and 2.', 'Send x402Version 1 or 2.'),
  unsupported_scheme: row('The scheme is not exact.', 'Use the scheme exact; accepts contains no other.'),
  invalid_exact_svm_network_mismatch: row('The payment is for another network.', 'Pay on the network in the terms.'),
  // The transaction.
  unsupported_transaction_version: row(
    'The transaction is neither a legacy nor a version 0 transaction.',
    'Sign a legacy or version 0 transaction.',
  ),
  address_lookup_tables_not_allowed: row(
    'The transaction uses address lookup tables.',
    'Build it without address lookup tables.',
  ),
  durable_nonce_not_allowed: row('The transaction uses a durable nonce.', 'Use the recent blockhash in the terms.'),
  invalid_exact_svm_fee_payer_mismatch: row(
    'The fee payer is neither extra.feePayer nor the paying wallet.',
    'Use extra.feePayer as fee payer, or let the paying wallet be fee payer and only signer.',
  ),
  invalid_exact_svm_payload_excessive_signers: row(
    'More than two signatures are required.',
    'Only the fee payer and the transfer’s authority may sign.',
  ),
  sponsored_payment_needs_two_signers: row(
    'Our fee payer is the only signer; no wallet signs.',
    'Sign with the wallet that owns the USDC.',
  ),
  signature_missing: row('The wallet’s signature is missing.', 'Sign the transaction before you send it.'),
  invalid_exact_svm_payload_signature_invalid: row(
    'The wallet’s signature does not match the message.',
    'Sign last: any change to the transaction after signing makes the signature invalid.',
  ),
  transfer_authority_is_not_a_signer: row(
    'The transfer’s authority does not sign the transaction.',
    'Make the paying wallet the authority, and a signer.',
  ),
  multisig_authority_not_supported: row(
    'The transfer’s authority is a multisig account.',
    'Pay from an account with one owner or delegate.',
  ),
  source_not_sponsored: row(
    'We pay the network fee of a wallet that has never paid only from its own associated token account, and while no delegate may move its tokens.',
    'Pay from the associated account and revoke its delegate, or send a transfer that pays its own fee as X402-Payment.',
  ),
  guard_not_sponsored: row(
    'Somebody who sends something to the wallet could make one of its guards fail, and the wallet has never paid.',
    'Pay from a wallet that adds no guards, or send a transfer that pays its own fee as X402-Payment. After its first payment the wallet’s guards are accepted.',
  ),
  // Its instructions.
  compute_limit_repeated: row('There is more than one compute limit.', 'Set at most one compute limit.'),
  compute_price_repeated: row('There is more than one compute price.', 'Set at most one compute price.'),
  invalid_exact_svm_payload_transaction_instructions_compute_limit_instruction_too_high: row(
    'The compute limit is above 100,000 units, and we pay for them.',
    'Set a limit of at most 100,000 units.',
  ),
  invalid_exact_svm_payload_transaction_instructions_compute_price_instruction_too_high: row(
    'The priority fee is above 5,000 lamports, and we pay it.',
    'Set a compute limit and a lower compute price: their product is the fee.',
  ),
  invalid_exact_svm_payload_no_transfer_instruction: row('There is no transfer of USDC.', ONE_TRANSFER),
  more_than_one_transfer: row('There is more than one transfer.', ONE_TRANSFER),
  sponsored_payment_needs_transfer_checked: row(
    'If we pay the network fee, the transfer must be a TransferChecked.',
    'Use TransferChecked with 6 decimals.',
  ),
  token_2022_not_supported: row(
    'The transfer uses the Token-2022 program.',
    'Use the classic Token program, which USDC belongs to.',
  ),
  invalid_exact_svm_payload_memo_count: row(
    'There are several memos, or the memo that the terms require is missing.',
    'Include exactly one memo: extra.memo of the terms.',
  ),
  invalid_exact_svm_payload_memo_mismatch: row(
    'The memo is not the one in the terms that the payment answers.',
    'Include extra.memo of the same terms, unchanged.',
  ),
  payment_for_another_purpose: row(
    'The memo names another purpose: the payment was signed for another endpoint, other parameters, another tool or another service.',
    'Pay with the terms of this answer. If you signed for another service, that service forwarded your payment to this one.',
  ),
  payment_not_bound: row(
    'This call reveals a secret or a history, and neither the payment’s memo nor a signed message proves that the wallet requested it.',
    'Include extra.memo of the terms, unchanged (x402 version 2 clients do this), or send a sign-in-with-x proof.',
  ),
  sign_in_required: row(
    'This wallet has used sign-in-with-x before, so this call requires a proof each time.',
    'Sign the message in extensions.sign-in-with-x of this answer and send it in the header SIGN-IN-WITH-X.',
  ),
  sign_in_invalid: row(
    'The sign-in-with-x proof cannot be read, or its signature does not match.',
    'Send the base64 of the JSON that the extension describes, signed by the wallet.',
  ),
  sign_in_for_another_call: row(
    'The sign-in-with-x proof names another domain, address, network or purpose.',
    'Sign the message in extensions.sign-in-with-x of this answer, unchanged.',
  ),
  sign_in_by_another_wallet: row(
    'The sign-in-with-x proof and the payment are signed by different wallets.',
    'Sign both with the same wallet.',
  ),
  sign_in_expired: row(
    'The sign-in-with-x proof is older than 5 minutes, expired, or dated in the future.',
    'Sign a new message with the current time.',
  ),
  sign_in_used: row(
    'The sign-in-with-x proof was already used with another payment.',
    'Sign a new message: each is valid for one payment.',
  ),
  memo_must_have_no_accounts: row('The memo instruction lists accounts.', 'Build the memo without accounts.'),
  memo_too_long: row('The memo is longer than 256 bytes.', 'Shorten it to 256 bytes.'),
  lighthouse_write_not_allowed: row(
    'A guard of the wallet writes to an account.',
    'Use guards that only assert, or none.',
  ),
  lighthouse_guard_not_allowed: row(
    'A guard of the wallet is of a kind that is not allowed in a payment.',
    'Use guards that assert about an account’s data, its lamports and owner, or a token account, or none.',
  ),
  lighthouse_guard_on_other_account: row(
    'A guard of the wallet names no account, or one other than the paying wallet and the paying token account.',
    'Use guards only on those two accounts, or none.',
  ),
  too_many_lighthouse_guards: row('There are more than four guards of the wallet.', 'Use at most four guards.'),
  created_token_account_is_not_the_recipient: row(
    'The transaction creates a token account that is not ours.',
    'Create no account but the recipient’s.',
  ),
  invalid_exact_svm_payload_unknown_optional_instruction: row(
    'There is an instruction that is not allowed in a payment.',
    'Use only the transfer, compute budget instructions, one memo and guards of the wallet.',
  ),
  // Its transfer.
  invalid_exact_svm_payload_mint_mismatch: row(
    'The transfer moves another token.',
    'Transfer USDC of the mint in asset.',
  ),
  decimals_mismatch: row('The transfer names decimals other than 6.', 'USDC has 6 decimals.'),
  invalid_exact_svm_payload_amount_mismatch: row(
    'The amount is not exactly what the terms require.',
    'Transfer the exact amount; a higher one is rejected too.',
  ),
  invalid_exact_svm_payload_recipient_mismatch: row(
    'The destination is not our token account.',
    'Transfer to the associated token account of payTo for the mint.',
  ),
  source_is_the_recipient: row('The transfer’s source is our own account.', 'Transfer from your own token account.'),
  invalid_exact_svm_payload_transaction_fee_payer_transferring_funds: row(
    'The transfer’s authority is our fee payer.',
    'Make the paying wallet the authority.',
  ),
  fee_payer_in_instruction_accounts: row(
    'An instruction names our fee payer. In a compiled message it inherits the fee payer’s signature, so it could spend on our behalf. Wallet guards that name the fee payer are rejected for this reason.',
    'Disable the guard, or pay by a transfer of your own (X402-Payment): there your wallet is the fee payer and may appear in any guard.',
  ),
  // What the chain says.
  insufficient_funds: row(
    'The wallet has too little USDC.',
    'Fund it: details.shortfall_usd says how much is missing.',
  ),
  insufficient_sol_for_network_fee: row(
    'The wallet has too little SOL for the network fee.',
    'Fund it with a little SOL, or pay by x402: there we pay the fee.',
  ),
  blockhash_expired: row('The blockhash is too old.', 'Sign within a minute of being asked to pay.'),
  blockhash_expires_too_soon: row(
    'The blockhash expires before the transfer can be confirmed.',
    'Sign within a minute of being asked to pay.',
  ),
  already_on_chain: row(
    'The transfer was sent to the chain before it was presented here. Its money has already moved, and anyone could present it.',
    'Never send a transfer yourself; the service does that.',
  ),
  invalid_exact_svm_transaction_simulation_failed: row(
    'The chain would reject the transaction: details.chain_error contains its error.',
    `Fix the named error. ${BUILD_FROM_TERMS}`,
  ),
} as const satisfies Readonly<Record<string, RejectionEntry>>;

export type PaymentRejection = keyof typeof PAYMENT_REJECTIONS;

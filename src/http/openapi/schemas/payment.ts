/** The payment parts of answers in each dialect (docs/design/payments.md#dialects). */
import { z } from 'zod';
import { Meta, Timestamp } from './meta.ts';

const BaseUnits = z.string().regex(/^\d+$/).describe('Base units of USDC: 990000 is 0.99.');
const Address = z.string().describe('Solana address, base58.');

const EXTRA = {
  memo: z
    .string()
    .describe(
      'Unique to this 402. Put it into a memo instruction, so that two payments are never the same transaction.',
    ),
  recentBlockhash: z.string().optional().describe('Saves a request to the chain.'),
  lastValidBlockHeight: z.string().optional(),
};

export const PaymentRequirements = z
  .object({
    scheme: z.literal('exact'),
    network: z.string().describe('CAIP-2.'),
    amount: BaseUnits,
    asset: Address.describe('Mint of USDC.'),
    payTo: Address,
    maxTimeoutSeconds: z.int(),
    extra: z.object({ feePayer: Address.describe('The account that pays the network fee.'), ...EXTRA }),
  })
  .describe('Terms in the form of x402 v2.');

export const PaymentRequirementsV1 = z
  .object({
    scheme: z.literal('exact'),
    network: z.string(),
    maxAmountRequired: BaseUnits,
    resource: z.url(),
    description: z.string(),
    mimeType: z.string(),
    payTo: Address,
    maxTimeoutSeconds: z.int(),
    asset: Address,
    extra: z.object({ feePayer: Address, memo: EXTRA.memo }),
  })
  .describe('Terms in the form of x402 v1.');

const pending = z.object({
  status: z.literal('pending'),
  transaction: z.string().describe('Signature of the transfer.'),
  result_url: z.url().describe('Where the answer appears once the payment is settled. Do not pay again.'),
  retry_after: z.int().min(0),
});

export const PendingPayment = z.object({ meta: Meta, payment: pending }).describe('The payment is not settled yet.');

/** The same in version 1, which has no `meta`. */
export const V1PendingPayment = z.object({ queried_at: Timestamp, payment: pending });

const Settled = z.enum(['settled', 'settled_late']);

export const Receipt = z
  .object({
    request_id: z.uuid().describe('The request that was paid for.'),
    status: Settled.describe('`settled_late`: the transfer landed after it had counted as expired.'),
    paid_at: Timestamp.describe('When the transfer was seen to be confirmed.'),
    final_at: Timestamp.nullable().describe('When the transfer was seen to be final; null until then.'),
    endpoint: z.string().describe('Method and path of the request.'),
    queries: z
      .int()
      .min(1)
      .nullable()
      .describe('How many queries the amount pays for; null for payments before this was recorded.'),
    amount: BaseUnits,
    amount_usdc: z
      .string()
      .regex(/^\d+\.\d{2,6}$/)
      .describe('The same in USDC, exact.'),
    asset: Address.describe('Mint of USDC.'),
    network: z.string().describe('CAIP-2.'),
    pay_to: Address.describe('The address that was paid.'),
    payer: Address.describe('The wallet that paid.'),
    transaction: z.string().describe('Signature of the transfer.'),
    slot: z.int().min(0),
    events: z
      .array(
        z.object({
          type: z.string(),
          stream: z.string(),
          revision: z.int().min(0),
          hash: z.string().regex(/^[0-9a-f]{64}$/),
        }),
      )
      .describe(
        'The recorded events that prove it, oldest first. Each hash covers the event and all before it in its stream.',
      ),
  })
  .describe('What a request was charged. Contains nothing of the answer.');

export const ReceiptAnswer = z.object({ meta: Meta, receipt: Receipt });

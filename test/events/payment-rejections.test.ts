/** The reasons of a rejected payment: one table shared by code, documentation and the OpenAPI document. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PAYMENT_REJECTIONS } from '../../src/events/payment-rejections.ts';
import { errorsPage, errorsText } from '../../src/http/docs/errors-page.ts';
import { openApiDocument } from '../../src/http/openapi/document.ts';
import { paymentAdvice } from '../../src/http/paid/payment-advice.ts';
import { REJECTION } from '../../src/solana/verify-transaction.ts';

const REASONS = Object.keys(PAYMENT_REJECTIONS);
const sources = join(import.meta.dirname, '../../src');
const code = readdirSync(sources, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && file !== 'payment-rejections.ts')
  .map((file) => readFileSync(join(sources, file), 'utf8'))
  .join('\n');

describe('the reasons of payment_rejected', () => {
  it('are all used by the code, and the code uses no other', () => {
    for (const reason of REASONS) expect([reason, code.includes(`'${reason}'`)]).toEqual([reason, true]);
    const unreadable = REJECTION.couldNotBeDecoded;
    for (const reason of Object.values(REJECTION)) if (reason !== unreadable) expect(REASONS).toContain(reason);
  });
  it('are each explained on the errors page, in both forms', () => {
    const [page, text] = [errorsPage().body.markup, errorsText()];
    for (const reason of REASONS) {
      expect(page).toContain(`<dt><code>${reason}</code></dt>`);
      expect(text).toContain(
        `- \`${reason}\`: ${PAYMENT_REJECTIONS[reason as keyof typeof PAYMENT_REJECTIONS].meaning}`,
      );
    }
  });
  it('are an extensible enumeration in the OpenAPI document', () => {
    // biome-ignore lint/suspicious/noExplicitAny: a document is read as it comes
    const { schemas } = openApiDocument('https://dockets.example').components as any;
    const { reason } = schemas.PaymentRejected.properties.details.properties;
    expect(reason.anyOf).toEqual([{ type: 'string', enum: REASONS }, { type: 'string' }]);
  });
  it('each have a hint; that of a guard offers a self-paid transfer', () => {
    for (const reason of REASONS) expect(paymentAdvice({ reason, shortfall_usd: '0.10' })).toMatch(/\.$/);
    expect(paymentAdvice({ reason: 'fee_payer_in_instruction_accounts' })).toMatch(/inherits.*X402-Payment/);
    for (const reason of ['another', 'toString', null]) expect(paymentAdvice({ reason })).toBeNull();
  });
});

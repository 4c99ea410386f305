/** The rules of a payment identifier's stream. */
import { PaymentIdClaimed, type PaymentIdentifierEvent, paymentStream } from '../../events/payment.ts';
import type { StreamRules } from '../judging.ts';

export interface IdentifierState {
  readonly [member: string]: string;
  readonly requestHash: string;
}

const STREAM = /^payment-id-([0-9a-f]{64})$/;

export const identifierRules: StreamRules<IdentifierState> = {
  covers: (stream) => STREAM.test(stream),

  judge(before, { stream, type, data }, findings) {
    if (type !== PaymentIdClaimed.type) {
      findings.breach('event_in_its_stream', PaymentIdClaimed.type, type);
      return before ?? { requestHash: '' };
    }
    const { payment, requestHash, expected } = data as unknown as PaymentIdentifierEvent['data'];
    if (before && before.requestHash !== requestHash) {
      findings.breach('identifier_one_request', `request ${before.requestHash}`, `request ${requestHash}`);
    }
    const [, hash] = STREAM.exec(stream) ?? [];
    findings.state(`identifier:${hash}`, 'claimed', { payment: paymentStream(payment), requestHash, expected });
    return before ?? { requestHash };
  },
};

/** What payments state about other streams, and the rules about it: transactions, payment identifiers. */
import type { Payment, Purchase } from '../../commands/payment/payment.ts';
import type { Json } from '../../events/event.ts';
import type { PaymentEvent } from '../../events/payment.ts';
import type { Fact, FactRules, Findings, JudgedEvent } from '../judging.ts';
import type { RuleName } from './catalogue.ts';
import { momentOf } from './moment.ts';

/**
 * Of a callback: `promised` by a settlement, `undone` by a rollback, `scheduled`. Of a wallet: a key call that was
 * `bought` or `undone`. Of a transaction and an identifier: `submitted`, `ended`, `claimed`. Of a stored answer: `submitted`.
 */
export function statePaymentFacts(known: Payment, event: PaymentEvent, judged: JudgedEvent, findings: Findings): void {
  const { stream, revision } = judged;
  switch (event.type) {
    case 'PaymentSubmitted': {
      findings.state(`transaction:${event.data.transaction}`, 'submitted', null);
      if (known.status !== 'answered') return;
      if (known.answer.answer !== null) findings.state(`answer:${known.answer.answer}`, 'submitted', null);
      const { identifierHash, requestHash } = known.authorization;
      if (identifierHash === null) return;
      // Authorized, answered and submitted by one append.
      const expected = revision - 3;
      findings.state(`identifier:${identifierHash}`, 'submitted', { payment: stream, requestHash, expected });
      return;
    }
    case 'PaymentSettled':
    case 'PaymentSettledLate':
      if ('submission' in known) stateOwed(known, judged, findings, true);
      return;
    case 'PaymentRolledBack':
    case 'PaymentFailed': {
      if (!('submission' in known)) return;
      if (event.type === 'PaymentRolledBack') stateOwed(known, judged, findings, false);
      const { identifierHash } = known.authorization;
      if (identifierHash !== null) findings.state(`identifier:${identifierHash}`, 'ended', { payment: stream });
      return;
    }
    default:
      return;
  }
}

function stateOwed(
  { authorization, answer }: Purchase,
  judged: JudgedEvent,
  findings: Findings,
  isOwed: boolean,
): void {
  const { wallet, requestId } = authorization;
  const moment = momentOf(judged, findings);
  for (const { deliveryId, target, origin } of answer.callbacks) {
    const promised: Json = { payment: judged.stream, wallet, requestId, target, origin, ...moment };
    findings.state(`delivery:${deliveryId}`, isOwed ? 'promised' : 'undone', promised);
  }
  if (answer.keyCall === null) return;
  const { keyId, does } = answer.keyCall;
  findings.state(`wallet:${wallet}`, isOwed ? 'bought' : 'undone', { keyId, does, ...moment });
}

/** What only one payment may name. */
const usedOnce = (kind: string, rule: RuleName): FactRules => ({
  kind,
  judge(facts, _until, breach) {
    let first: Fact | null = null;
    for (const fact of facts) {
      first ??= fact;
      if (fact.stream === first.stream) continue;
      const { stream, revision, position } = fact;
      const expected = `${kind === 'answer' ? 'an' : 'a'} ${kind} of its own`;
      breach({ rule, stream, revision, position, expected, found: `one that ${first.stream} submitted before` });
    }
  },
});

export const transactionFacts = usedOnce('transaction', 'transaction_used_once');

/** Stored bytes begin with random ones, so two answers never have one name. */
export const answerFacts = usedOnce('answer', 'answer_used_once');

interface Submitted {
  readonly payment: string;
  readonly requestHash: string;
  readonly expected: number;
}

export const identifierFacts: FactRules = {
  kind: 'identifier',
  judge(facts, _until, breach) {
    const claims = new Map<string, Submitted>();
    /** Submitted payments that have neither failed nor been rolled back yet. */
    const open = new Set<string>();
    for (const { says, value, stream, revision, position } of facts) {
      const one = value as unknown as Submitted;
      const place = { stream, revision, position };
      if (says === 'claimed') claims.set(one.payment, one);
      if (says === 'ended') open.delete(one.payment);
      if (says !== 'submitted') continue;
      const claim = claims.get(one.payment);
      if (claim?.expected !== one.expected || claim.requestHash !== one.requestHash) {
        const expected = `PaymentIdClaimed of ${one.payment} for this request at revision ${one.expected}`;
        const found = claim ? `a claim at revision ${claim.expected}` : 'no claim';
        breach({ ...place, rule: 'identifier_claimed', expected, found });
      }
      const [other] = open;
      if (other !== undefined) {
        const expected = 'no other payment under this identifier that may be charged';
        breach({ ...place, rule: 'identifier_pays_once', expected, found: other });
      }
      open.add(one.payment);
    }
  },
};

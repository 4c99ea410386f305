/** Every rule about streams, facts and the whole log, for the engine that judges them. */
import type { Json } from '../../events/event.ts';
import type { FactRules, LogRules, StreamRules } from '../judging.ts';
import { contentRules } from './content.ts';
import { deliveryRules } from './delivery.ts';
import { deliveryFacts } from './delivery-facts.ts';
import { aliasRules, docketRules } from './docket.ts';
import { forgetReferences, forgetRules } from './forget.ts';
import { identifierRules } from './identifier.ts';
import { masterKeyRules, receiverRules } from './log.ts';
import { banRules, hostRules, sourcePauseRules } from './operator-acts.ts';
import { operatorRules } from './operator-named.ts';
import { paymentRules } from './payment.ts';
import { answerFacts, identifierFacts, transactionFacts } from './payment-facts.ts';
import { signatureRules } from './payment-wire.ts';
import { alertRules, webhookRules } from './source.ts';
import { walletRules } from './wallet.ts';
import { walletFacts } from './wallet-facts.ts';

export const STREAM_RULES: readonly StreamRules<Json>[] = [
  paymentRules,
  identifierRules,
  deliveryRules,
  walletRules,
  docketRules,
  aliasRules,
  contentRules,
  forgetRules,
  webhookRules,
  alertRules,
];

export const FACT_RULES: readonly FactRules[] = [
  transactionFacts,
  answerFacts,
  identifierFacts,
  deliveryFacts,
  walletFacts,
];

export const LOG_RULES: readonly LogRules<Json>[] = [
  receiverRules,
  masterKeyRules,
  operatorRules,
  sourcePauseRules,
  hostRules,
  banRules,
  forgetReferences,
];

/** Judged on request: checking each signature of each payment takes longer than all other rules together. */
export const SIGNATURE_RULES: readonly LogRules<Json>[] = [signatureRules];

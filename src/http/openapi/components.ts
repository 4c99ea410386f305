/** The named schemas of the OpenAPI document, and how each is written. */
import { z } from 'zod';
import type { JsonObject } from '../../events/event.ts';
import * as batch from './schemas/batch.ts';
import * as cases from './schemas/case.ts';
import * as errors from './schemas/errors.ts';
import * as meta from './schemas/meta.ts';
import * as payment from './schemas/payment.ts';
import * as status from './schemas/status.ts';
import * as v1 from './schemas/v1.ts';
import * as wallet from './schemas/wallet.ts';

const prefixed = (prefix: string, schemas: Readonly<Record<string, z.ZodType>>) =>
  Object.fromEntries(
    errors.ERROR_CODES.flatMap((code) => {
      const schema = schemas[code];
      return schema ? [[`${prefix}${errors.errorName(code)}`, schema]] : [];
    }),
  );

/** By their names in the document; a schema that is not here is written inline. */
const COMPONENTS: Readonly<Record<string, z.ZodType>> = {
  Meta: meta.Meta,
  CaseMeta: meta.CaseMeta,
  MonitorMeta: meta.MonitorMeta,
  BatchMeta: meta.BatchMeta,
  ErrorMeta: meta.ErrorMeta,
  TruncationDetails: meta.TruncationDetails,
  CaseAnswer: cases.CaseAnswer,
  MonitorAnswer: cases.MonitorAnswer,
  Case: cases.Case,
  Delta: cases.Delta,
  Filing: cases.Filing,
  Attachment: cases.Attachment,
  Party: cases.Party,
  CrossReference: cases.CrossReference,
  BatchRequest: batch.BatchRequest,
  BatchQuery: batch.BatchQuery,
  BatchAnswer: batch.BatchAnswer,
  BatchResult: batch.BatchResult,
  BatchSuccess: batch.BatchSuccess,
  BatchFailure: batch.BatchFailure,
  KeysAnswer: wallet.KeysAnswer,
  RotationAnswer: wallet.RotationAnswer,
  DeliveriesAnswer: wallet.DeliveriesAnswer,
  Delivery: wallet.Delivery,
  DeliveryAttempt: wallet.DeliveryAttempt,
  CallbackEnvelope: wallet.CallbackEnvelope,
  StatusAnswer: status.StatusAnswer,
  Court: status.Court,
  CoverageSummary: status.CoverageSummary,
  PaymentRequirements: payment.PaymentRequirements,
  PaymentRequirementsV1: payment.PaymentRequirementsV1,
  PendingPayment: payment.PendingPayment,
  V1PendingPayment: payment.V1PendingPayment,
  Receipt: payment.Receipt,
  ReceiptAnswer: payment.ReceiptAnswer,
  PaymentRequired: errors.ERROR_OBJECTS.payment_required,
  PaymentRejected: errors.ERROR_OBJECTS.payment_rejected,
  SettlementFailed: errors.ERROR_OBJECTS.settlement_failed,
  PaymentRequiredAnswer: errors.PaymentRequiredAnswer,
  Issue: errors.Issue,
  ...prefixed('', errors.ERROR_ENVELOPES),
  V1CaseAnswer: v1.V1CaseAnswer,
  V1Filing: v1.V1Filing,
  V1MonitorAnswer: v1.V1MonitorAnswer,
  V1StatusAnswer: v1.V1StatusAnswer,
  V1Court: status.V1Court,
  V1PaymentRequiredAnswer: errors.V1PaymentRequiredAnswer,
  ...prefixed('V1', errors.V1_ERROR_ENVELOPES),
};

const NAMES = new Map(Object.entries(COMPONENTS).map(([name, schema]) => [schema, name]));

const pointerOf = (name: string): string => `#/components/schemas/${name}`;

/** A reference to a schema of {@link COMPONENTS}. */
export function refTo(schema: z.ZodType): JsonObject {
  const name = NAMES.get(schema);
  if (name === undefined) throw new Error('a schema that the document refers to is not among its components');
  return { $ref: pointerOf(name) };
}

/** The name of a component's schema; null if it has none. */
export const schemaName = (schema: z.ZodType): string | null => NAMES.get(schema) ?? null;

/**
 * Objects are open: version 2 may gain members, and clients must ignore members that they do not recognize. The tests
 * close the schemas before they check answers against them.
 */
const OPEN = ({ jsonSchema }: { jsonSchema: { additionalProperties?: unknown } }): void => {
  if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
};

/** All components as JSON Schema 2020-12, which OpenAPI 3.1 uses. */
export function componentSchemas(): Readonly<Record<string, JsonObject>> {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(COMPONENTS)) registry.add(schema, { id });
  const { schemas } = z.toJSONSchema(registry, { uri: pointerOf, override: OPEN });
  return Object.fromEntries(
    Object.entries(schemas).map(([name, { $schema: _dialect, $id: _id, ...schema }]) => [name, schema as JsonObject]),
  );
}

/** The schema of one value, written inline. */
export function inlineSchema(schema: z.ZodType): JsonObject {
  const { $schema: _dialect, ...written } = z.toJSONSchema(schema, { io: 'input', override: OPEN });
  return written as JsonObject;
}

/**
 * What a batch costs if some of its queries fail. Stated wherever prices are, before anyone pays
 * (docs/design/interface.md#4.3).
 */
export const BATCH_CHARGING =
  'A batch is one payment: if some of its queries fail it is charged whole, the failed ones included; if all fail, nothing is charged.';

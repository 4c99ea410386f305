/**
 * What a batch costs where some of its queries fail: said wherever prices are, before anybody pays
 * (docs/design/interface.md#4.3).
 */
export const BATCH_CHARGING =
  'A batch is one payment: if some of its queries fail it is charged whole, the failed ones included; if all fail, nothing is charged.';

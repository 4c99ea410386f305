/** Every endpoint of the public port, in the order of the documentation. */
import type { Operation } from './operation.ts';
import { batchOperation, caseOperation, monitorOperation } from './operations/cases.ts';
import { DOCUMENTATION, mcpOperation, receiptOperation, resultOperation, statusOperation } from './operations/free.ts';
import { V1_OPERATIONS } from './operations/v1.ts';
import { deliveriesOperation, keysOperation, rotateOperation } from './operations/wallet.ts';

export const OPERATIONS: readonly Operation[] = [
  caseOperation,
  monitorOperation,
  batchOperation,
  statusOperation,
  resultOperation,
  receiptOperation,
  keysOperation,
  rotateOperation,
  deliveriesOperation,
  mcpOperation,
  ...DOCUMENTATION,
  ...V1_OPERATIONS,
];

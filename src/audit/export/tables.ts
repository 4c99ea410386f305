import { deliveries } from './deliveries.ts';
import { dockets } from './dockets.ts';
import { keys } from './keys.ts';
import { payments } from './payments.ts';
import type { Table } from './table.ts';

export const TABLES = { payments, deliveries, keys, dockets } as const satisfies Record<string, Table>;
export type TableName = keyof typeof TABLES;

/** The endpoints of a wallet: its signing keys and its deliveries. */
import type { Operation } from '../operation.ts';
import { DeliveriesAnswer, KeysAnswer, RotationAnswer } from '../schemas/wallet.ts';
import { PAID, PAID_HEADERS } from './codes.ts';

const SANDBOX_HEADERS = ['X-Service-Tag', 'X-Service-Test'] as const;

export const keysOperation: Operation = {
  method: 'get',
  path: '/v2/wallet/keys',
  id: 'getWalletKeys',
  tag: 'Wallet',
  summary: 'The keys that sign the wallet’s callbacks',
  description:
    'Ids and times, never a secret. The first call or the first callback of a wallet creates its key. Rotate the key to get a secret.',
  price: '0.99',
  optional: ['test'],
  requestHeaders: SANDBOX_HEADERS,
  success: { description: 'The wallet’s keys.', headers: PAID_HEADERS, content: { schema: KeysAnswer } },
  pending: true,
  errors: PAID,
};

export const rotateOperation: Operation = {
  method: 'post',
  path: '/v2/wallet/keys',
  id: 'postWalletKeys',
  tag: 'Wallet',
  summary: 'Rotate the signing key',
  description:
    'Creates a new key and returns its secret **once**. The previous key stays valid for 30 minutes. A request body is ignored. If the answer is lost, rotate again.',
  price: '0.99',
  optional: ['require_sign_in', 'test'],
  requestHeaders: SANDBOX_HEADERS,
  success: {
    description: 'The new key with its secret.',
    headers: PAID_HEADERS,
    content: { schema: RotationAnswer },
  },
  pending: true,
  errors: PAID,
};

export const deliveriesOperation: Operation = {
  method: 'get',
  path: '/v2/wallet/deliveries',
  id: 'getWalletDeliveries',
  tag: 'Wallet',
  summary: 'Delivery history of the wallet’s callbacks',
  description: 'Every delivery with all its attempts, newest first, in pages.',
  price: '0.99',
  optional: ['status', 'limit', 'cursor', 'since', 'case_id', 'court_code', 'test'],
  requestHeaders: SANDBOX_HEADERS,
  success: { description: 'One page of the history.', headers: PAID_HEADERS, content: { schema: DeliveriesAnswer } },
  pending: true,
  errors: [...PAID, 'invalid_case_id', 'invalid_timestamp', 'last_checked_in_future', 'court_not_covered'],
};

import { randomBytes, randomUUID } from 'node:crypto';
import { type MasterKeys, readMasterKeys } from '../../src/callbacks/master-keys.ts';
import { createResultIds, type ResultIds } from '../../src/commands/payment/result-id.ts';
import type { KeyCalls } from '../../src/commands/purchase/contract.ts';
import { createKeyCalls } from '../../src/commands/signing-key/paid-call.ts';
import { keyAnswers } from '../../src/http/v2/wallet-keys-answer.ts';
import type { Clock } from '../../src/runtime/instant.ts';
import type { EventLog } from '../../src/storage/event-log.ts';

/** For worlds without a route for wallet keys. */
export const noKeyCalls: KeyCalls = {
  newKeyId: () => 'unused',
  show: () => Promise.reject(new Error('this world has no wallet keys')),
  rotate: () => Promise.reject(new Error('this world has no wallet keys')),
};

/** A new, unique master key of a version. */
export const newTestMasterKeys = (version = 1): MasterKeys =>
  readMasterKeys(`${version}:${randomBytes(32).toString('hex')}`);

/** Result ids as the service makes them. */
export const testResultIds = (masterKeys = newTestMasterKeys()): ResultIds => createResultIds(masterKeys);

/** Key calls as the service makes them. */
export const testKeyCalls = (ports: {
  readonly log: EventLog;
  readonly clock: Clock;
  readonly masterKeys: MasterKeys;
}): KeyCalls => createKeyCalls({ ...ports, answers: keyAnswers, newKeyId: randomUUID, appendRepeatsMs: [5, 10, 20] });

/** A service that owes callbacks to a receiver that fails at random, with a wall clock that the test moves. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type MovedClock, movedClock } from '../support/moved-clock.ts';
import { type FailingReceiver, openFailingReceiver } from './failing-receiver.ts';
import { type Stage, setStage } from './paid-load.ts';

export interface CallbackStage {
  readonly stage: Stage;
  readonly receiver: FailingReceiver;
  /** The service's clock. */
  readonly clock: MovedClock;
  /** Call it after the service has ended. */
  close(): Promise<void>;
}

/** Sets up everything but the case, which the test imports, and the service, which the test starts and kills. */
export async function setCallbackStage(walletCount: number): Promise<CallbackStage> {
  const directory = await mkdtemp(join(tmpdir(), 'docket-callbacks-'));
  const receiver = await openFailingReceiver();
  const clock = movedClock(directory);
  const setting = await setStage(directory, walletCount);
  const stage = {
    ...setting,
    environment: {
      ...setting.environment,
      ...clock.environment,
      CALLBACK_ALLOW_PRIVATE: `127.0.0.1:${receiver.port}`,
    },
  };
  return {
    stage,
    receiver,
    clock,
    async close() {
      await stage.chain.kill();
      await receiver.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

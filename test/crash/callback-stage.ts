/** A service that owes callbacks to a receiver which fails at random, by a wall clock that the test moves. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type MovedClock, movedClock } from '../support/moved-clock.ts';
import { type FailingReceiver, openFailingReceiver } from './failing-receiver.ts';
import { type Stage, setStage } from './paid-load.ts';

export interface CallbackStage {
  readonly stage: Stage;
  readonly receiver: FailingReceiver;
  /** The service's. */
  readonly clock: MovedClock;
  /** Once the service has ended. */
  close(): Promise<void>;
}

/** Everything but the case, which is to be imported, and the service, which is started, killed and started again. */
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

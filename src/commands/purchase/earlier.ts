/** The outcome of a payment that was submitted earlier, for a request that presents it again. Costs nothing. */
import { MasterKeyMissing } from '../../callbacks/master-keys.ts';
import { isProblem, type Problem, problem } from '../../errors.ts';
import { isKept, keptAnswer, promisedBy, resultOf } from '../payment/answer.ts';
import type { SubmittedState } from '../payment/identifier-claim.ts';
import { resultKeyMissing } from '../payment/result-id.ts';
import type { KeyCallContext, Outcome, PurchasePorts } from './contract.ts';

export type EarlierPorts = Pick<PurchasePorts, 'clock' | 'payloads' | 'keyCalls' | 'resultIds'>;

/** @throws StorageFailure */
export async function boughtBefore(ports: EarlierPorts, state: SubmittedState, call: KeyCallContext): Promise<Outcome> {
  const { transaction } = state.submission;
  const resultId = resultIdOf(ports, state);
  if (resultId === null) return refused(resultKeyMissing());
  switch (state.status) {
    case 'submitted':
      return { outcome: 'pending', transaction, boughtBy: state.authorization.requestId, resultId };
    case 'settled': {
      const isShown = state.answer.keyCall?.does === 'show' && isKept(ports.clock, state);
      const body = isShown ? await ports.keyCalls.show(state, call) : await keptAnswer(ports, state);
      if (!body) return refused(problem('result_gone'));
      return isProblem(body) ? refused(body) : settledWith(state, resultId, body);
    }
    case 'failed':
      return { outcome: 'failed', transaction, reason: state.reason };
    case 'rolled_back':
      return { outcome: 'failed', transaction, reason: 'rolled_back' };
  }
}

/** The outcome of a settled payment. */
export const settledWith = (state: SubmittedState, resultId: string, body: Buffer): Outcome => ({
  outcome: 'settled',
  transaction: state.submission.transaction,
  boughtBy: state.authorization.requestId,
  resultId,
  body,
  promised: promisedBy(state),
});

const refused = (refusal: Problem): Outcome => ({ outcome: 'refused', problem: refusal });

/** Null if this node cannot derive it. */
function resultIdOf({ resultIds }: Pick<EarlierPorts, 'resultIds'>, { answer }: SubmittedState): string | null {
  try {
    return resultIds.idOf(resultOf(answer));
  } catch (error) {
    if (error instanceof MasterKeyMissing) return null;
    throw error;
  }
}

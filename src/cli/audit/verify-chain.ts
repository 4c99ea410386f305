/** The chain that `docket audit verify --chain` compares anchors with. */
import { checkAnchor } from '../../audit/anchors.ts';
import type { CheckAnchor } from '../../audit/verify/verify.ts';
import { loadLogIdentity } from '../../commands/log-identity/log-identity.ts';
import type { Config } from '../../config.ts';
import { openEventLog } from '../../service/open-storage.ts';
import { CallBudget } from '../../solana/call-budget.ts';
import { ChainUnavailable } from '../../solana/chain.ts';
import { RpcHistory } from '../../solana/rpc-history.ts';
import { type CliContext, CliError, EXIT } from '../command.ts';
import { openEndpoints } from './reconcile.ts';

/** Few enough for every provider's free plan. */
const CALLS_PER_SECOND = 10;

export interface AnchorChain {
  readonly check: CheckAnchor;
  close(): Promise<void>;
}

/** @throws CliError if the log has no identity, or the endpoint is of another chain or does not answer */
export async function openAnchorChain(config: Config, context: CliContext): Promise<AnchorChain> {
  const { log, close: closeLog } = await openEventLog(config);
  try {
    const identity = await loadLogIdentity(log);
    if (identity === null) {
      throw new CliError('The event log has no identity yet.', 'Leave out --chain: such a log has no anchors.');
    }
    const { logId, genesisHash } = identity;
    const endpoints = await openEndpoints(log, config, {}, context);
    const perSecond = config.solana.network === 'local' ? null : CALLS_PER_SECOND;
    const history = new RpcHistory({ urls: endpoints.urls, budget: new CallBudget({ perSecond, inAll: null }) });
    const close = async (): Promise<void> => {
      history.close();
      await endpoints.close();
    };
    try {
      if ((await history.genesisHash()) !== genesisHash) {
        throw new CliError(
          `The endpoint is of another chain than the log, whose genesis hash is ${genesisHash}.`,
          'Give an endpoint of that chain with SOLANA_RPC_URL.',
        );
      }
      return { close, check: (anchor) => checkAnchor(history, logId, anchor) };
    } catch (error) {
      await close();
      throw chainExplained(error);
    }
  } finally {
    await closeLog();
  }
}

export const chainExplained = (error: unknown): unknown =>
  error instanceof ChainUnavailable
    ? new CliError(
        `The chain does not answer: ${error.message}.`,
        'Check the endpoint, or leave out --chain.',
        EXIT.unavailable,
      )
    : error;

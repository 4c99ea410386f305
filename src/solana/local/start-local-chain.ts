/** The local chain: LiteSVM behind a Solana JSON-RPC endpoint on loopback (docs/design/payments.md#local-chain). */
import { join } from 'node:path';
import type { ChainLog } from './chain-log.ts';
import { ChainStore } from './chain-store.ts';
import { genesisAccounts } from './faucet.ts';
import { Ledger } from './ledger.ts';
import { serveRpc } from './rpc-server.ts';
import { SlotClock } from './slot-clock.ts';
import { VirtualMachine } from './virtual-machine.ts';

export const DEFAULT_SLOT_MS = 400;
const MINT_BYTES = 82;

/** The local chain was requested in an environment that expects real money. */
export class LocalChainRefused extends Error {
  readonly code = 'local_chain_refused';
  constructor() {
    super('the local chain holds test money and does not run with NODE_ENV=production');
    this.name = 'LocalChainRefused';
  }
}

export interface LocalChainOptions {
  /** Separate folder for the chain's state; created if it is missing. */
  readonly directory: string;
  /** 0 for any free port. */
  readonly port: number;
  readonly slotMs?: number;
  readonly logger: ChainLog;
  /** Read only for `NODE_ENV=production`. */
  readonly environment: NodeJS.ProcessEnv;
  /** For tests: places a program that does nothing and succeeds at Lighthouse's address. */
  readonly lighthouseStandIn?: boolean;
  /** The chain can no longer store what it acknowledges (e.g. the disk is full); from now on every call fails. */
  readonly onFailure?: (error: unknown) => void;
}

export interface LocalChain {
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

/** The folder of the local chain's state in a data folder, for the service and the command line. */
export const localChainDirectory = (dataDirectory: string): string => join(dataDirectory, 'chain');

/**
 * Starts the chain in this thread.
 *
 * @throws LocalChainRefused in production; ChainInUse if another process runs it; the error of listening on the port
 */
export async function startLocalChain(options: LocalChainOptions): Promise<LocalChain> {
  if (options.environment.NODE_ENV === 'production') throw new LocalChainRefused();
  const { logger, port, directory, slotMs = DEFAULT_SLOT_MS } = options;
  const store = new ChainStore(directory);
  let timer: NodeJS.Timeout | undefined;
  try {
    const { seed, slot, unixTime } = store.identity;
    const clock = new SlotClock({
      seed,
      slot,
      unixTime,
      slotMs,
      monotonicMs: () => performance.now(),
      wallSeconds: () => Date.now() / 1000,
    });
    const machine = new VirtualMachine({ lighthouseStandIn: options.lighthouseStandIn ?? false });
    const ledger = new Ledger({
      store,
      clock,
      machine,
      onFailure(error) {
        logger.error({ err: error }, 'the local chain cannot write to disk and stops answering');
        options.onFailure?.(error);
      },
      onSlotsUnsaved(error) {
        logger.error({ err: error }, 'the local chain cannot save its slots; it continues and retries');
      },
    });
    if (store.created) ledger.endow(genesisAccounts(ledger.faucetKey, machine.rentExemption(MINT_BYTES)));
    const next = () => {
      ledger.tick();
      timer = setTimeout(next, clock.untilNextMs());
    };
    timer = setTimeout(next, clock.untilNextMs());
    const server = await serveRpc({ ledger, port, log: logger });
    const url = `http://127.0.0.1:${server.port}`;
    logger.info({ url, slot: clock.slot, slotMs }, 'local chain listening');
    return {
      url,
      port: server.port,
      async close() {
        clearTimeout(timer);
        await server.close();
        ledger.flush();
        store.close();
      },
    };
  } catch (error) {
    clearTimeout(timer);
    store.close();
    throw error;
  }
}

/** The local chain's faucet, asked over RPC. No other chain has it. */
import { RpcEndpoint, RpcRefusal } from './rpc-endpoint.ts';

/** This endpoint is no local chain of ours. */
export class NoFaucet extends Error {
  readonly code = 'no_faucet';
  constructor(label: string) {
    super(`the chain at ${label} has no faucet for test USDC: it is not the local chain`);
    this.name = 'NoFaucet';
  }
}

export interface FaucetClient {
  /** Gives SOL. Resolves with the signature; what it did is durable and confirmed. */
  giveSol(address: string, lamports: bigint): Promise<string>;
  /** Makes the owner's USDC account where it is missing and mints into it; 0 only makes the account. */
  giveUsdc(owner: string, baseUnits: bigint): Promise<string>;
  close(): void;
}

const METHOD_NOT_FOUND = -32601;

/** Every method throws NoFaucet, EndpointFailure, or RpcRefusal with the chain's word. */
export function createFaucetClient(url: string, timeoutMs = 10_000): FaucetClient {
  const endpoint = new RpcEndpoint(url);
  const ask = async (method: string, address: string, amount: bigint): Promise<string> => {
    try {
      // Alone: a batch may be asked again call by call, and who gets a gift twice has too much.
      const exact = amount <= Number.MAX_SAFE_INTEGER ? Number(amount) : String(amount);
      return String(await endpoint.call(method, [address, exact], { timeoutMs, alone: true }));
    } catch (error) {
      if (error instanceof RpcRefusal && error.code === METHOD_NOT_FOUND) throw new NoFaucet(endpoint.label);
      throw error;
    }
  };
  return {
    giveSol: (address, lamports) => ask('requestAirdrop', address, lamports),
    giveUsdc: (owner, baseUnits) => ask('requestTokenAirdrop', owner, baseUnits),
    close: () => endpoint.close(),
  };
}

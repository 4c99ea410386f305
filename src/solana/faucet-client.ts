/** Client of the local chain's faucet, over RPC. No other chain has it. */
import { RpcEndpoint, RpcRefusal } from './rpc-endpoint.ts';

/** This endpoint is not a local chain of this service. */
export class NoFaucet extends Error {
  readonly code = 'no_faucet';
  constructor(label: string) {
    super(`the chain at ${label} has no faucet for test USDC: it is not the local chain`);
    this.name = 'NoFaucet';
  }
}

export interface FaucetClient {
  /** Sends SOL. Resolves with the signature once the transfer is durable and confirmed. */
  giveSol(address: string, lamports: bigint): Promise<string>;
  /** Creates the owner's USDC account if it is missing and mints into it; 0 only creates the account. */
  giveUsdc(owner: string, baseUnits: bigint): Promise<string>;
  close(): void;
}

const METHOD_NOT_FOUND = -32601;

/** Every method throws NoFaucet, EndpointFailure, or RpcRefusal with the chain's message. */
export function createFaucetClient(url: string, timeoutMs = 10_000): FaucetClient {
  const endpoint = new RpcEndpoint(url);
  const ask = async (method: string, address: string, amount: bigint): Promise<string> => {
    try {
      // Sent alone: a failed batch may be repeated call by call, which could pay out twice.
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

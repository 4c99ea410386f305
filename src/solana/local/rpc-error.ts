/** Errors with the codes of JSON-RPC and of Solana's own RPC. */

export const RPC_CODES = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParameters: -32602,
  internal: -32603,
  preflightFailure: -32002,
  signatureFailure: -32003,
  unsupportedTransactionVersion: -32015,
  minContextSlotNotReached: -32016,
} as const;

export class RpcError extends Error {
  constructor(
    readonly code: number,
    message: string,
    readonly data?: unknown,
  ) {
    super(message);
    this.name = 'RpcError';
  }
}

export const invalidParameters = (message: string): RpcError => new RpcError(RPC_CODES.invalidParameters, message);

/** The chain as an outsider sees it: plain JSON-RPC. */

export class ChainRpc {
  constructor(readonly url: string) {}

  async call<Result>(method: string, ...params: readonly unknown[]): Promise<Result> {
    const response = await fetch(this.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
    const answer = (await response.json()) as { result?: Result; error?: { message: string } };
    if (answer.error) throw new Error(`${method}: ${answer.error.message}`);
    return answer.result as Result;
  }

  async latestBlockhash(): Promise<string> {
    return (await this.call<{ value: { blockhash: string } }>('getLatestBlockhash')).value.blockhash;
  }

  /** Base units in a token account; 0 if it does not exist. */
  async tokens(account: string): Promise<bigint> {
    try {
      const { value } = await this.call<{ value: { amount: string } }>('getTokenAccountBalance', account);
      return BigInt(value.amount);
    } catch {
      return 0n;
    }
  }

  /** Gives an address test SOL and test USDC, and waits until they have arrived. */
  async fund(owner: string, tokenAccount: string, usdcBaseUnits: bigint): Promise<void> {
    const before = await this.tokens(tokenAccount);
    await this.call('requestAirdrop', owner, 1_000_000_000);
    await this.call('requestTokenAirdrop', owner, String(usdcBaseUnits));
    for (let i = 0; (await this.tokens(tokenAccount)) < before + usdcBaseUnits; i++) {
      if (i > 400) throw new Error(`the airdrop to ${owner} never arrived`);
      await new Promise((done) => setTimeout(done, 25));
    }
  }
}

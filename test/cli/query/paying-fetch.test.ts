import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NotUsdc, OverSpendingCap, payingFetch } from '../../../src/cli/query/paying-fetch.ts';
import { NETWORKS } from '../../../src/solana/addresses.ts';
import { SolanaKey } from '../../../src/solana/keys.ts';

/** A service that asks for what a test sets, and keeps what it receives. */
let terms: object;
const seen: IncomingHttpHeaders[] = [];
const server = createServer((request, response) => {
  seen.push(request.headers);
  const isPaid = request.headers['x402-payment'] !== undefined;
  response.writeHead(isPaid ? 200 : 402, { 'x-payment-requirements': JSON.stringify(terms) }).end();
});
let url: string;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

const payTo = SolanaKey.generate().address;
const asking = (asset: string, maxAmountRequired = '990000') => ({
  maxAmountRequired,
  asset,
  payTo,
  extra: { memo: 'a memo', recentBlockhash: SolanaKey.generate().address },
});

describe('a self-paid transfer', () => {
  const pay = async () => {
    seen.length = 0;
    const key = SolanaKey.generate();
    const rpcUrl = 'http://127.0.0.1:1';
    const paid = await payingFetch({
      dialect: 'self',
      key,
      rpcUrl,
      maxUsd: '1',
      fetch,
      paymentId: 'pay_0123456789abcdef',
    });
    return paid(url);
  };

  it.each([...new Set(Object.values(NETWORKS).map(({ usdcMint }) => usdcMint))])(
    'is signed for USDC: %s',
    async (mint) => {
      terms = asking(mint);
      expect((await pay()).status).toBe(200);
      expect(seen).toHaveLength(2);
    },
  );

  it('is never signed for another token, whatever its value', async () => {
    terms = asking(SolanaKey.generate().address);
    await expect(pay()).rejects.toThrow(NotUsdc);
    expect(seen).toHaveLength(1);
  });

  it('is never signed for more than the limit', async () => {
    terms = asking(NETWORKS.mainnet.usdcMint, '1000001');
    await expect(pay()).rejects.toThrow(OverSpendingCap);
    expect(seen).toHaveLength(1);
  });
});

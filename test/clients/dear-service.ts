/** A service with wrong payment terms: what a client must check before it signs. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PAYMENT_HEADERS } from '../../src/http/x402/payment-header.ts';
import { answersByOwnRoutes } from '../support/watched-answers.ts';

export interface DearService {
  readonly url: string;
  /** The payments that it received. */
  readonly payments: readonly string[];
  close(): void;
}

/** @param over the changes to the terms of a self-paid transfer of the real service at `origin` */
export async function asksFor(origin: string, over: object): Promise<DearService> {
  const payments: string[] = [];
  const server = createServer(async (request, response) => {
    payments.push(...PAYMENT_HEADERS.flatMap((name) => request.headers[name] ?? []));
    const asked = await fetch(origin + request.url);
    const terms = { ...JSON.parse(asked.headers.get('x-payment-requirements') ?? '{}'), ...over };
    response.writeHead(402, { 'x-payment-requirements': JSON.stringify(terms) }).end('{}');
  });
  answersByOwnRoutes(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, payments, close: () => server.close() };
}

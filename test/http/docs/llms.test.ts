/**
 * An agent that knows a case and nothing about this service gets to a paid delta: it reads every address, header,
 * method and value from /llms.txt or from an answer.
 */
import { createKeyPairSignerFromBytes } from '@solana/kit';
import { Keypair } from '@solana/web3.js';
import { wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { ExactSvmScheme } from '@x402/svm/exact/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openWorld, type World } from '../world.ts';

// biome-ignore lint/suspicious/noExplicitAny: an agent reads what comes
type Any = any;

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const entry = (number: number, date: string, description: string) => ({
  document_number: number,
  date_filed: date,
  description,
  pacer_doc_id: `0351${number}0009`,
});
const docket = (...entries: object[]) => ({
  court_id: 'cand',
  docket_number: '4:25-cv-00991',
  case_name: 'Fennel Orchard v. Quarry Lane Storage',
  date_filed: '2025-05-05',
  docket_entries: entries,
});
const FIRST = entry(1, '2025-05-05', 'COMPLAINT filed by Fennel Orchard.');

it('an agent that follows /llms.txt and the hints of errors buys a delta', async () => {
  await world.importDocket(docket(FIRST));
  const guide = await (await fetch(`${world.url}/llms.txt`)).text();
  const read = (pattern: RegExp): string => pattern.exec(guide)?.[1] ?? expect.fail(`llms.txt lacks ${pattern}`);

  // The service's public name leads to it; everything else of an address is from the guide.
  const base = read(/^Base address: (\S+)$/m);
  const at = (url: string) => url.replace(base, world.url);
  const json = async (url: string, send: typeof fetch = fetch): Promise<{ status: number; body: Any }> => {
    const answer = await send(at(url));
    return { status: answer.status, body: await answer.json() };
  };

  // What it knows: the court's name, and a number as a person typed it.
  const status = await json(read(/1\. Find the court: `GET (\S+)`/));
  const court = status.body.courts.find(
    ({ name }: Any) => /Northern District of California$/.test(name) && !/Bankr/.test(name),
  );
  const rehearsal = new URL(read(/2\. Test for free: `GET (\S+)`/));
  expect((await json(String(rehearsal))).body.meta.sandbox).toBe(true);

  // Its own case, incorrect at first: each error says what is wrong and gives a value that works.
  rehearsal.searchParams.set('court_code', `${court.court_code}x`);
  rehearsal.searchParams.set('case_id', 'number 4:25-cv-991!');
  let asked = await json(String(rehearsal));
  let corrections = 0;
  while (asked.status !== 200) {
    if (++corrections > 5) expect.fail(JSON.stringify(asked.body));
    const { issues, suggestions } = asked.body.error.details;
    for (const { parameter, suggestion, example } of issues) {
      const better = parameter === 'case_id' ? '4:25-cv-991' : (suggestion ?? suggestions?.[0] ?? example);
      rehearsal.searchParams.set(parameter, better);
    }
    asked = await json(String(rehearsal));
  }
  expect(asked.body).toMatchObject({ court_code: court.court_code, meta: { sandbox: true, query_cost_usd: 0 } });

  // The same request without the sandbox asks for payment.
  const [, sandboxName = ''] = /&(\w+)=1`/.exec(guide) ?? [];
  rehearsal.searchParams.delete(sandboxName);
  const unpaid = await fetch(at(String(rehearsal)));
  expect(unpaid.status).toBe(402);
  const header = read(/header `([\w-]+)` \(x402 v2/);
  const terms = JSON.parse(Buffer.from(unpaid.headers.get(header) ?? '', 'base64').toString());
  expect(terms.accepts[0]).toMatchObject({
    network: read(/^Network: `([^`]+)`/m),
    asset: read(/USDC mint: `([^`]+)`/),
    amount: read(/Price of one query: (\d+) base units/),
  });

  // A wallet, funded as the guide says.
  const rpcUrl = read(/JSON-RPC: (\S+) /);
  const keypair = Keypair.generate();
  const airdrop = JSON.parse(read(/method `requestTokenAirdrop` with params `([^`]+)`/));
  const params = airdrop.map((value: string) => (value === 'ADDRESS' ? keypair.publicKey.toBase58() : value));
  const call = { jsonrpc: '2.0', id: 1, method: read(/method `(\w+)` with params/), params };
  const funded = await fetch(rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(call),
  });
  expect(await funded.json()).not.toHaveProperty('error');

  // The client that the guide names.
  expect(guide).toContain('npm i @x402/fetch @x402/svm @solana/kit');
  const signer = await createKeyPairSignerFromBytes(keypair.secretKey);
  const client = new x402Client().register('solana:*', new ExactSvmScheme(signer, { rpcUrl }));
  const pay = wrapFetchWithPayment(fetch, client);
  const first = await json(String(rehearsal), pay);
  expect(first).toMatchObject({ status: 200, body: { meta: { query_cost_usd: 0.99 }, case: { filing_count: 1 } } });

  await world.importDocket(docket(FIRST, entry(2, '2025-05-06', 'ORDER setting a conference.')));
  const [, keep = ''] = /Store `meta\.(\w+)`/.exec(guide) ?? [];
  const [, since = ''] = /with `&(\w+)=`/.exec(guide) ?? [];
  rehearsal.searchParams.set(since, first.body.meta[keep]);
  const second = await json(String(rehearsal), pay);
  expect(second.status).toBe(200);
  expect(second.body.delta).toMatchObject({ changed: true, change_count: 1 });
  expect(second.body.delta.new_filings[0].description).toContain('ORDER setting a conference');

  // Every page that the guide links to exists, as Markdown.
  for (const [, url = ''] of guide.matchAll(/\]\((\S+?)\)/g)) {
    const page = await fetch(at(url));
    expect([url, page.status]).toEqual([url, 200]);
    if (url.endsWith('.md')) expect(page.headers.get('content-type')).toContain('text/markdown');
  }
});

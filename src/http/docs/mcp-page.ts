/** `/docs/mcp`: how a client is connected to the MCP endpoint, what its tools are, and how a program pays for them. */
import { type Html, html } from './html.ts';
import type { Page } from './layout.ts';

export const mcpPage = (publicUrl: string): Page => ({
  title: 'MCP server',
  description:
    'Court dockets as tools for a model: one address for Claude, Cursor, VS Code and every other MCP client.',
  body: html`
<p>The service is an <a href="https://modelcontextprotocol.io">MCP</a> server at <code>${publicUrl}/v2/mcp</code>:
Streamable HTTP, no account, no key, no sign-in. It speaks the revisions 2025-03-26, 2025-06-18, 2025-11-25 and
2026-07-28.</p>
${connecting(publicUrl)}
${tools()}
${paying(publicUrl)}
${wallets()}
${rules(publicUrl)}`,
});

const connecting = (publicUrl: string): Html => html`
<h2 id="connect">Connect</h2>
<h3>Claude Desktop and claude.ai</h3>
<p>Settings, Connectors, <em>Add custom connector</em>, and give the address <code>${publicUrl}/v2/mcp</code>. Remote servers
do not go into <code>claude_desktop_config.json</code>. For a service on your own machine put a bridge there:</p>
<pre><code>{
  "mcpServers": {
    "dockets": { "command": "npx", "args": ["-y", "mcp-remote", "${publicUrl}/v2/mcp"] }
  }
}</code></pre>
<h3>Claude Code</h3>
<pre><code>claude mcp add --transport http dockets ${publicUrl}/v2/mcp</code></pre>
<p>or, for everybody who works on a project, in its <code>.mcp.json</code>:</p>
<pre><code>{
  "mcpServers": { "dockets": { "type": "http", "url": "${publicUrl}/v2/mcp" } }
}</code></pre>
<h3>Cursor</h3>
<p>In <code>~/.cursor/mcp.json</code>, or in a project’s <code>.cursor/mcp.json</code>:</p>
<pre><code>{
  "mcpServers": { "dockets": { "url": "${publicUrl}/v2/mcp" } }
}</code></pre>
<h3>VS Code</h3>
<p>In <code>.vscode/mcp.json</code>:</p>
<pre><code>{
  "servers": { "dockets": { "type": "http", "url": "${publicUrl}/v2/mcp" } }
}</code></pre>
<p><strong>To try it for nothing</strong>, connect to <code>${publicUrl}/v2/mcp?test=1</code>: every tool answers from invented
dockets, arguments are checked as ever, and no wallet is needed.</p>`;

const tools = (): Html => html`
<h2 id="tools">Tools</h2>
<dl>
<dt><code>service_court_list</code></dt><dd>free; finds courts by <code>search</code>, <code>region</code> or <code>country</code>,
with the form of their case numbers; in pages</dd>
<dt><code>service_status</code></dt><dd>free; health and coverage, as <code>GET /v2/status</code> without its list of courts</dd>
<dt><code>service_pricing</code></dt><dd>free; prices and ways to pay</dd>
<dt><code>service_case_query</code></dt><dd>0.99 USD; what <code>GET /v2/case</code> answers</dd>
<dt><code>service_case_monitor</code></dt><dd>0.99 USD; what <code>GET /v2/monitor</code> answers</dd>
<dt><code>service_case_batch</code></dt><dd>0.99 USD for each of up to 50 queries, in one payment</dd>
<dt><code>service_wallet_info</code></dt><dd>0.99 USD for the wallet’s callback keys, 0.99 USD more for its deliveries</dd>
</dl>
<p>Each result has <code>structuredContent</code> and the same JSON as its first text. A wrong argument is a result with
<code>isError</code>: the error object of <a href="/docs/errors">REST</a>, every fault at once with its rule and an example, and
<code>next_step</code>, which says what to call next. Whatever is refused was not charged, and says so.</p>`;

const paying = (publicUrl: string): Html => html`
<h2 id="pay">Pay</h2>
<p>A paid tool that is called without <code>payment_tx</code> checks its arguments and answers with payment instructions,
which is no error. Sign the transfer that they describe, do <strong>not</strong> send it, and call the tool again with the same
arguments and <code>payment_tx</code>. The service sends it once the answer is there. With the SDK
(<code>npm i @modelcontextprotocol/sdk @solana/web3.js @solana/spl-token</code>):</p>
<pre><code>${paymentSample(publicUrl)}</code></pre>
<p>The wallet needs USDC and a little SOL for the network’s fee. A transfer buys one answer; the answer stays, free for 30
days, at the <code>service/result_url</code> in the result’s <code>_meta</code>. A result with <code>payment.status</code>
<code>pending</code> says that the chain has not decided yet: fetch its <code>result_url</code> and do not pay again.</p>
<h3 id="x402">With x402</h3>
<p>A client of x402 connects to <code>${publicUrl}/v2/mcp?payment=x402</code>. It is then asked in x402’s own form
(<code>isError</code>, <code>PaymentRequired</code> in <code>structuredContent</code>), pays in
<code>_meta["x402/payment"]</code>, gets the receipt in <code>_meta["x402/payment-response"]</code>, and needs no SOL. The payment
itself is taken at either address. Send one of the two, not both.</p>`;

/** Runs as it is, with a wallet in `wallet.json`; a test does. */
export const paymentSample = (publicUrl: string): string => `import { readFileSync } from 'node:fs';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { createTransferCheckedInstruction, getAssociatedTokenAddressSync } from '@solana/spl-token';
import { Keypair, PublicKey, Transaction, TransactionInstruction } from '@solana/web3.js';

const client = new Client({ name: 'my-agent', version: '1.0.0' });
await client.connect(new StreamableHTTPClientTransport(new URL('${publicUrl}/v2/mcp')));
const call = { court_code: 'cand', case_id: '3:24-cv-00042' };
const asked = await client.callTool({ name: 'service_case_query', arguments: call });
const terms = asked.structuredContent;

const wallet = Keypair.fromSecretKey(Uint8Array.from(JSON.parse(readFileSync('wallet.json', 'utf8'))));
const mint = new PublicKey(terms.asset);
const payment = new Transaction({
  feePayer: wallet.publicKey,
  blockhash: terms.recent_blockhash,
  lastValidBlockHeight: terms.last_valid_block_height,
}).add(
  createTransferCheckedInstruction(
    getAssociatedTokenAddressSync(mint, wallet.publicKey),
    mint,
    new PublicKey(terms.recipient_token_account),
    wallet.publicKey,
    BigInt(terms.amount_base_units),
    6,
  ),
  new TransactionInstruction({
    programId: new PublicKey('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr'),
    keys: [],
    data: Buffer.from(terms.memo),
  }),
);
payment.sign(wallet);
const payment_tx = payment.serialize().toString('base64');
const answer = await client.callTool({ name: 'service_case_query', arguments: { ...call, payment_tx } });
console.log(JSON.stringify(answer.structuredContent, null, 2));
await client.close();`;

const wallets = (): Html => html`
<h2 id="wallet">Keys and deliveries of a wallet</h2>
<p><code>service_wallet_info</code> gives the ids of the keys that sign your callbacks for the payment in
<code>payment_tx_keys</code>. With <code>include_deliveries</code> it gives the history of deliveries too, for a payment of its
own in <code>payment_tx_deliveries</code>: two different transfers of one wallet. Each is settled only if its part is answered.
Keys are rotated over REST alone, by <code>POST /v2/wallet/keys</code>.</p>`;

const rules = (publicUrl: string): Html => html`
<h2 id="rules">Good to know</h2>
<dl>
<dt>Limits</dt><dd>A paid call counts against its wallet’s limits as over REST. A limit is a result that says how long to wait,
never an HTTP error.</dd>
<dt>Web pages</dt><dd>A request with an <code>Origin</code> that the operator has not allowed is refused with 403. Clients that are
no web pages send none.</dd>
<dt>Tags</dt><dd>The header <code>X-Service-Tag</code> comes back in <code>meta.tag</code>.</dd>
<dt>Discovery</dt><dd><code>server.json</code> in the repository is the entry for the MCP registry: set its name and the host
(${publicUrl}) to your own, and publish it.</dd>
</dl>`;

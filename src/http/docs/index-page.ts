/** `/docs`: what a developer, or an agent, needs for the first paid query and for the loop after it. */
import { type Html, html } from './html.ts';
import type { Page } from './layout.ts';

export interface IndexPageFacts {
  readonly publicUrl: string;
  /** Where clients must reach the chain themselves, if it is a local one; null on a public network. */
  readonly localRpcUrl: string | null;
}

export const indexPage = ({ publicUrl, localRpcUrl }: IndexPageFacts): Page => ({
  title: 'Court dockets, paid per query',
  description:
    'Ask for a US or Canadian court case, pay 0.99 USDC in the same call, get what was filed since you last looked.',
  body: html`
<p>Ask for a court case over HTTP and get its present state and, when you say when you last looked, exactly the filings
that are new since then. A query costs <strong>0.99 USDC</strong> on Solana, paid by <a href="https://www.x402.org">x402</a>
in the same call. There are no accounts and no keys. What fails is never charged.</p>
${firstQuery(publicUrl, localRpcUrl)}
${monitoring(publicUrl)}
${sandbox(publicUrl)}
${comingBack()}
${endpoints()}
<h2 id="errors">Errors</h2>
<p>Refusals are JSON with a stable code, a hint and, for parameters, every fault at once. <a href="/docs/errors">All
codes</a>, each with what to do.</p>
${changelog()}`,
});

const firstQuery = (publicUrl: string, localRpcUrl: string | null): Html => html`
<h2 id="first-query">First query</h2>
<p>Any x402 client works unchanged. With the reference one (<code>npm i @x402/fetch @x402/svm @solana/kit</code>):</p>
<pre><code>import { readFileSync } from 'node:fs';
import { createKeyPairSignerFromBytes } from '@solana/kit';
import { wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { ExactSvmScheme } from '@x402/svm/exact/client';
const secret = Uint8Array.from(JSON.parse(readFileSync('wallet.json', 'utf8')));
const signer = await createKeyPairSignerFromBytes(secret);
const client = new x402Client().register('solana:*', new ExactSvmScheme(signer${localRpcUrl === null ? '' : `, { rpcUrl: '${localRpcUrl}' }`}));
const pay = wrapFetchWithPayment(fetch, client);
const answer = await pay('${publicUrl}/v2/case?court_code=cand&amp;case_id=3:24-cv-00042');
console.log(await answer.json());</code></pre>
<p>The wallet needs USDC and no SOL: the network fee is ours. <code>court_code</code> and the form of each court’s case
numbers are in <a href="/v2/status">the status</a>, which is free.</p>
<p><strong>Spending cap.</strong> <code>@x402/fetch</code> pays at most 1 USD for a request unless told otherwise. One
query fits; for anything dearer raise the cap:</p>
<pre><code>client.setSpendControls({ maxAmountPerPayment: '$60' });</code></pre>
<p>Without a client of x402, the first answer is a <code>402</code> whose header <code>PAYMENT-REQUIRED</code> holds the terms
(base64 of JSON); repeat the request with the header <code>PAYMENT-SIGNATURE</code>.</p>`;

const monitoring = (publicUrl: string): Html => html`
<h2 id="monitoring">Watching a case</h2>
<p>Every answer has <code>meta.queried_at</code>. Send it back, unchanged, as <code>last_checked</code> the next time:</p>
<pre><code>${publicUrl}/v2/case?court_code=cand&amp;case_id=3:24-cv-00042&amp;last_checked=2026-03-01T12:00:00.000000Z</code></pre>
<p>Then <code>delta.changed</code> says whether anything is new and <code>delta.new_filings</code> holds it, oldest first. The loop
never loses a filing and never repeats one: what a court dockets late, with an old date, is new when it appears.
<code>delta.updated_filings</code> holds known entries that changed.</p>
<dl>
<dt><code>context=full</code></dt><dd>parties with attorneys, cross-references and the whole docket, at the same price</dd>
<dt><code>filing_types=motion,order</code></dt><dd>filters the delta</dd>
<dt><code>language=fr</code></dt><dd>French, where the court has it</dd>
<dt>header <code>X-Service-Tag</code></dt><dd>at most 256 characters, given back in <code>meta.tag</code></dd>
</dl>
<p>Where it is enough to know <em>that</em> something is new, ask <code>GET /v2/monitor</code> with <code>case_id</code>,
<code>court_code</code> and <code>last_checked</code>: its answer has <code>changed</code>, <code>change_count</code> and
<code>latest_activity_at</code>, by the same rule as the delta.</p>`;

const sandbox = (publicUrl: string): Html => html`
<h2 id="sandbox">Sandbox</h2>
<p>With <code>test=1</code>, or the header <code>X-Service-Test: 1</code>, a call costs nothing, needs no payment and counts
against no limit. Parameters are checked as ever; the answer has the shape of a real one and comes from invented dockets:</p>
<pre><code>${publicUrl}/v2/case?court_code=cand&amp;case_id=3:24-cv-00042&amp;context=full&amp;test=1</code></pre>
<p><code>meta.sandbox</code> is <code>true</code>, nothing ever changes, and a payment that is sent along is ignored. Your
<code>case_id</code> and <code>court_code</code> come back; which docket you see follows from them:</p>
<dl>
<dt>US trial courts</dt><dd>a civil case, or a criminal one where the number says so (<code>cr</code>, <code>CF</code>)</dd>
<dt>US bankruptcy courts</dt><dd>a chapter 11 case</dd>
<dt>US courts of appeals, supreme courts</dt><dd>an appeal from notice to mandate</dd>
<dt>numbers of kind <code>md</code>, and <code>jpml</code></dt><dd>6,000 entries: with <code>context=full</code> the answer is cut,
and <code>meta.truncation_details</code> says how</dd>
<dt>Canadian courts</dt><dd>a case under an English and a French name: try <code>language=fr</code></dd>
</dl>`;

const comingBack = (): Html => html`
<h2 id="results">Coming back for a paid answer</h2>
<p>A paid answer names itself in its header <code>Content-Location</code>: <code>GET /v2/results/{request_id}</code> gives the
same bytes again, free, for 30 days. A <code>202</code> says that the chain has not decided yet: look at its
<code>payment.result_url</code> and do not pay again.</p>
<p>If the connection may break before you see either, send x402’s <code>payment-identifier</code>: the same identifier with
the same request gives the stored answer, never a second charge. Keep it to yourself; it is what proves that the answer
is yours. The same payment presented again without it is a
<a href="/docs/errors#payment_already_used"><code>409</code></a>, since anybody can read a payment on the chain.</p>`;

const endpoints = (): Html => html`
<h2 id="endpoints">Endpoints of this release</h2>
<dl>
<dt><code>GET /v2/case</code></dt><dd>one case, with the delta; 0.99 USD</dd>
<dt><code>GET /v2/monitor</code></dt><dd>whether a case has anything new, and how much; 0.99 USD</dd>
<dt><code>GET /v2/results/{request_id}</code></dt><dd>an answer that was paid for; free</dd>
<dt><code>GET /v2/status</code></dt><dd>courts, their case-number patterns, health; free</dd>
</dl>
<p>Not in this release: <code>callback_url</code>, and the other endpoints of version 2. Asking for them is an
error, never a charge.</p>`;

const changelog = (): Html => html`
<h2 id="changelog">Changes</h2>
<dl>
<dt>2.0.1</dt><dd>Oklahoma (full coverage) and West Virginia (partial); Texas state courts are planned</dd>
<dt>2.0.0</dt><dd>version 2, from 2026-04-28: new filings in <code>delta</code>, <code>filing_types</code> separated by commas,
<code>meta</code> in every answer; <code>nature_of_proceeding</code>, <code>document_identifier</code>, <code>external_url</code> and
<code>cross_references</code> are the new names of what they hold</dd>
</dl>`;

/** `/docs/errors`: made from the catalogue that the service answers by, so that the two cannot differ. */
import { ERROR_CATALOGUE, type ErrorCode } from '../../errors.ts';
import { PAYMENT_REJECTIONS } from '../../events/payment-rejections.ts';
import { BATCH_CHARGING } from '../paid/batch-charging.ts';
import { type Html, html, prose } from './html.ts';
import type { Rendered } from './markdown.ts';

const CODES = Object.keys(ERROR_CATALOGUE) as ErrorCode[];

export const errorsPage = (): Rendered => ({
  title: 'Errors',
  lead: 'Every error code of the court-docket monitoring API: its status, what it means and what to do.',
  headings: [],
  body: html`
<p>Every refusal is JSON of one shape. <code>error.code</code> never changes its meaning; build on it and not on the message.
<strong>A refusal never costs anything</strong>: <code>details.charged</code> is <code>false</code> in every one.
${BATCH_CHARGING} Each failed entry then says so: <code>details.charged</code> and <code>details.query_cost_usd</code>.</p>
<pre tabindex="0" role="group" aria-label="Code"><code>{
  "meta": { "request_id": "…", "queried_at": "…" },
  "error": {
    "code": "missing_required_parameter",
    "message": "case_id: This parameter is required.",
    "documentation_url": "…/docs/errors#missing_required_parameter",
    "details": { "charged": false, "hint": "…", "parameters": ["case_id"], "issues": [ … ] }
  }
}</code></pre>
<p>Where a request has several faults, <code>details.issues</code> lists all of them, and the code is the one that comes first
on this page. Errors of parameters come before any payment is asked for.</p>
<nav aria-label="Error codes"><ul class="codes">${CODES.map(
    (code) => html`
<li><a href="#${code}">${code}</a> ${ERROR_CATALOGUE[code].status}</li>`,
  )}
</ul></nav>
${CODES.map(entry)}`,
});

function entry(code: ErrorCode): Html {
  const { status, message, hint, details } = ERROR_CATALOGUE[code];
  const keys = Object.entries(details);
  return html`
<section aria-labelledby="${code}">
<h2 id="${code}"><code>${code}</code> <span class="status">${status}</span></h2>
<p>${prose(message)}</p>
<p><strong>What to do:</strong> ${prose(hint)}</p>${
    keys.length
      ? html`
<p>In <code>details</code>:</p>
<dl>${keys.map(
          ([key, meaning]) => html`
<dt><code>${key}</code></dt>
<dd>${prose(meaning)}</dd>`,
        )}
</dl>`
      : ''
  }${code === 'payment_rejected' ? reasons() : ''}
</section>`;
}

const REASONS = Object.entries(PAYMENT_REJECTIONS);
const REASONS_LEAD =
  'Values of details.reason. There may be more later: treat an unknown one like any other rejection.';

const reasons = (): Html => html`
<h3 id="payment_rejected_reasons">Reasons</h3>
<p>${REASONS_LEAD}</p>
<dl>${REASONS.map(
  ([reason, { meaning, advice }]) => html`
<dt><code>${reason}</code></dt>
<dd>${prose(meaning)} ${prose(advice)}</dd>`,
)}
</dl>`;

/** The same as Markdown. */
export const errorsText = (): string => `# Errors

Every refusal is JSON of one shape: \`meta\` with \`request_id\` and \`queried_at\`, and \`error\` with \`code\`, \`message\`,
\`documentation_url\` and \`details\`. Build on the code, not on the message. A refusal never costs anything:
\`details.charged\` is \`false\` in every one, \`details.hint\` says what to do. ${BATCH_CHARGING} Each failed entry then says so:
\`details.charged\` and \`details.query_cost_usd\`. With several faults \`details.issues\` lists all
of them, and the code is the first of this page's order.

${CODES.map(entryText).join('\n\n')}
`;

function entryText(code: ErrorCode): string {
  const { status, message, hint, details } = ERROR_CATALOGUE[code];
  const keys = Object.entries(details).map(([key, meaning]) => `- \`${key}\`: ${meaning}`);
  const listed = REASONS.map(([reason, { meaning, advice }]) => `- \`${reason}\`: ${meaning} ${advice}`).join('\n');
  const more = code === 'payment_rejected' ? `${REASONS_LEAD}\n\n${listed}` : '';
  return [`## ${code} (${status})`, `${message} **What to do:** ${hint}`, keys.join('\n'), more]
    .filter((part) => part !== '')
    .join('\n\n');
}

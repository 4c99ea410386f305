/** `/docs/errors`: generated from the catalogue that the service uses, so the two always match. */
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
<p>Every error is JSON of one shape. The meaning of <code>error.code</code> never changes: rely on the code, not on the message.
<strong>Errors are never charged</strong>: <code>details.charged</code> is <code>false</code> in every error response.
${BATCH_CHARGING} Each failed entry says what was charged in <code>details.charged</code> and <code>details.query_cost_usd</code>.</p>
<pre tabindex="0" role="group" aria-label="Code"><code>{
  "meta": { "request_id": "…", "queried_at": "…" },
  "error": {
    "code": "missing_required_parameter",
    "message": "case_id: This parameter is required.",
    "documentation_url": "…/docs/errors#missing_required_parameter",
    "details": { "charged": false, "hint": "…", "parameters": ["case_id"], "issues": [ … ] }
  }
}</code></pre>
<p>If a request has several errors, <code>details.issues</code> lists all of them, and the code is the one that comes first
on this page. Parameter errors are reported before you are asked to pay.</p>
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
const REASONS_LEAD = 'Values of details.reason. More may be added: treat an unknown one like any other rejection.';

const reasons = (): Html => html`
<h3 id="payment_rejected_reasons">Reasons</h3>
<p>${REASONS_LEAD}</p>
<dl>${REASONS.map(
  ([reason, { meaning, advice }]) => html`
<dt><code>${reason}</code></dt>
<dd>${prose(meaning)} ${prose(advice)}</dd>`,
)}
</dl>`;

/** The same page as Markdown. */
export const errorsText = (): string => `# Errors

Every error is JSON of one shape: \`meta\` with \`request_id\` and \`queried_at\`, and \`error\` with \`code\`, \`message\`,
\`documentation_url\` and \`details\`. Rely on the code, not on the message. Errors are never charged:
\`details.charged\` is \`false\` in every error response, and \`details.hint\` says what to do. ${BATCH_CHARGING} Each failed entry says what was charged in
\`details.charged\` and \`details.query_cost_usd\`. If a request has several errors, \`details.issues\` lists all
of them, and the code is the one that comes first on this page.

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

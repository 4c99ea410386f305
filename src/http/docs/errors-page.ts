/** `/docs/errors`: made from the catalogue that the service answers by, so that the two cannot differ. */
import { ERROR_CATALOGUE, type ErrorCode } from '../../errors.ts';
import { type Html, html, prose } from './html.ts';
import type { Rendered } from './markdown.ts';

const CODES = Object.keys(ERROR_CATALOGUE) as ErrorCode[];

export const errorsPage = (): Rendered => ({
  title: 'Errors',
  lead: 'Every error code of the court-docket monitoring API: its status, what it means and what to do.',
  headings: [],
  body: html`
<p>Every refusal is JSON of one shape. <code>error.code</code> never changes its meaning; build on it and not on the message.
<strong>A refusal never costs anything</strong>: <code>details.charged</code> is <code>false</code> in every one.</p>
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
  }
</section>`;
}

/** The same as Markdown. */
export const errorsText = (): string => `# Errors

Every refusal is JSON of one shape: \`meta\` with \`request_id\` and \`queried_at\`, and \`error\` with \`code\`, \`message\`,
\`documentation_url\` and \`details\`. Build on the code, not on the message. A refusal never costs anything:
\`details.charged\` is \`false\` in every one, \`details.hint\` says what to do. With several faults \`details.issues\` lists all
of them, and the code is the first of this page's order.

${CODES.map(entryText).join('\n\n')}
`;

function entryText(code: ErrorCode): string {
  const { status, message, hint, details } = ERROR_CATALOGUE[code];
  const keys = Object.entries(details).map(([key, meaning]) => `- \`${key}\`: ${meaning}`);
  return [`## ${code} (${status})`, `${message} **What to do:** ${hint}`, keys.join('\n')]
    .filter((part) => part !== '')
    .join('\n\n');
}

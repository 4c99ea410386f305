/** What the documentation pages share. They need no script, no font and no other request than their own. */
import { createHash } from 'node:crypto';
import { Html, html } from './html.ts';

const STYLE = `
:root { color-scheme: light dark; --line: #d5d9e0; --quiet: #566070; --link: #0b57d0; --code: #f3f5f8; }
@media (prefers-color-scheme: dark) {
  :root { --line: #3a4150; --quiet: #a8b1c1; --link: #8ab4f8; --code: #1f242d; }
}
* { box-sizing: border-box; }
body { margin: 0; font: 1rem/1.6 system-ui, sans-serif; overflow-wrap: break-word; }
header, main, footer { max-width: 46rem; margin: 0 auto; padding: 0 1rem; }
header { padding-top: 1rem; }
footer { margin: 3rem auto; color: var(--quiet); }
nav a, .codes a { margin-right: 1rem; }
.skip { position: absolute; left: -999rem; }
.skip:focus { left: 1rem; top: 0; }
h1 { font-size: 1.6rem; line-height: 1.25; }
h2 { margin-top: 2.5rem; font-size: 1.25rem; border-top: 1px solid var(--line); padding-top: 1rem; scroll-margin-top: 0; }
h2 .status { color: var(--quiet); font-weight: normal; }
:target { outline: 2px solid var(--link); outline-offset: .5rem; }
a { color: var(--link); }
code, pre { font: .9em/1.5 ui-monospace, monospace; background: var(--code); border-radius: 4px; }
code { padding: .1em .3em; }
pre { padding: .8rem; overflow-x: auto; }
pre code { padding: 0; background: none; }
dt { margin-top: .5rem; }
dd { margin-left: 1.2rem; }
.codes { list-style: none; padding: 0; }
`;

const styleHash = createHash('sha256').update(STYLE).digest('base64');

/** Nothing runs and nothing is loaded; the one style sheet is known by its hash. */
export const PAGE_SECURITY_POLICY = `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

export interface Page {
  readonly title: string;
  /** One sentence for search engines and link previews. */
  readonly description: string;
  readonly body: Html;
}

/** A whole document. */
export const layout = ({ title, description, body }: Page): string =>
  html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="description" content="${description}">
<title>${title}</title>
<style>${new Html(STYLE)}</style>
</head>
<body>
<header>
<a class="skip" href="#content">Skip to content</a>
<nav aria-label="Documentation"><a href="/docs">Docket Monitor</a><a href="/docs/errors">Errors</a><a href="/v2/status">Status</a></nav>
</header>
<main id="content">
<h1>${title}</h1>
${body}
</main>
<footer>Answers are data about public court records, not legal advice.</footer>
</body>
</html>
`.markup;

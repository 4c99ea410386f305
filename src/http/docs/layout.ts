/** The layout shared by the documentation pages. A page needs no script, no font and no further request. */
import { createHash } from 'node:crypto';
import { Html, html } from './html.ts';
import type { Rendered } from './markdown.ts';
import { STYLE } from './style.ts';

const styleHash = createHash('sha256').update(STYLE).digest('base64');

/** Nothing runs and nothing is loaded; the style sheet is allowed by its hash. */
export const PAGE_SECURITY_POLICY = `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

export interface NavigationEntry {
  readonly path: string;
  /** Label in the menu. */
  readonly label: string;
}

export interface Menu {
  readonly groups: readonly { readonly title: string; readonly places: readonly NavigationEntry[] }[];
}

/** Renders a complete document. */
export function layout(path: string, { title, lead, body }: Rendered, { groups }: Menu): string {
  const reading = groups.flatMap(({ places }) => places).filter((place) => place.path.startsWith('/docs'));
  const at = reading.findIndex((place) => place.path === path);
  const [before, after] = [reading[at - 1], reading[at + 1]];
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="description" content="${lead}">
<title>${title} · Docket Monitor</title>
<style>${new Html(STYLE)}</style>
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<header class="top"><a href="/docs">Docket <span>Monitor</span></a></header>
<div class="frame">
<details class="menu">
<summary>Contents</summary>
<nav aria-label="Documentation">${groups.map(
    ({ title: group, places }) => html`
<h2>${group}</h2>
<ul>${places.map(
      (place) => html`
<li><a href="${place.path}"${new Html(place.path === path ? ' aria-current="page"' : '')}>${place.label}</a></li>`,
    )}
</ul>`,
  )}
</nav>
</details>
<main id="content">
<h1>${title}</h1>
${body}
<div class="next">${at > 0 && before ? html`<a href="${before.path}">← ${before.label}</a>` : ''}${
    after ? html`<a href="${after.path}">${after.label} →</a>` : ''
  }</div>
</main>
</div>
<footer><p>Answers are data about public court records, not legal advice. This page as <a href="${path === '/docs' ? '/docs/index' : path}.md">Markdown</a>.</p></footer>
</body>
</html>
`.markup;
}

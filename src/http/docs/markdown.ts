/** Renders Markdown for the pages: every heading is linkable; wide code and tables scroll on their own. */
import { Marked, type Tokens } from 'marked';
import { highlighted } from './highlight.ts';
import { Html, html } from './html.ts';

/** The id of a heading is made from its words, or given at its end as in `GET /v2/case {#getCase}`. */
const OWN_ID = /\s*\{#([\w-]+)\}\s*$/;

function headingId(text: string): string {
  const own = OWN_ID.exec(text);
  if (own?.[1]) return own[1];
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s+/g, '-');
}

/** Removes the `{#id}` markers, for readers of the Markdown itself. */
export const withoutIds = (markdown: string): string => markdown.replace(/^(#.*?)\s*\{#[\w-]+\}\s*$/gm, '$1');

export interface Heading {
  readonly id: string;
  readonly text: string;
}

export interface Rendered {
  readonly title: string;
  /** The first paragraph as plain text, for search engines and link previews. */
  readonly lead: string;
  readonly body: Html;
  /** Headings of the second level. */
  readonly headings: readonly Heading[];
}

/** @throws Error if the text does not start with a first-level heading */
export function renderMarkdown(markdown: string): Rendered {
  const headings: Heading[] = [];
  const marked = new Marked({
    gfm: true,
    renderer: {
      heading({ tokens, depth, text }: Tokens.Heading) {
        const id = headingId(text);
        const shown = this.parser.parseInline(tokens).replace(OWN_ID, '');
        if (depth === 2) headings.push({ id, text: plain(text) });
        const level = `h${depth}`;
        return `<${level} id="${id}">${shown} <a class="anchor" href="#${id}" aria-label="Link to ${html`${plain(text)}`.markup}">#</a></${level}>\n`;
      },
      code({ text, lang }: Tokens.Code) {
        // A scrollable box must be reachable by keyboard, and then needs a label.
        return html`<pre tabindex="0" role="group" aria-label="Code"><code>${highlighted(text, lang)}</code></pre>
`.markup;
      },
      table({ header, rows }: Tokens.Table) {
        const cells = (row: readonly Tokens.TableCell[], tag: string) =>
          // An empty header cell is rendered as a normal cell.
          row.map(({ text, tokens }) => inTag(text ? tag : 'td', this.parser.parseInline(tokens))).join('');
        const head = header.some(({ text }) => text !== '') ? `<thead><tr>${cells(header, 'th')}</tr></thead>` : '';
        const body = rows.map((row) => `<tr>${cells(row, 'td')}</tr>`).join('\n');
        return `<div class="table" tabindex="0" role="group" aria-label="Table"><table>${head}<tbody>${body}</tbody></table></div>\n`;
      },
      // The guides contain no HTML, so anything that looks like it is text.
      html({ text }: Tokens.HTML | Tokens.Tag) {
        return html`${text}`.markup;
      },
    },
  });
  const [first, ...rest] = marked.lexer(markdown);
  if (first?.type !== 'heading' || first.depth !== 1) throw new Error('a page must start with its title');
  const body = marked.parser(rest.filter(({ type }, index) => index > 0 || type !== 'space'));
  const lead = rest.find(({ type }) => type === 'paragraph');
  return {
    title: plain((first as Tokens.Heading).text),
    lead: plain((lead as Tokens.Paragraph | undefined)?.text ?? ''),
    body: new Html(body),
    headings,
  };
}

const inTag = (tag: string, content: string): string => `<${tag}>${content}</${tag}>`;

const plain = (text: string): string =>
  text
    .replace(OWN_ID, '')
    .replace(/\[([^\]]+)\]\([^)]*\)/g, '$1')
    .replace(/[`*]/g, '')
    .replace(/\s+/g, ' ');

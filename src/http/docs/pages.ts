/** Every page of the documentation: its path, its Markdown and its rendered form. */
import { errorsPage, errorsText } from './errors-page.ts';
import { type DocsFacts, type GuideName, guideText } from './guides.ts';
import type { Menu, NavigationEntry } from './layout.ts';
import { type Rendered, renderMarkdown, withoutIds } from './markdown.ts';
import { referenceText } from './reference-page.ts';

export interface Page extends NavigationEntry {
  /** One line for the list that models read. */
  readonly about: string;
  text(facts: DocsFacts): string;
  render(facts: DocsFacts): Rendered;
}

function page(name: string, label: string, about: string, text: (facts: DocsFacts) => string): Page {
  return {
    path: name === 'index' ? '/docs' : `/docs/${name}`,
    label,
    about,
    text: (facts) => withoutIds(text(facts)),
    render: (facts) => renderMarkdown(text(facts)),
  };
}

const guide = (name: GuideName, label: string, about: string): Page =>
  page(name, label, about, (facts) => guideText(name, facts));

export const PAGE_GROUPS: readonly { readonly title: string; readonly pages: readonly Page[] }[] = [
  {
    title: 'Start',
    pages: [
      guide('index', 'Overview', 'endpoints, prices, changes'),
      guide('first-query', 'First query', 'from zero to a paid answer'),
      guide('monitoring', 'The monitoring loop', 'query again and get only what is new'),
      guide('sandbox', 'The sandbox', 'every call for free'),
    ],
  },
  {
    title: 'Guides',
    pages: [
      guide('payments', 'Payments', 'x402 v2, x402 v1, self-paid transfer: working code for each'),
      guide('results', 'Fetching an answer again', 'lost connections, 202, payment identifiers'),
      guide('delta', 'The delta', 'what counts as new, and when'),
      guide('truncation', 'Truncation', 'answers that would be too large'),
      guide('callbacks', 'Receiving callbacks', 'verification, test vectors, retries'),
      guide('mcp', 'MCP', 'the same service as tools for a model'),
      guide('limits', 'Limits', 'rates and sizes'),
    ],
  },
  {
    title: 'Reference',
    pages: [
      page('reference', 'Endpoints', 'every endpoint, parameter and field', ({ publicUrl }) =>
        referenceText(publicUrl),
      ),
      {
        ...page('errors', 'Errors', 'every code, what it means, what to do', errorsText),
        render: errorsPage,
      },
    ],
  },
];

export const PAGES: readonly Page[] = PAGE_GROUPS.flatMap(({ pages }) => pages);

export const MENU: Menu = {
  groups: [
    ...PAGE_GROUPS.map(({ title, pages }) => ({ title, places: pages })),
    {
      title: 'For machines',
      places: [
        { path: '/openapi.json', label: 'OpenAPI' },
        { path: '/llms.txt', label: 'llms.txt' },
        { path: '/v2/status', label: 'Status' },
      ],
    },
  ],
};

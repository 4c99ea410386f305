/** Serves the documentation to people, models and other programs. Each page is built and compressed once. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { NetworkNames } from '../../solana/addresses.ts';
import { chooseCoding, compressed, matchingTag, type Variants } from '../content-coding.ts';
import { openApiDocument } from '../openapi/document.ts';
import type { Merchant } from '../x402/terms.ts';
import type { DocsFacts } from './guides.ts';
import { layout, PAGE_SECURITY_POLICY } from './layout.ts';
import { llmsText } from './llms.ts';
import { MENU, PAGES, type Page } from './pages.ts';
import { wellKnownX402 } from './well-known-x402.ts';

export interface DocsDependencies {
  /** Where clients reach the local chain; null on a public network. */
  readonly localRpcUrl: string | null;
  readonly merchant: Merchant;
}

interface Content {
  readonly type: string;
  readonly headers?: Readonly<Record<string, string>>;
  make(): string;
}

const MARKDOWN = 'text/markdown; charset=utf-8';
const JSON_TYPE = 'application/json; charset=utf-8';

export function registerDocs(app: FastifyInstance, { localRpcUrl, merchant }: DocsDependencies): void {
  const network: NetworkNames = merchant.network;
  const facts = (): DocsFacts => ({ publicUrl: app.answering.publicUrl, localRpcUrl, network });
  for (const page of PAGES) servePage(app, page, facts);
  const asJson = (value: object): string => JSON.stringify(value);
  serve(app, '/openapi.json', { type: JSON_TYPE, make: () => asJson(openApiDocument(app.answering.publicUrl)) });
  serve(app, '/.well-known/x402', { type: JSON_TYPE, make: () => asJson(wellKnownX402(merchant)) });
  serve(app, '/llms.txt', { type: 'text/plain; charset=utf-8', make: () => llmsText(facts()) });
}

function servePage(app: FastifyInstance, page: Page, facts: () => DocsFacts): void {
  const { path } = page;
  const source = `${path === '/docs' ? '/docs/index' : path}.md`;
  const markdown = made({ type: MARKDOWN, make: () => page.text(facts()) });
  const shown = made({
    type: 'text/html; charset=utf-8',
    headers: {
      'content-security-policy': PAGE_SECURITY_POLICY,
      link: `<${source}>; rel="alternate"; type="text/markdown"`,
    },
    make: () => layout(path, page.render(facts()), MENU),
  });
  app.route({ method: ['GET', 'HEAD'], url: source, handler: (request, reply) => send(request, reply, markdown) });
  app.route({
    method: ['GET', 'HEAD'],
    url: path,
    handler: (request, reply) => send(request, reply, prefersMarkdown(request) ? markdown : shown, 'Accept'),
  });
  app.route({
    method: ['GET', 'HEAD'],
    url: `${path}/`,
    handler: (_request, reply) => reply.header('cache-control', 'no-cache').redirect(path, 308),
  });
}

/** Models ask for Markdown; browsers never do. */
const prefersMarkdown = ({ headers }: FastifyRequest): boolean => headers.accept?.includes('text/markdown') ?? false;

function serve(app: FastifyInstance, url: string, content: Content): void {
  const ready = made(content);
  app.route({ method: ['GET', 'HEAD'], url, handler: (request, reply) => send(request, reply, ready) });
}

interface Made extends Pick<Content, 'type' | 'headers'> {
  variants(): Promise<Variants>;
}

/** Built on the first request, so that it does not delay the start. */
function made({ type, headers = {}, make }: Content): Made {
  let variants: Promise<Variants> | null = null;
  return {
    type,
    headers,
    variants() {
      variants ??= compressed(Buffer.from(make()));
      return variants;
    },
  };
}

async function send(
  request: FastifyRequest,
  reply: FastifyReply,
  { type, headers, variants: ready }: Made,
  varies = '',
): Promise<FastifyReply> {
  const variants = await ready();
  const coding = chooseCoding(request.headers['accept-encoding']?.toString());
  const { body, etag } = variants[coding];
  reply.headers({
    ...headers,
    'cache-control': 'no-cache',
    vary: varies ? `Accept-Encoding, ${varies}` : 'Accept-Encoding',
  });
  const known = matchingTag(request.headers['if-none-match'], variants, coding);
  if (known !== null) return reply.code(304).header('etag', known).send();
  if (coding !== 'identity') reply.header('content-encoding', coding);
  return reply.header('etag', etag).type(type).send(body);
}

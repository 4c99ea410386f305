/** Serves the documentation: pages made once, compressed once. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { chooseCoding, compressed, matchingTag, type Variants } from '../content-coding.ts';
import { errorsPage } from './errors-page.ts';
import { indexPage } from './index-page.ts';
import { layout, PAGE_SECURITY_POLICY, type Page } from './layout.ts';

/** @param localRpcUrl where clients reach a local chain; null on a public network */
export function registerDocs(app: FastifyInstance, localRpcUrl: string | null): void {
  servePage(app, '/docs', () => indexPage({ publicUrl: app.answering.publicUrl, localRpcUrl }));
  servePage(app, '/docs/errors', errorsPage);
}

function servePage(app: FastifyInstance, url: string, page: () => Page): void {
  // Made at the first request and not at the start: only then is the public address certain.
  let variants: Promise<Variants> | null = null;
  app.route({
    method: ['GET', 'HEAD'],
    url,
    handler: async (request, reply) => {
      variants ??= compressed(Buffer.from(layout(page())));
      return send(request, reply, await variants);
    },
  });
}

function send(request: FastifyRequest, reply: FastifyReply, variants: Variants): FastifyReply {
  const coding = chooseCoding(request.headers['accept-encoding']?.toString());
  const { body, etag } = variants[coding];
  reply.headers({
    'content-security-policy': PAGE_SECURITY_POLICY,
    'cache-control': 'no-cache',
    vary: 'Accept-Encoding',
  });
  const known = matchingTag(request.headers['if-none-match'], variants, coding);
  if (known !== null) return reply.code(304).header('etag', known).send();
  if (coding !== 'identity') reply.header('content-encoding', coding);
  return reply.header('etag', etag).type('text/html; charset=utf-8').send(body);
}

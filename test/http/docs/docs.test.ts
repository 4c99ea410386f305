import { readdirSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ERROR_CATALOGUE } from '../../../src/errors.ts';
import { GUIDES } from '../../../src/http/docs/guides.ts';
import { html } from '../../../src/http/docs/html.ts';
import { llmsText } from '../../../src/http/docs/llms.ts';
import { PAGES } from '../../../src/http/docs/pages.ts';
import { registerDocs } from '../../../src/http/docs/register-docs.ts';
import { makeServer } from '../../../src/http/server.ts';
import { NETWORKS } from '../../../src/solana/addresses.ts';
import { listen, PUBLIC_URL, service, silent } from '../serving.ts';

const merchant = {
  network: NETWORKS.local,
  payTo: '11111111111111111111111111111111',
  feePayer: '11111111111111111111111111111112',
  publicUrl: PUBLIC_URL,
};

describe('the documentation', () => {
  let app: FastifyInstance;
  let base: string;
  beforeAll(async () => {
    app = makeServer(service, silent);
    registerDocs(app, { localRpcUrl: 'http://127.0.0.1:8899', merchant });
    base = `http://127.0.0.1:${await listen(app)}`;
  });
  afterAll(() => app.close());
  const page = async (path: string) => {
    const answer = await fetch(base + path);
    return { answer, text: await answer.text() };
  };

  it('has every code of the catalogue with its anchor, status, meaning, advice and details', async () => {
    const { text } = await page('/docs/errors');
    for (const [code, { status, details }] of Object.entries(ERROR_CATALOGUE)) {
      expect(text.match(new RegExp(`id="${code}"`, 'g'))).toHaveLength(1);
      const section = text.slice(text.indexOf(`id="${code}"`)).split('</section>')[0]!;
      expect(section).toContain(`>${status}<`);
      expect(section).toContain('What to do:');
      for (const key of Object.keys(details)) expect(section).toContain(`<code>${key}</code>`);
    }
  });

  it('shows a first query against this service, how to raise the cap, and every error', async () => {
    const { text } = await page('/docs');
    expect(text).toContain(`${PUBLIC_URL}/v2/case?court_code=cand`);
    expect(text).toContain('href="/docs/errors"');
    expect(text).toContain('id="changelog"');
    const payments = (await page('/docs/payments')).text;
    expect(payments.match(/http:\/\/127\.0\.0\.1:8899/g)?.length).toBeGreaterThanOrEqual(3);
    expect(payments).toContain('setSpendControls');
  });

  it('names no RPC endpoint and no faucet on a public network', () => {
    const facts = { publicUrl: PUBLIC_URL, localRpcUrl: null, network: NETWORKS.mainnet };
    for (const each of PAGES) expect(each.text(facts)).not.toMatch(/local chain|rpcUrl|faucet|Airdrop|\{\{/);
    expect(PAGES.find(({ path }) => path === '/docs/payments')?.text(facts)).toContain("createSigner('solana'");
    expect(llmsText(facts)).not.toMatch(/local chain|Airdrop/);
  });

  it('is also available as Markdown, by path and by Accept, and links to it', async () => {
    for (const { path } of PAGES) {
      const { answer } = await page(path);
      const [, source = ''] = /^<([^>]+)>/.exec(answer.headers.get('link') ?? '') ?? [];
      const markdown = await page(source);
      expect(markdown.answer.headers.get('content-type')).toBe('text/markdown; charset=utf-8');
      expect(markdown.text).toMatch(/^# /);
      expect(markdown.text).not.toContain('{#');
      const asked = await fetch(base + path, { headers: { accept: 'text/markdown' } });
      expect(await asked.text()).toBe(markdown.text);
    }
  });

  it('redirects from a path with an extra slash', async () => {
    for (const { path } of PAGES) {
      const answer = await fetch(`${base}${path}/`, { redirect: 'manual' });
      expect([answer.status, answer.headers.get('location')]).toEqual([308, path]);
    }
    expect((await fetch(`${base}/docs/no-such-page`)).status).toBe(404);
  });

  it('serves only the guides, and no page for maintainers, operators or auditors', async () => {
    const guides: readonly string[] = GUIDES.map((name) => `${name}.md`);
    const written = readdirSync(new URL('../../../docs/', import.meta.url), { recursive: true, encoding: 'utf8' });
    const others = written.filter((name) => name.endsWith('.md') && !guides.includes(name));
    expect(others).toContain('design/payments.md');
    for (const name of others) {
      for (const path of [`/docs/${name}`, `/docs/${name.replace(/\.md$/, '')}`, `/docs/${encodeURIComponent(name)}`]) {
        expect([path, (await page(path)).answer.status]).toEqual([path, 404]);
      }
    }
  });

  it('has no broken links: every link has its page and its anchor', async () => {
    const elsewhere = ['/v2/status', '/openapi.json', '/llms.txt'];
    const texts = new Map(await Promise.all(PAGES.map(async ({ path }) => [path, (await page(path)).text] as const)));
    for (const [path, text] of texts) {
      for (const [, target = ''] of text.matchAll(/href="(\/[^"]*|#[^"]*)"/g)) {
        const [to = '', anchor] = target.split('#');
        const there = texts.get(to || path);
        if (elsewhere.includes(to) || to.endsWith('.md')) continue;
        expect([path, target, there === undefined]).toEqual([path, target, false]);
        if (anchor) expect([path, target, there?.includes(`id="${anchor}"`)]).toEqual([path, target, true]);
      }
    }
  });

  it.each(PAGES.map(({ path }) => path))('%s is one accessible page that runs and loads nothing', async (path) => {
    const { answer, text } = await page(path);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(answer.headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'sha256-/);
    expect(text).toContain('<html lang="en">');
    expect(text).toContain('name="viewport"');
    expect(text.match(/<h1[ >]/g)).toHaveLength(1);
    expect(text).not.toMatch(/<script|<img|<link|javascript:| on\w+=| style=/);
    const ids = [...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const [, target] of text.matchAll(/href="#([^"]+)"/g)) expect(ids).toContain(target);
    for (const tag of ['section', 'h2', 'dl', 'dt', 'dd', 'p', 'pre', 'code', 'nav', 'ul', 'li']) {
      const opened = text.match(new RegExp(`<${tag}[ >]`, 'g'))?.length ?? 0;
      expect([tag, text.split(`</${tag}>`).length - 1]).toEqual([tag, opened]);
    }
  });

  it('is not sent again to a client that has it', async () => {
    const first = await fetch(`${base}/docs`);
    const again = await fetch(`${base}/docs`, { headers: { 'if-none-match': first.headers.get('etag')! } });
    expect([again.status, await again.text()]).toEqual([304, '']);
    const head = await fetch(`${base}/docs`, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
  });

  it('turns no text into markup', () => {
    const text = `<b a="c" d='e'>&`;
    expect(html`<p title="${text}">${text}</p>`.markup).toBe(
      '<p title="&lt;b a=&quot;c&quot; d=&#39;e&#39;&gt;&amp;">&lt;b a=&quot;c&quot; d=&#39;e&#39;&gt;&amp;</p>',
    );
  });
});

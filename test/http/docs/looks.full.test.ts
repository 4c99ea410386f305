/** The documentation as people see it, in a real browser, on a phone and a desktop, in light and dark mode. */
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import type { Browser, Page as Tab } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PAGES } from '../../../src/http/docs/pages.ts';
import { registerDocs } from '../../../src/http/docs/register-docs.ts';
import { makeServer } from '../../../src/http/server.ts';
import { NETWORKS } from '../../../src/solana/addresses.ts';
import { listen, PUBLIC_URL, service, silent } from '../serving.ts';
import { openBrowser } from './browser.ts';

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const SIZES = [
  { name: 'phone', width: 360, height: 740 },
  { name: 'desk', width: 1280, height: 800 },
] as const;

let app: FastifyInstance;
let base: string;
let browser: Browser | null;
/** SCREENSHOTS is the folder where pictures are kept, for people to check. */
let pictures: string;
beforeAll(async () => {
  app = makeServer(service, silent);
  const address = '11111111111111111111111111111111';
  const merchant = { network: NETWORKS.local, payTo: address, feePayer: address, publicUrl: PUBLIC_URL };
  registerDocs(app, { localRpcUrl: 'http://127.0.0.1:8899', merchant });
  base = `http://127.0.0.1:${await listen(app)}`;
  browser = await openBrowser();
  pictures = process.env.SCREENSHOTS ?? (await mkdtemp(join(tmpdir(), 'screenshots-')));
});
afterAll(async () => {
  await browser?.close();
  await app.close();
  if (!process.env.SCREENSHOTS) await rm(pictures, { recursive: true, force: true });
});

const CASES = PAGES.flatMap(({ path }) =>
  SIZES.flatMap((size) => (['light', 'dark'] as const).map((scheme) => ({ path, size, scheme }))),
);

describe.each(CASES)('$path on a $size.name, $scheme', ({ path, size, scheme }) => {
  it('renders without a script, fits its screen, and is accessible', async (context) => {
    if (!browser) return context.skip('there is no Chromium here');
    const view = { viewport: { width: size.width, height: size.height }, colorScheme: scheme };
    const asked: string[] = [];
    const plain = await browser.newContext({ ...view, javaScriptEnabled: false });
    const tab = await plain.newPage();
    tab.on('request', (request) => asked.push(request.url()));
    const answer = await tab.goto(base + path);
    expect(answer?.status()).toBe(200);
    const name = `${path.slice(1).replaceAll('/', '-')}-${size.name}-${scheme}.png`;
    const picture = await tab.screenshot({ path: join(pictures, name), fullPage: size.name === 'desk' });
    // A blank page of this size takes some three kilobytes.
    expect(picture.length).toBeGreaterThan(15_000);
    expect(asked.filter((url) => !url.endsWith('/favicon.ico'))).toEqual([base + path]);
    await plain.close();

    // The policy forbids every script, and the checker is one.
    const checked = await browser.newContext({ ...view, bypassCSP: true });
    const page = await checked.newPage();
    await page.goto(base + path);
    expect(await layoutOf(page)).toMatchObject({ overflow: 0, wide: [], lead: true });
    await page.addScriptTag({ path: AXE });
    const { violations } = (await page.evaluate('axe.run()')) as {
      violations: { id: string; nodes: { html: string }[] }[];
    };
    expect(violations.map(({ id, nodes }) => [id, nodes[0]?.html])).toEqual([]);
    await checked.close();
  });
});

/** How much the page is wider than its screen, which elements overflow, and whether the text begins near the top. */
const layoutOf = (page: Tab) =>
  page.evaluate(`(() => {
    const root = document.documentElement;
    const wide = [...document.querySelectorAll('main *')].filter((element) =>
      !element.closest('pre, .table') && element.getBoundingClientRect().right > root.clientWidth + 1);
    const title = document.querySelector('h1').getBoundingClientRect();
    return {
      overflow: root.scrollWidth - root.clientWidth,
      wide: wide.map((element) => element.outerHTML.slice(0, 120)),
      lead: title.height > 20 && title.bottom < innerHeight,
    };
  })()`);

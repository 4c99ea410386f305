/**
 * Given a process that has parsed so many URLs that V8 has optimized the parser, when a URL has letters beyond ASCII, then
 * it is still the valid URL that it was at first. `URL.canParse` of Node 20 and 22 fails this, so nothing here uses it.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isPublicAddress } from '../../src/callbacks/outbound/public-address.ts';
import { checkTarget } from '../../src/callbacks/outbound/target.ts';
import { originOf } from '../../src/commands/payment/answer.ts';
import { parseUrl } from '../../src/runtime/parse-url.ts';

const SOURCE = join(import.meta.dirname, '../../src');
const ENOUGH = 100_000;
const UMLAUT = 'https://bücher.example.com/é';
const RULES = { ownHosts: [], ownPorts: [], trustedPairs: new Set<string>(), isPublic: isPublicAddress };

describe('after so many URLs that the parser is optimized', () => {
  it('a URL with letters of Latin-1 is valid, and texts that are none are not', () => {
    for (let count = 0; count < ENOUGH; count++) parseUrl(`https://example.com/${count}`);
    expect(parseUrl(UMLAUT)?.href).toBe('https://xn--bcher-kva.example.com/%C3%A9');
    expect(parseUrl('https://日本.example.com/')?.host).toBe('xn--wgv71a.example.com');
    for (const text of ['', 'bücher', 'https://', 'https://a b', 'https://[::']) expect(parseUrl(text)).toBeNull();
    expect(parseUrl('/é', 'https://example.com')?.href).toBe('https://example.com/%C3%A9');
  });

  it('a callback to such a host may be sent, and its payment names its origin', () => {
    for (let count = 0; count < ENOUGH; count++) {
      checkTarget(`https://example.com/${count}`, RULES);
      originOf(`https://example.com/${count}`);
    }
    expect(checkTarget(UMLAUT, RULES)).toMatchObject({ target: { host: 'xn--bcher-kva.example.com' } });
    expect(originOf(UMLAUT)).toBe('https://xn--bcher-kva.example.com');
  });
});

it('no file of src calls URL.canParse', () => {
  const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'));
  const calling = files.filter((path) => /canParse\s*\(/.test(readFileSync(join(SOURCE, path), 'utf8')));
  expect(calling).toEqual([]);
});

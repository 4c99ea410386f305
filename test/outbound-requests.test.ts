/**
 * Given all of `src`, when its files are searched for what can open a connection, then only the known ones have it: no
 * outbound request leaves without a time limit, a size limit, the user agent and a check of its address
 * (docs/design/sources.md#requests).
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const SOURCE = join(import.meta.dirname, '../src');

/** Who may open connections, and why that is safe. */
const KNOWN: readonly { readonly path: string; readonly to: string }[] = [
  { path: 'callbacks/outbound/', to: 'addresses that callers name, behind the guard' },
  { path: 'sources/http/', to: 'sources, behind the same guard' },
  { path: 'solana/', to: "the operator's RPC endpoints, and nobody else's" },
  { path: 'storage/eventstoredb/', to: 'the engine of the log' },
  { path: 'storage/mongodb/', to: 'the engine of read models' },
  { path: 'tracing/', to: "the operator's collector" },
  { path: 'cli/', to: 'the service that the command names' },
];

/** Modules of Node.js that can connect. What they export for servers, and types, connects to nobody. */
const NODE_MODULES = /^node:(https?|http2|net|tls|dgram|dns|dns\/promises)$/;
const HARMLESS = new Set(['createServer', 'ServerResponse', 'isIP', 'isIPv4', 'isIPv6', 'BlockList', 'Socket']);
const HARMLESS_OF_TLS = new Set(['createSecureContext', 'DEFAULT_CIPHERS', 'rootCertificates']);

/** Files of the guard that connect: a file that imports them must add the limits and checks itself. */
const DIALLING = /\/(?:undici-client|dial)\.ts$/;

/** Packages that connect to nothing. Any other is a client until somebody has looked at it. */
const OFFLINE = new Set([
  '@modelcontextprotocol/core',
  '@opentelemetry/api',
  '@x402/core',
  'better-sqlite3',
  'bs58',
  'commander',
  'csv-stringify',
  'fastify',
  'hyparquet',
  'hyparquet-writer',
  'litesvm',
  'marked',
  'pino',
  'prom-client',
  'rxjs',
  'sax',
  'tinyqueue',
  'uuid',
  'zod',
]);

const IMPORT = /^(?:import|export)\s+(?!type\b)(?:([^'"]*?)\s+from\s+)?'([^']+)'|\b(?:import|require)\(\s*'([^']+)'/gms;
const GLOBALS = /(?<![.\w])(?:fetch|WebSocket|EventSource)\s*\(|\bcreateRequire\b/;

const packageOf = (module: string): string => module.split('/', module.startsWith('@') ? 2 : 1).join('/');

/** The names that an import takes as values; `*` if it takes all. */
function valuesOf(clause: string): readonly string[] {
  const braces = /\{([^}]*)\}/s.exec(clause)?.[1];
  if (braces === undefined) return ['*'];
  return braces
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && !name.startsWith('type '))
    .map((name) => name.split(' ')[0] ?? '');
}

/** What a file has that can open a connection. */
function meansOf(text: string): readonly string[] {
  const code = text.replace(/\/\*.*?\*\//gs, '').replace(/^\s*\/\/.*$/gm, '');
  const means: string[] = GLOBALS.exec(code)?.slice(0, 1) ?? [];
  for (const [, clause = '*', from = '', called = ''] of code.matchAll(IMPORT)) {
    const module = from || called;
    if (NODE_MODULES.test(module)) {
      const allowed = module === 'node:tls' ? HARMLESS_OF_TLS : HARMLESS;
      means.push(
        ...valuesOf(clause)
          .filter((name) => !allowed.has(name))
          .map((name) => `${module} ${name}`),
      );
    } else if (DIALLING.test(module)) {
      means.push(module);
    } else if (!module.startsWith('.') && !module.startsWith('node:') && !OFFLINE.has(packageOf(module))) {
      if (valuesOf(clause).length > 0) means.push(module);
    }
  }
  return means;
}

const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => ({ file, means: meansOf(readFileSync(join(SOURCE, file), 'utf8')) }));

describe('outbound requests', () => {
  it('leave from the known parts of the service only', () => {
    const others = files.filter(
      ({ file, means }) => means.length > 0 && !KNOWN.some(({ path }) => file.startsWith(path)),
    );
    // It loads embedded SQLite.
    expect(others.filter(({ file }) => file !== 'storage/sqlite/driver.ts')).toEqual([]);
  });

  it('leave from each known part, so that the list is no longer than it must be', () => {
    const idle = KNOWN.filter(
      ({ path }) => !files.some(({ file, means }) => file.startsWith(path) && means.length > 0),
    );
    expect(idle).toEqual([]);
  });

  it.each([
    ["import { request } from 'node:https';", 'node:https request'],
    ["import { connect, type Socket } from 'node:net';", 'node:net connect'],
    ["import * as net from 'node:net';", 'node:net *'],
    ["const got = await import('got');", 'got'],
    ["import axios from 'axios';", 'axios'],
    ['const answer = await fetch(url);', 'fetch('],
    ['new WebSocket(url);', 'WebSocket('],
    ["import { dial } from '../callbacks/outbound/dial.ts';", '../callbacks/outbound/dial.ts'],
  ])('are found in: %s', (code, found) => {
    expect(meansOf(code)).toContain(found);
  });

  it.each([
    ["import type { Socket } from 'node:net';"],
    ["import { isIP } from 'node:net';"],
    ["import { createServer } from 'node:http';"],
    ['options.fetch(request);'],
    ['// fetch(url) is never called'],
    ["import type { Client } from 'undici';"],
  ])('are not suspected in: %s', (code) => {
    expect(meansOf(code)).toEqual([]);
  });
});

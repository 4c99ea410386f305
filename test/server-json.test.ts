/** Checks `server.json` against the rules that the MCP registry publishes for it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { API_VERSION } from '../src/http/v2/status.ts';

const read = (name: string) => JSON.parse(readFileSync(join(import.meta.dirname, '..', name), 'utf8'));

const Input = z.strictObject({
  description: z.string().optional(),
  isRequired: z.boolean().optional(),
  isSecret: z.boolean().optional(),
  default: z.string().optional(),
});

const Server = z.strictObject({
  $schema: z.literal('https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json'),
  /** The owner's domain, reversed, and a name: exactly one slash. */
  name: z
    .string()
    .min(3)
    .max(200)
    .regex(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/),
  title: z.string().min(1).max(100),
  description: z.string().min(1).max(100),
  version: z.string().max(255),
  remotes: z
    .array(
      z.strictObject({
        type: z.literal('streamable-http'),
        url: z.string().regex(/^https?:\/\/\S+$/),
        variables: z.record(z.string(), Input),
        headers: z.array(Input.extend({ name: z.string() })),
      }),
    )
    .min(1),
});

describe('server.json', () => {
  const server = read('server.json');

  it('has the shape that the registry accepts', () => {
    expect(Server.safeParse(server).error).toBeUndefined();
  });

  it('names the version that is served, and only variables that it declares', () => {
    expect([server.version, read('package.json').version]).toEqual([API_VERSION, API_VERSION]);
    const { url, variables } = server.remotes[0];
    const used = [...url.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    expect(used).toEqual(Object.keys(variables));
    expect(url.replace('{host}', 'dockets.example')).toBe('https://dockets.example/v2/mcp');
  });
});

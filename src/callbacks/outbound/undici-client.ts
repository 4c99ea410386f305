/**
 * undici's client by itself. The package's index also makes undici the dispatcher of Node's own `fetch`, for the whole
 * process. On Node 20 that rejects requests that set their own Content-Length, as Solana's clients do.
 */
import { createRequire } from 'node:module';
import type { Client } from 'undici';

export const UndiciClient = createRequire(import.meta.url)('undici/lib/dispatcher/client.js') as typeof Client;

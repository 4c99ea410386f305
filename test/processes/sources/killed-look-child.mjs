// A node that looks at one case, at a source that never answers, until it is killed. Its lease cannot be known to be a
// dead process's. Runs the built project: node killed-look-child.mjs DIRECTORY URL LEASE_MS
import pino from 'pino';
import { findCourt } from '../../../dist/courts/registry.js';
import { createSourceDesk } from '../../../dist/processes/sources/source-desk.js';
import { systemClock } from '../../../dist/runtime/instant.js';
import { createSourceHttp } from '../../../dist/sources/http/create-source-http.js';
import { openSqlite } from '../../../dist/storage/sqlite/open.js';

const [directory, url, leaseMs] = process.argv.slice(2);
const storage = openSqlite({ directory });
const http = createSourceHttp({ userAgent: 'child', allowPrivate: [new URL(url).host] });
const desk = createSourceDesk({
  ...storage,
  sources: [
    {
      name: 'courtlistener',
      covers: () => true,
      async ask(_asked, { signal }) {
        const sent = await http.send({ url, maxBytes: 1_000, totalMs: 600_000, signal });
        throw new Error(`an answer came: ${JSON.stringify(sent)}`);
      },
    },
  ],
  pauses: { ready: Promise.resolve(), isPaused: () => false },
  standings: { report: () => undefined, of: () => ({ standing: 'working', why: null }) },
  ingest: () => Promise.reject(new Error('nothing is shown')),
  clock: systemClock,
  logger: pino({ level: 'error' }, pino.destination({ fd: 2, sync: true })),
  owner: 'elsewhere/1/1/killed',
  leaseMs: Number(leaseMs),
});
const look = { court: findCourt('ilnd'), caseNumber: '1:26-cv-02417' };
await desk.look(look, { priority: 'paid', signal: new AbortController().signal });

/** Our `GET /v2/status` alone, with everything that the public port wraps around it. Argument: port. */
import { pino } from 'pino';
import { courts } from '../../dist/courts/registry.js';
import { makeServer } from '../../dist/http/server.js';
import { statusEndpoint } from '../../dist/http/v2/status.js';
import { systemClock } from '../../dist/runtime/instant.js';

const port = Number(process.argv[2]);
const service = { publicUrl: `http://127.0.0.1:${port}`, clock: systemClock };
const since = new Date().toISOString();
const status = statusEndpoint({
  service,
  courts,
  sourceOf: () => 'imported',
  standings: { latest: () => null, first: async () => null },
  health: () => ({ event_log: { status: 'nominal', since, reason: null } }),
});
const app = makeServer(service, pino({ level: 'warn' }), { answerEarly: status.answerEarly });
status.register(app);
await app.listen({ port, host: '127.0.0.1' });
process.on('SIGTERM', () => process.exit(0));

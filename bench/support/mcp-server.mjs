/** Our MCP endpoint alone, with everything that the public port wraps around it. Argument: port. */
import { pino } from 'pino';
import { buildApp } from '../../dist/http/app.js';
import { systemClock } from '../../dist/runtime/instant.js';
import { NETWORKS } from '../../dist/solana/addresses.js';

const port = Number(process.argv[2]);
const publicUrl = `http://127.0.0.1:${port}`;
const address = '11111111111111111111111111111111';
const nothing = () => {
  throw new Error('free tools need neither storage nor payment');
};
const store = new Proxy({}, { get: () => nothing });
const app = buildApp({
  service: { publicUrl, clock: systemClock },
  logger: pino({ level: 'warn' }),
  health: () => ({}),
  merchant: { network: NETWORKS.local, payTo: address, feePayer: address, publicUrl },
  purchasing: { buy: nothing },
  newestBlockhash: () => null,
  storage: { log: store, payloads: store, readStore: store },
  localRpcUrl: null,
});
await app.listen({ port, host: '127.0.0.1' });
process.on('SIGTERM', () => process.exit(0));

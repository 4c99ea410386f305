/** Our sandbox alone, with everything that the public port wraps around it. Argument: port. */
import { pino } from 'pino';
import { registerPaidRoute } from '../../dist/http/paid/paid-route.js';
import { answerSandboxEarly, readyAnswerOf } from '../../dist/http/sandbox/answer-early.js';
import { createSandbox } from '../../dist/http/sandbox/sandbox.js';
import { makeServer } from '../../dist/http/server.js';
import { caseRoute } from '../../dist/http/v2/case.js';
import { systemClock } from '../../dist/runtime/instant.js';
import { NETWORKS } from '../../dist/solana/addresses.js';

const port = Number(process.argv[2]);
const service = { publicUrl: `http://127.0.0.1:${port}`, clock: systemClock };
const nothing = () => {
  throw new Error('the sandbox needs neither storage nor payment');
};
const route = caseRoute({
  readStore: { load: nothing, find: nothing, count: nothing, cell: nothing, compareAndSet: nothing },
  clock: systemClock,
  sandbox: createSandbox(systemClock),
});
const app = makeServer(service, pino({ level: 'warn' }), {
  answerEarly: answerSandboxEarly(service.publicUrl, new Map([[route.path, readyAnswerOf(route)]])),
});
const address = '11111111111111111111111111111111';
registerPaidRoute(
  app,
  {
    merchant: { network: NETWORKS.local, payTo: address, feePayer: address, publicUrl: service.publicUrl },
    purchasing: { buy: nothing },
    newestBlockhash: nothing,
    clock: systemClock,
  },
  route,
);
await app.listen({ port, host: '127.0.0.1' });
process.on('SIGTERM', () => process.exit(0));

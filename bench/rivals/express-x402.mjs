/**
 * The rival of the paid query: Express with `@x402/express`, and `@x402/svm`'s facilitator in the same process, set up
 * as their documentation shows. It serves fixed bytes, so that all it does for a call is HTTP and payment: it computes
 * no answer, keeps no record, and limits no wallet, all of which count toward our side's time.
 *
 * Where there is a free choice, it gets the faster one: one RPC client for all calls (the default creates a new one
 * each time), and the network's facilitator in process rather than behind HTTP.
 *
 * Environment: RPC_URL, PAY_TO, FEE_PAYER_KEY (JSON array of 64 bytes), BODY_FILE, PORT.
 */
import { readFileSync } from 'node:fs';
import { createKeyPairSignerFromBytes, createSolanaRpc, devnet } from '@solana/kit';
import { x402Facilitator } from '@x402/core/facilitator';
import { paymentMiddleware, x402ResourceServer } from '@x402/express';
import { SOLANA_DEVNET_CAIP2, toFacilitatorSvmSigner } from '@x402/svm';
import { ExactSvmScheme as ExactSvmFacilitator } from '@x402/svm/exact/facilitator';
import { ExactSvmScheme as ExactSvmServer } from '@x402/svm/exact/server';
import express from 'express';

const { RPC_URL, PAY_TO, FEE_PAYER_KEY, BODY_FILE, PORT } = process.env;

const keyPair = await createKeyPairSignerFromBytes(Uint8Array.from(JSON.parse(FEE_PAYER_KEY)));
const facilitator = new x402Facilitator().register(
  SOLANA_DEVNET_CAIP2,
  new ExactSvmFacilitator(toFacilitatorSvmSigner(keyPair, { [SOLANA_DEVNET_CAIP2]: createSolanaRpc(devnet(RPC_URL)) })),
);
const inProcess = {
  verify: (payload, requirements) => facilitator.verify(payload, requirements),
  settle: (payload, requirements) => facilitator.settle(payload, requirements),
  getSupported: async () => facilitator.getSupported(),
};

const body = readFileSync(BODY_FILE);
const app = express();
app.get('/healthz', (_request, response) => {
  response.send('alive');
});
app.use(
  paymentMiddleware(
    {
      'GET /v2/case': {
        accepts: {
          scheme: 'exact',
          price: '$0.99',
          network: SOLANA_DEVNET_CAIP2,
          payTo: PAY_TO,
          maxTimeoutSeconds: 60,
        },
        description: 'A court case and its new filings',
        mimeType: 'application/json',
      },
    },
    new x402ResourceServer(inProcess).register(SOLANA_DEVNET_CAIP2, new ExactSvmServer()),
  ),
);
app.get('/v2/case', (_request, response) => {
  response.type('application/json').send(body);
});

const server = app.listen(Number(PORT), '127.0.0.1');
process.on('SIGTERM', () => {
  server.close();
  server.closeAllConnections();
});

/** Test vectors for receivers, made by the code that signs: they cannot differ from what is sent. */

import { SANDBOX_KEY_ID, SANDBOX_SECRET } from '../../callbacks/sandbox-key.ts';
import { signatureHeaders } from '../../callbacks/signature.ts';

const BODY = '{"payload":{"case_id":"3:24-cv-01234","note":"Straße ✓"},"webhook":{"version":"2.0.0"}}';
const DELIVERY_ID = '7d0f9f3a-52b3-4b1e-8a0e-2f6c1c9d4e11';
const AT_SECONDS = 1_772_366_400;

/** Markdown: what goes in, and each header that comes out. */
export function callbackVectors(): string {
  const headers = signatureHeaders({
    body: Buffer.from(BODY),
    deliveryId: DELIVERY_ID,
    idempotencyKey: DELIVERY_ID,
    atSeconds: AT_SECONDS,
    keys: [{ keyId: SANDBOX_KEY_ID, secret: SANDBOX_SECRET }],
  });
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return `With the secret \`${SANDBOX_SECRET}\` and this body, ${Buffer.byteLength(BODY)} bytes of UTF-8:

\`\`\`json
${BODY}
\`\`\`

these headers:

\`\`\`http
${lines.join('\n')}
\`\`\``;
}

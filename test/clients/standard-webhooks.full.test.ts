/** The Standard Webhooks libraries verify real callbacks of the service, with the documentation's own code. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import type { IncomingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CallbackStage, setCallbackStage } from '../crash/callback-stage.ts';
import { demoCasePath, importDemoCase } from '../crash/demo-case.ts';
import type { Hit } from '../crash/failing-receiver.ts';
import { paymentFor, startService } from '../crash/paid-load.ts';
import { type RunningProcess, until } from '../support/processes.ts';
import { guideOf, OUR_MODULES, pythonSampleWith, sampleWith } from './printed-samples.ts';

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const TEN_MINUTES_MS = 600_000;

/** Reads one callback from standard input and prints what `verified` of the documentation returns for it. */
const CHECK_JS = `
import { json } from 'node:stream/consumers';
import { verified } from './sample.mjs';
const { body, headers, secret } = await json(process.stdin);
try {
  console.log(JSON.stringify({ accepted: verified(Buffer.from(body, 'base64'), headers, secret) }));
} catch (error) {
  console.log(JSON.stringify({ rejected: error.constructor.name + ': ' + error.message }));
}
`;
const CHECK_PYTHON = `
import base64, json, sys
from sample import verified
call = json.load(sys.stdin)
try:
    print(json.dumps({"accepted": verified(base64.b64decode(call["body"]), call["headers"], call["secret"])}))
except Exception as error:
    print(json.dumps({"rejected": f"{type(error).__name__}: {error}"}))
`;

interface Verdict {
  readonly accepted?: { readonly payload: { readonly meta: { readonly request_id: string } } };
  readonly rejected?: string;
}

let directory: string;
let set: CallbackStage;
let service: RunningProcess;
let programs: Readonly<Record<'npm' | 'PyPI', readonly [command: string, script: string]>>;
/** The secret for Standard Webhooks libraries that `POST /v2/wallet/keys` returned. */
let secret: string;
let old: Hit;
let fresh: Hit;

async function bought<Body>(path: string, method: 'GET' | 'POST' = 'GET'): Promise<Body> {
  const [wallet] = set.stage.wallets;
  const headers = await paymentFor(set.stage, wallet!, path, { method });
  const answer = await fetch(set.stage.url + path, { method, headers });
  const body = await answer.json();
  expect([answer.status, body]).toEqual([200, expect.anything()]);
  return body as Body;
}

/** Buys the case and returns the resulting callback. */
async function callback(): Promise<Hit> {
  const { meta } = await bought<{ meta: { request_id: string } }>(
    await demoCasePath(`http://127.0.0.1:${set.receiver.port}/hook`),
  );
  const found = () => set.receiver.hits.find(({ requestId }) => requestId === meta.request_id);
  await until('the callback came', async () => found() !== undefined, { process: service });
  return found()!;
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'standard-webhooks-'));
  const requirements = at('./standard-webhooks/requirements.txt');
  const environment = at('../../scripts/python/environment.mjs');
  const python = (await promisify(execFile)(process.execPath, [environment, requirements])).stdout.trim();
  programs = { npm: [process.execPath, 'check.mjs'], PyPI: [python, 'check.py'] };

  set = await setCallbackStage(1);
  set.receiver.heal();
  const guide = guideOf('callbacks', set.stage.url, set.stage.rpc.url);
  await symlink(OUR_MODULES, join(directory, 'node_modules'));
  await writeFile(join(directory, 'sample.mjs'), sampleWith('standardwebhooks', guide));
  await writeFile(join(directory, 'check.mjs'), CHECK_JS);
  await writeFile(join(directory, 'sample.py'), pythonSampleWith('Webhook', guide));
  await writeFile(join(directory, 'check.py'), CHECK_PYTHON);

  // The service's clock is slow at first: what it signs then is genuine and ten minutes old.
  set.clock.move(-TEN_MINUTES_MS);
  await importDemoCase(set.stage);
  service = await startService(set.stage);
  const keys = await bought<{ new_key_secret_standard_webhooks: string }>('/v2/wallet/keys', 'POST');
  secret = keys.new_key_secret_standard_webhooks;
  old = await callback();
  set.clock.move(TEN_MINUTES_MS);
  fresh = await callback();
}, 360_000);

afterAll(async () => {
  await service?.kill();
  await set?.close();
  if (directory) await rm(directory, { recursive: true, force: true });
});

describe.each(['npm', 'PyPI'] as const)('the library of %s, used as the documentation says', (registry) => {
  async function verdict(
    { headers, body }: { readonly headers: IncomingHttpHeaders; readonly body: Buffer },
    held = secret,
  ): Promise<Verdict> {
    const [command, script] = programs[registry];
    const child = spawn(command, [script], { cwd: directory, stdio: ['pipe', 'pipe', 'inherit'] });
    child.stdin.end(JSON.stringify({ headers, secret: held, body: body.toString('base64') }));
    const [printed] = await Promise.all([text(child.stdout), once(child, 'close')]);
    return JSON.parse(printed);
  }

  it('accepts a real callback with the whsec_ secret, and returns its content', async () => {
    expect(secret).toMatch(/^whsec_/);
    expect(await verdict(fresh)).toEqual({ accepted: JSON.parse(fresh.body.toString()) });
  });

  it.each<[string, () => Promise<Verdict>, RegExp]>([
    ['one byte more', () => verdict({ ...fresh, body: Buffer.concat([fresh.body, Buffer.from(' ')]) }), /signature/i],
    [
      'another amount',
      () => verdict({ ...fresh, body: Buffer.from(fresh.body.toString().replace('0.99', '0.98')) }),
      /signature/i,
    ],
    ['the body of another callback', () => verdict({ ...fresh, body: old.body }), /signature/i],
    [
      'the id of another callback',
      () => verdict({ ...fresh, headers: { ...fresh.headers, 'webhook-id': old.headers['webhook-id'] } }),
      /signature/i,
    ],
    [
      'a secret of another wallet',
      () => verdict(fresh, `whsec_${Buffer.alloc(64, 'a').toString('base64')}`),
      /signature/i,
    ],
    ['a genuine signature that is ten minutes old', () => verdict(old), /too old/i],
    [
      'that one with a new time',
      () => {
        const { 'webhook-timestamp': time } = fresh.headers;
        return verdict({ ...old, headers: { ...old.headers, 'webhook-timestamp': time } });
      },
      /signature/i,
    ],
  ])('rejects %s', async (_what, tried, why) => {
    expect(await tried()).toEqual({ rejected: expect.stringMatching(why) });
  });
});

/** The reference client of x402 for Python, unmodified, buys from the whole service on the local chain. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Keypair } from '@solana/web3.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openWorld, type World } from '../http/world.ts';
import { pythonSampleWith } from './printed-samples.ts';

const run = promisify(execFile);
const ENVIRONMENT = fileURLToPath(new URL('../../scripts/python/environment.mjs', import.meta.url));
const REQUIREMENTS = fileURLToPath(new URL('./x402-python/requirements.txt', import.meta.url));
const PRICE = 990_000n;

let world: World;
let python: string;
beforeAll(async () => {
  // Never skipped: if a client cannot be installed, the test did not run.
  python = (await run(process.execPath, [ENVIRONMENT, REQUIREMENTS])).stdout.trim();
  world = await openWorld();
  await world.importDocket({
    court_id: 'cand',
    docket_number: '3:24-cv-00042',
    case_name: 'Meadow v. Lantern Works',
    date_filed: '2024-01-08',
    docket_entries: [{ document_number: 1, date_filed: '2024-01-08', description: 'COMPLAINT filed by Meadow.' }],
  });
}, 360_000);
afterAll(() => world.close());

/**
 * Runs Python with access to a wallet's file and the two addresses of this world. @returns the last line that it
 * printed
 */
async function runPython(code: string, wallet: Keypair): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'python-sample-'));
  try {
    await writeFile(join(directory, 'wallet.json'), JSON.stringify([...wallet.secretKey]));
    const here = code.replaceAll('http://127.0.0.1:8402', world.url).replaceAll('http://127.0.0.1:8899', world.rpcUrl);
    await writeFile(join(directory, 'sample.py'), here);
    const { stdout } = await run(python, ['sample.py'], { cwd: directory, timeout: 60_000 });
    return stdout.trim().split('\n').at(-1) ?? '';
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function moved<T>(wallet: Keypair, work: () => Promise<T>) {
  const [before, ours] = [await world.balance(wallet), await world.received()];
  const result = await work();
  return { result, spent: before - (await world.balance(wallet)), received: (await world.received()) - ours };
}

describe('x402 for Python', () => {
  it('buys a case with the sample of docs/clients.md, for exactly 0.99', async () => {
    const wallet = await world.wallet();
    const { result, spent, received } = await moved(wallet, () =>
      runPython(pythonSampleWith('x402ClientSync'), wallet),
    );
    expect([spent, received]).toEqual([PRICE, PRICE]);
    expect(JSON.parse(result)).toMatchObject({
      meta: { query_cost_usd: 0.99, sandbox: false },
      case: { case_number: '3:24-cv-00042', case_name: 'Meadow v. Lantern Works' },
    });
  });

  it('polls for new filings, reads its receipts, and is not charged for errors', async () => {
    const loop = `${pythonSampleWith('x402ClientSync')}
import base64
url = "http://127.0.0.1:8402"
def receipt(answer):
    return json.loads(base64.b64decode(answer.headers["PAYMENT-RESPONSE"]))
first = answer
case = "court_code=cand&case_id=3:24-cv-00042"
again = session.get(f"{url}/v2/monitor", params={"court_code": "cand", "case_id": "3:24-cv-00042",
    "last_checked": first.json()["meta"]["queried_at"]})
unknown = session.get(f"{url}/v2/case?court_code=cand&case_id=3:24-cv-09999")
wrong = session.get(f"{url}/v2/case?{case}&context=all")
old = session.get(f"{url}/v1/case?{case}")
print(json.dumps({
    "receipts": [receipt(each) for each in (first, again, old)],
    "changed": again.json()["changed"],
    "refusals": [[each.status_code, each.json()["error"]["code"]] for each in (unknown, wrong)],
    "old": old.json()["new_filings"][0]["filing_type"],
}))`;
    const wallet = await world.wallet();
    const { result, spent } = await moved(wallet, () => runPython(loop, wallet));
    const said = JSON.parse(result);
    expect(spent).toBe(3n * PRICE);
    for (const receipt of said.receipts) {
      expect(receipt).toMatchObject({ success: true, payer: wallet.publicKey.toBase58(), amount: String(PRICE) });
    }
    expect(new Set(said.receipts.map(({ transaction }: { transaction: string }) => transaction)).size).toBe(3);
    expect(said).toMatchObject({
      changed: false,
      refusals: [
        [404, 'case_not_found'],
        [400, 'invalid_parameter'],
      ],
      old: 'complaint',
    });
  });
});

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFailed } from 'vitest';
import { masterKeyFile, newMasterKey } from '../../src/service/open-master-keys.ts';
import { type RunningProcess, until } from '../support/processes.ts';
import { resultPathIn } from '../support/result-path.ts';
import { openSmallDisk, type SmallDisk } from '../support/small-disk.ts';
import { decidedPayments, docket, expectAgreement } from './agreement.ts';
import { demoCasePath, importDemoCase } from './demo-case.ts';
import { type Attempt, paymentFor, type Stage, setStage, startService } from './paid-load.ts';

const MEBIBYTE = 1024 * 1024;
const DISK_BYTES = 96 * MEBIBYTE;
/** One payment writes less than this. */
const MOST_LEFT_BYTES = 72 * 1024;
const STEP_BYTES = 4 * 1024;
const SWEEPS = 3;
const STEPS = MOST_LEFT_BYTES / STEP_BYTES + 1;
const CLAIM_REFUSED = 'a claim was not recorded';

const probeDirectory = await mkdtemp(join(tmpdir(), 'docket-disk-'));
const probe = await openSmallDisk(probeDirectory, MEBIBYTE);
await probe?.close();
await rm(probeDirectory, { recursive: true });
if (!probe) console.warn('skipped: this user may not mount anything on this system, not even in a namespace');

describe.skipIf(!probe)('a service on a disk that fills up, with the chain elsewhere', () => {
  let directory: string;
  let disk: SmallDisk;
  let stage: Stage;
  let service: RunningProcess;
  let path: string;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'docket-full-'));
    const set = await setStage(directory, SWEEPS * STEPS + 1);
    await mkdir(set.dataDirectory);
    const opened = await openSmallDisk(set.dataDirectory, DISK_BYTES);
    if (!opened) throw new Error('no disk');
    disk = opened;
    // Only the service sees its disk: anything that computes where its answers are stored needs the key below it.
    const masterKey = newMasterKey(1);
    await mkdir(join(set.dataDirectory, 'keys'));
    await writeFile(masterKeyFile(set.dataDirectory), masterKey);
    stage = { ...set, environment: { ...set.environment, MASTER_KEY: masterKey }, within: disk.within };
    await importDemoCase(stage);
    service = await startService(stage);
    path = await demoCasePath();
  }, 120_000);

  afterAll(async () => {
    await service?.kill();
    await stage?.chain.kill();
    await disk?.close();
    await rm(directory, { recursive: true, force: true });
  });

  /**
   * One wallet for each step, since what a killed process reserved stays reserved for two minutes, and another for the
   * rest.
   */
  const walletOf = (step: number) => {
    const wallet = stage.wallets[step];
    if (!wallet) throw new Error('no wallet');
    return wallet;
  };
  const newPayment = (step = SWEEPS * STEPS) => paymentFor(stage, walletOf(step), path);

  async function present(headers: Record<string, string>, attempts: Attempt[] = []) {
    const answer = await fetch(stage.url + path, { headers });
    // biome-ignore lint/suspicious/noExplicitAny: tests read arbitrary JSON
    const json = (await answer.json()) as any;
    const { status } = answer;
    attempts.push({ wallet: '', requestPath: path, status, requestId: json.meta?.request_id ?? null });
    return { status, json };
  }

  async function readiness() {
    const answer = await fetch(`${stage.adminUrl}/readyz`);
    const { parts } = (await answer.json()) as {
      parts: Record<string, { status: string; code?: string; hint?: string }>;
    };
    return { status: answer.status, parts };
  }
  const becomes = (what: string, condition: (now: Awaited<ReturnType<typeof readiness>>) => boolean) =>
    until(what, async () => condition(await readiness()), { process: service, within: 60_000 });

  const isOpen = () => becomes('open for sale', ({ parts }) => parts.event_log?.status === 'nominal');

  /** Presents a payment until the sale is open again: a check of the full disk may have closed it for a moment. */
  async function presentOnceOpen(headers: Record<string, string>, attempts: Attempt[]) {
    for (;;) {
      await isOpen();
      const answer = await present(headers, attempts);
      if (answer.status !== 503) return answer;
      // The same payment may be presented only so often in a minute.
      await new Promise((done) => setTimeout(done, 250));
    }
  }

  it('charges no rejected caller and keeps its promises, wherever in a payment the space runs out', async () => {
    const attempts: Attempt[] = [];
    onTestFailed(() => console.error(attempts, service.output()));
    const [refused, pending] = [new Set<string>(), new Set<string>()];
    let refusedClaims = 0;
    for (let sweep = 0; sweep < SWEEPS && (refusedClaims === 0 || pending.size === 0); sweep++) {
      for (let left = 0; left <= MOST_LEFT_BYTES; left += STEP_BYTES) {
        const step = sweep * STEPS + left / STEP_BYTES;
        const payment = await newPayment(step);
        const before = service.output().split(CLAIM_REFUSED).length;
        await disk.fill(left);
        const { status, json } = await present(payment, attempts);
        const atClaim = service.output().split(CLAIM_REFUSED).length > before;
        expect([200, 202, 503]).toContain(status);
        if (status === 202) pending.add(json.meta.request_id);
        if (status !== 503) {
          await disk.clear();
          await isOpen();
          continue;
        }
        // `event_log` if a check of the log had already found no space, and closed the sale before the claim.
        expect(json.error).toMatchObject({
          code: 'service_unavailable',
          details: { charged: false, component: expect.stringMatching(/^(storage|event_log)$/), retry_after: 2 },
        });
        refused.add(json.meta.request_id);
        if (atClaim) {
          refusedClaims++;
          // Any part of it in the write-ahead log must not become valid when the log is read again.
          await service.kill();
        }
        await disk.clear();
        if (atClaim) service = await startService(stage);
        const again = await presentOnceOpen(payment, attempts);
        if (again.status === 200) continue;
        if (again.status === 429) {
          // A wallet that has never paid waits for the killed process's reservation to end; others do not.
          expect(again.json.error.details).toMatchObject({ window: 'payments_under_way', charged: false });
          expect((await presentOnceOpen(await newPayment(), attempts)).status).toBe(200);
          continue;
        }
        // On a slow machine its blockhash has expired meanwhile.
        expect([again.status, again.json.error.details.reason]).toEqual([402, 'blockhash_expired']);
        expect((await presentOnceOpen(await newPayment(step), attempts)).status).toBe(200);
      }
    }
    expect([refusedClaims > 0, pending.size > 0]).toEqual([true, true]);

    const payments = await decidedPayments(stage, service);
    const settled = await expectAgreement(stage, payments.values(), attempts);
    const settledIds = new Set(settled.map(({ requestId }) => requestId));
    for (const id of pending) expect(settledIds.has(id), `${id} was promised`).toBe(true);
    const recorded = await docket(['audit', 'replay', 'payments', '--json'], stage.environment, stage.within);
    for (const id of refused) {
      expect(recorded).not.toContain(id);
      expect((await fetch(`${stage.url}${await resultPathIn(stage.dataDirectory, id)}`)).status).toBe(404);
    }
    console.log(
      `${attempts.length} payments on an almost full disk: ${settled.length} settled, ${refused.size} rejected ` +
        `(${refusedClaims} at their claim), ${pending.size} pending at first`,
    );
  });

  it('reports when its disk fills up, is out of service meanwhile, and recovers by itself', async () => {
    onTestFailed(() => console.error(service.output()));
    await becomes('nominal', ({ status, parts }) => status === 200 && parts.disk?.status === 'nominal');
    await disk.fill(32 * MEBIBYTE);
    await becomes(
      'low',
      ({ status, parts }) => status === 200 && parts.disk?.status === 'degraded' && parts.disk.code === 'low_disk',
    );
    await disk.fill(4 * MEBIBYTE);
    await becomes('short', ({ status, parts }) => status === 503 && parts.disk?.code === 'storage_full');
    // Requests are still answered while there is any space at all.
    expect((await present(await newPayment())).status).toBe(200);
    await disk.fill(0);
    await becomes(
      'full',
      ({ status, parts }) => status === 503 && parts.event_log?.status === 'down' && !!parts.event_log.hint,
    );
    expect((await present(await newPayment())).status).toBe(503);
    const metrics = await (await fetch(`${stage.adminUrl}/metrics`)).text();
    expect(Number(/^docket_disk_free_bytes (\d+)$/m.exec(metrics)?.[1])).toBeLessThan(MEBIBYTE);
    const found = await docket(['doctor', '--json'], stage.environment, stage.within).catch(({ stdout }) => stdout);
    expect(JSON.parse(found).checks).toContainEqual(
      expect.objectContaining({ part: 'data folder', ok: false, found: expect.stringContaining('0 MiB left') }),
    );
    await disk.clear();
    await becomes('nominal again', ({ status, parts }) => {
      const all = Object.values(parts).every((part) => part.status === 'nominal');
      return status === 200 && all;
    });
    expect((await present(await newPayment())).status).toBe(200);
  });
});

/**
 * A service killed during the first look at a case. Given a wallet that pays for a case that only its court knows, when
 * the service is killed while the source is asked and while the docket is being recorded, then after a restart the same
 * query is answered with the whole docket, the wallet has paid once, and the log is whole.
 */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { BaselineCompleted, FilingsRecorded } from '../../src/events/docket.ts';
import { Database } from '../../src/storage/sqlite/driver.ts';
import { tokenAccountOf } from '../solana/payment-transactions.ts';
import { petition, proceeding } from '../sources/supreme-court/files.ts';
import { openSupremeCourt, type SupremeCourt } from '../sources/supreme-court/supreme-court.ts';
import { type RunningProcess, until } from '../support/processes.ts';
import { decidedPayments, expectVerified } from './agreement.ts';
import { FUNDS, paymentFor, type Stage, setStage, startService } from './paid-load.ts';

const PRICE = 990_000n;
/** So many that recording them takes several appends. */
const ENTRIES = 8_000;
const pathOf = (number: string): string => `/v2/case?court_code=scotus&case_id=${number}`;
/** The event of the docket after which the service is killed: before, between and after the appends of a first look. */
const KILLS = [null, FilingsRecorded.type, BaselineCompleted.type];

let directory: string;
let stage: Stage;
let site: SupremeCourt;
let service: RunningProcess;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'docket-look-'));
  const entries = Array.from({ length: ENTRIES }, (_, index) =>
    proceeding(
      `Mar ${String(1 + (index % 28)).padStart(2, '0')} 2026`,
      `Letter number ${index} of the petitioner filed.`,
    ),
  );
  site = await openSupremeCourt({
    files: [petition('25-1'), petition('25-2'), { ...petition('25-3'), ProceedingsandOrder: entries }],
  });
  const plain = await setStage(directory, 1);
  const live = { SCOTUS: 'on', SCOTUS_URL: site.url, SOURCES_ALLOW_PRIVATE: site.address };
  stage = { ...plain, environment: { ...plain.environment, ...live } };
  service = await startService(stage);
  // A process that dies during the first query of a wallet keeps it out for up to two minutes.
  expect((await askUntilAnswered('25-1')).status).toBe(200);
}, 480_000);

afterAll(async () => {
  await service?.kill();
  await stage?.chain.kill();
  await site?.close();
  await rm(directory, { recursive: true, force: true });
});

const wallet = () => stage.wallets[0]!;
const balance = () => stage.rpc.tokens(tokenAccountOf(wallet().publicKey).toBase58());

interface Told {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests read arbitrary JSON
  readonly body: any;
}

/** Presents a payment; null if the service is killed. */
async function ask(number: string, headers: Record<string, string>): Promise<Told | null> {
  try {
    const answer = await fetch(stage.url + pathOf(number), { headers });
    return { status: answer.status, body: await answer.json() };
  } catch {
    return null;
  }
}

/** Since a call may be answered before its kill, a repeat of it must be able to get that answer. */
const payFor = (number: string) => paymentFor(stage, wallet(), pathOf(number), { identifier: randomUUID() });

/** Waits until the log holds an event of a docket, or the call that leads to it is answered. */
async function recorded(number: string, type: string, asked: Promise<unknown>): Promise<void> {
  let isAnswered = false;
  void asked.finally(() => {
    isAnswered = true;
  });
  const log = new Database(join(stage.dataDirectory, 'log.sqlite'), { readonly: true });
  const find = log.prepare('SELECT 1 FROM events WHERE stream = ? AND type = ?');
  const isThere = async () => isAnswered || find.get(`docket-scotus-${number}`, type) !== undefined;
  await until(`${type} of ${number}`, isThere, { every: 2, within: 300_000 }).finally(() => log.close());
}

/** Presents a payment until it is answered, and a new one once it has expired uncharged. */
async function askUntilAnswered(number: string, first?: Record<string, string>): Promise<Told> {
  let headers = first ?? (await payFor(number));
  let told: Told | null = null;
  const isAnswered = async (): Promise<boolean> => {
    told = await ask(number, headers);
    if (told?.status === 402) headers = await payFor(number);
    return told?.status === 200;
  };
  await until(`${number} is answered`, isAnswered, { process: service, within: 200_000, every: 200 });
  return told as unknown as Told;
}

it('is answered after a restart, and paid for once, if the source was being asked', async () => {
  const before = await balance();
  const headers = await payFor('25-2');
  site.forget();
  site.fault = 'hang';
  const cutOff = ask('25-2', headers);
  await site.asked(1);
  await service.kill();
  expect(await cutOff).toBeNull();
  site.release();
  service = await startService(stage);
  const { body } = await askUntilAnswered('25-2', headers);
  expect(body).toMatchObject({ meta: { coverage_status: 'full' }, case: { filing_count: 8 } });
  await decidedPayments(stage, service);
  expect(before - (await balance())).toBe(PRICE);
}, 480_000);

it('is answered whole after restarts, if its docket was being recorded', async () => {
  let headers: Record<string, string> = {};
  for (const type of KILLS) {
    headers = await payFor('25-3');
    site.forget();
    const asked = ask('25-3', headers);
    if (type === null) await Promise.race([site.asked(1), asked]);
    else await recorded('25-3', type, asked);
    await service.kill();
    await asked;
    service = await startService(stage);
  }
  const { body } = await askUntilAnswered('25-3', headers);
  expect(body).toMatchObject({ meta: { coverage_status: 'full' }, case: { filing_count: ENTRIES } });
  const settled = [...(await decidedPayments(stage, service)).values()].reduce((sum, { settled }) => sum + settled, 0);
  expect(FUNDS - (await balance())).toBe(BigInt(settled) * PRICE);
  await expectVerified(stage);
}, 480_000);

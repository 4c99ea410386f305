/** `docket keys`, and what `docket doctor` reports about the master key, on a data folder that a service left. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readMasterKeys } from '../../src/callbacks/master-keys.ts';
import { ensureSigningKey, rotateSigningKey } from '../../src/commands/signing-key/use.ts';
import { paymentStream, QueryAnswered } from '../../src/events/payment.ts';
import { type Micros, systemClock, toInstant } from '../../src/runtime/instant.ts';
import { masterKeyFile, newMasterKey, openMasterKeys } from '../../src/service/open-master-keys.ts';
import { NO_STREAM } from '../../src/storage/event-log.ts';
import { prepareAppend } from '../../src/storage/prepare-append.ts';
import { openSqlite } from '../../src/storage/sqlite/open.ts';
import { docketInProcess } from '../support/docket-in-process.ts';

const ONE = '7dNXsDvC6xJ6XG7VdeRoW94yN7xZkJhcaRAxKrHzq7gW';
const OTHER = '9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin';
const DAY: Micros = 86_400_000_000;

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'docket-keys-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

async function docket(argv: readonly string[], environment: NodeJS.ProcessEnv = {}) {
  const ports = { DATA_DIR: directory, PORT: '0', ADMIN_PORT: '0', SOLANA_LOCAL_PORT: '0' };
  const { code, out, err } = await docketInProcess(argv, { ...ports, ...environment });
  return { code, out, err, json: /^\{.*\}\n$/.test(out) ? JSON.parse(out) : null };
}

const context = () => {
  const commandId = randomUUID();
  return { commandId, requestId: null, correlationId: commandId, causationId: null, actor: 'test' };
};

/** What a service does with this folder when started with this MASTER_KEY. */
async function serve(
  work: (ports: {
    log: Awaited<ReturnType<typeof openSqlite>>['log'];
    newest: number;
  }) => Promise<unknown> = async () => {},
  masterKey: string | null = null,
  warnings: object[] = [],
) {
  const storage = openSqlite({ directory });
  try {
    const logger = { warn: (facts: object) => warnings.push(facts) };
    const config = { masterKey, dataDirectory: directory, engines: null };
    const keys = await openMasterKeys(
      { log: storage.log, clock: systemClock, logger, by: 'service' },
      config,
      context(),
    );
    await work({ log: storage.log, newest: keys.newest });
    return keys;
  } finally {
    await storage.close();
  }
}

/** Creates a wallet's key, this long ago. */
const aged = (wallet: string, ago: Micros, rotate = false) =>
  serve(async ({ log, newest }) => {
    const clock = { now: () => systemClock.now() - ago };
    const ports = { log, clock, newKeyId: randomUUID };
    if (rotate) await rotateSigningKey(ports, wallet, { keyId: randomUUID(), masterVersion: newest }, context());
    else await ensureSigningKey(ports, wallet, newest, context());
  });

/** Records an answer that opens with an id of the newest version, this long ago. */
const sold = (ago: Micros) =>
  serve(async ({ log, newest }) => {
    const at = systemClock.now() - ago;
    const answered = QueryAnswered.of({
      requestId: randomUUID(),
      answer: null,
      keepUntil: toInstant(at + 30 * DAY),
      answeredCases: 1,
      resultKey: newest,
      keyCall: null,
      callbacks: [],
    });
    const stream = paymentStream(randomUUID().replaceAll('-', '').repeat(2));
    const recordedAt = toInstant(at);
    await log.append(prepareAppend({ stream, head: NO_STREAM, events: [answered], context: context(), recordedAt }));
  });

describe('the master key at a start', () => {
  it('is generated once, readable only by its owner, and is the same at every later start', async () => {
    const first = await serve();
    const file = masterKeyFile(directory);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const again = await serve();
    expect(again.fingerprintOf(1)).toBe(first.fingerprintOf(1));
    expect(readFileSync(file, 'utf8')).toMatch(/^1:[0-9a-f]{64}\n$/);
  });

  it('is the same for processes that start at the same time', async () => {
    const all = await Promise.all(Array.from({ length: 6 }, () => serve()));
    expect(new Set(all.map((keys) => `${keys.newest} ${keys.fingerprintOf(keys.newest)}`)).size).toBe(1);
  });

  it('gets the next version if another node has created one', async () => {
    const before = await serve();
    // Another machine has another data folder, but the same log.
    unlinkSync(masterKeyFile(directory));
    const after = await serve();
    expect([before.newest, after.newest]).toEqual([1, 2]);
  });

  it.each([
    ['that is configured', (wrong: string) => serve(undefined, wrong)],
    [
      'in the data folder',
      (wrong: string) => {
        writeFileSync(masterKeyFile(directory), wrong);
        return serve();
      },
    ],
  ])('%s is rejected if the log knows another key under its version', async (_, start) => {
    await serve();
    const wrong = newMasterKey(1);
    await expect(start(wrong)).rejects.toThrow(/version 1 is not the key that this event log knows/);
    await expect(start(wrong)).rejects.not.toThrow(wrong.slice(2));
  });

  it('is rejected if damaged, without repeating any part of it', async () => {
    await serve();
    writeFileSync(masterKeyFile(directory), '1:abcdef0123456789');
    const error = await serve().catch(String);
    expect(error).toMatch(/master-key: the file is damaged/);
    expect(error).not.toContain('abcdef');
  });

  it('is read from MASTER_KEY if that is set, and no file is created', async () => {
    const value = newMasterKey(3);
    expect((await serve(undefined, value)).newest).toBe(3);
    expect(() => statSync(masterKeyFile(directory))).toThrow();
  });

  it('logs a warning if several nodes may each generate their own', async () => {
    const storage = openSqlite({ directory });
    const warnings: object[] = [];
    const engines = { eventStore: 'esdb://x', mongo: 'mongodb://x' };
    const config = { masterKey: null, dataDirectory: directory, engines };
    const logger = { warn: (facts: object) => warnings.push(facts) };
    await openMasterKeys({ log: storage.log, clock: systemClock, logger, by: 'service' }, config, context());
    await storage.close();
    expect(warnings).toEqual([expect.objectContaining({ alarm: 'master_key_generated' })]);
  });
});

describe('docket keys new-master', () => {
  it('prints a new value for MASTER_KEY each time', async () => {
    const [one, two] = [await docket(['keys', 'new-master']), await docket(['keys', 'new-master', '--json'])];
    expect(readMasterKeys(one.out.trim()).newest).toBe(1);
    expect(readMasterKeys(two.json.master_key).newest).toBe(1);
    expect(one.out).not.toContain(two.json.master_key);
  });
});

const ROTATE = ['keys', 'rotate-master', '--reason', 'yearly rotation', '--by', 'Ann Lee'] as const;

describe('docket keys rotate-master', () => {
  it('records who introduced each version of the master key, and why', async () => {
    await serve();
    await docket(ROTATE);
    const { out } = await docket(['audit', 'replay', 'keys', '--json']);
    const introduced = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(
      introduced.map(({ actor, data: { masterVersion, by, reason } }) => [actor, masterVersion, by, reason]),
    ).toEqual([
      ['test', 1, 'service', 'generated, because MASTER_KEY was not set'],
      ['cli', 2, 'Ann Lee', 'yearly rotation'],
    ]);
  });

  it.each([
    ['no reason', ['keys', 'rotate-master'], /required option '--reason <text>' not specified/],
    ['an empty reason', ['keys', 'rotate-master', '--reason', ' '], /--reason is empty or too long.\n.*e\.g\./],
    ['nobody', ['keys', 'rotate-master', '--reason', 'x', '--by', ''], /--by is empty or too long/],
  ])('rejects %s, and records nothing', async (_, argv, expected) => {
    await serve();
    const before = (await docket(['audit', 'replay', 'all', '--json'])).out;
    expect(await docket(argv)).toMatchObject({ code: 2, err: expect.stringMatching(expected) });
    expect((await docket(['audit', 'replay', 'all', '--json'])).out).toBe(before);
  });

  it('rewrites the file in the data folder: old keys keep their secret, new ones derive from the new key', async () => {
    const before = await serve();
    await aged(ONE, 0);
    const secret = (version: number, keys = before) =>
      keys.secretOf({ wallet: ONE, keyId: 'K', masterVersion: version });
    const ran = await docket([...ROTATE, '--json']);
    expect(ran.json).toEqual({
      newest: 2,
      kept: [{ version: 1, live_keys: 1, young_keys: 0, results: 0 }],
      dropped: [],
      file: masterKeyFile(directory),
      rollout: null,
    });
    expect(statSync(masterKeyFile(directory)).mode & 0o777).toBe(0o600);
    const after = await serve();
    expect([after.newest, after.versions]).toEqual([2, [2, 1]]);
    expect(secret(1, after)).toBe(secret(1));
    expect(secret(2, after)).not.toBe(secret(1));
  });

  it('keeps a version while a key needs it or its secret may still be fetched, and then drops it', async () => {
    await aged(ONE, 40 * DAY);
    await aged(OTHER, 40 * DAY);
    await docket(ROTATE);
    // One wallet moves to version 2; the other still needs version 1.
    await aged(ONE, 35 * DAY, true);
    const second = await docket([...ROTATE, '--json']);
    expect(second.json).toMatchObject({
      kept: [
        { version: 2, live_keys: 1 },
        { version: 1, live_keys: 1 },
      ],
      dropped: [],
    });
    await aged(OTHER, 33 * DAY, true);
    await aged(ONE, 10 * DAY, true);
    await aged(ONE, DAY, true);
    const third = await docket([...ROTATE, '--json']);
    expect(third.json).toMatchObject({
      newest: 4,
      kept: [{ version: 3, live_keys: 2, young_keys: 1 }],
      dropped: [2, 1],
    });
    expect((await serve()).versions).toEqual([4, 3]);
  });

  it('keeps a version while a stored answer needs it, and then drops it', async () => {
    await sold(29 * DAY);
    await docket(ROTATE);
    await sold(31 * DAY);
    const kept = await docket([...ROTATE, '--json']);
    expect(kept.json).toMatchObject({
      newest: 3,
      kept: [
        { version: 2, results: 0 },
        { version: 1, live_keys: 0, results: 1 },
      ],
      dropped: [],
    });
    const dropped = await docket(ROTATE);
    expect(dropped.err).toContain('Version 1 is kept: live keys that need it: 0;');
    expect(dropped.err).toContain('Version 2 is dropped: no key or result needs it.');
    expect((await serve()).versions).toEqual([4, 3, 1]);
  });

  it('prints both values of a configured key: first the one that makes it known, then the one that uses it', async () => {
    const MASTER_KEY = newMasterKey(1);
    await serve(undefined, MASTER_KEY);
    const { code, json } = await docket([...ROTATE, '--json'], { MASTER_KEY });
    expect(code).toBe(0);
    const [known, used] = json.rollout.map(readMasterKeys);
    expect([known.newest, known.versions, used.newest, used.versions]).toEqual([1, [1, 2], 2, [2, 1]]);
    expect(known.fingerprintOf(2)).toBe(used.fingerprintOf(2));
    for (const value of json.rollout) await serve(undefined, value);
    const text = await docket(ROTATE, { MASTER_KEY: json.rollout[1] });
    expect(text.out).toMatch(/^MASTER_KEY=2:\S+,3:\S+\nMASTER_KEY=3:\S+,2:\S+\n$/);
    expect(() => statSync(masterKeyFile(directory))).toThrow();
  });

  it('says what to do if there is nothing to rotate', async () => {
    expect(await docket(ROTATE)).toMatchObject({
      code: 3,
      err: expect.stringContaining('DATA_DIR'),
    });
    await openSqlite({ directory }).close();
    expect(await docket(ROTATE)).toMatchObject({
      code: 2,
      err: expect.stringContaining('no master key'),
    });
  });
});

describe('docket keys list', () => {
  it('shows the valid keys of every wallet, or of one, without secrets', async () => {
    await aged(ONE, DAY);
    await aged(OTHER, 0);
    await aged(ONE, 60_000_000, true);
    const all = (await docket(['keys', 'list', '--json'])).out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(all.map(({ wallet, keys_made, master_version }) => [wallet, keys_made, master_version])).toEqual([
      [ONE, 2, 1],
      [OTHER, 1, 1],
    ]);
    expect(all[0].previous_key_id).toMatch(/^[0-9a-f-]{36}$/);
    expect(all[1].previous_key_id).toBeNull();
    const one = await docket(['keys', 'list', '--wallet', OTHER]);
    expect(one.out).toContain(all[1].current_key_id);
    expect(one.out).not.toContain(ONE);
    expect((await docket(['keys', 'list', '--wallet', 'x'])).code).toBe(2);
    expect(JSON.stringify(all)).not.toMatch(/[0-9a-f]{64}/);
  });

  it('has its events replayed by audit replay', async () => {
    await aged(ONE, 0);
    const { out } = await docket(['audit', 'replay', 'keys', '--json']);
    const types = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).type);
    expect(types).toEqual(['MasterKeyIntroduced', 'SigningKeyCreated']);
    expect(out).not.toContain(readFileSync(masterKeyFile(directory), 'utf8').trim().slice(2));
  });
});

describe('docket doctor', () => {
  const verdict = async (environment: NodeJS.ProcessEnv = {}) => {
    const { json } = await docket(['doctor', '--json'], environment);
    return json.checks.find(({ part }: { part: string }) => part === 'master key');
  };

  it('reports a master key that is valid, not created yet, lost or different', async () => {
    expect(await verdict()).toMatchObject({ ok: true, found: expect.stringContaining('none yet') });
    await aged(ONE, 0);
    expect(await verdict()).toMatchObject({ ok: true, found: expect.stringContaining('version 1') });
    expect(await verdict({ MASTER_KEY: newMasterKey(1) })).toMatchObject({
      ok: false,
      found: expect.stringContaining('is not the key that the event log knows'),
    });
    expect(await verdict({ MASTER_KEY: newMasterKey(2) })).toMatchObject({
      ok: false,
      found: 'missing: version 1, which 1 live key was derived from',
    });
    await sold(DAY);
    expect(await verdict()).toMatchObject({ ok: true });
    expect(await verdict({ MASTER_KEY: newMasterKey(2) })).toMatchObject({
      ok: false,
      found: expect.stringContaining('version 1, which 1 result was sold under in the last 30 days'),
    });
    unlinkSync(masterKeyFile(directory));
    expect(await verdict()).toMatchObject({ ok: false, hint: expect.stringContaining('backup') });
  });
});

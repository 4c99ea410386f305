/** `docket audit verify` as an auditor calls it, on a data folder. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { EXIT } from '../../../src/cli/command.ts';
import { headKeyOf, signedNote, verifierKeyOf } from '../../../src/events/log-note.ts';
import {
  docketNumber,
  edit,
  headOver,
  KEY,
  LOG_ID,
  openSampleLog,
  rowsOf,
  type SampleLog,
} from '../../audit/verify/sample-log.ts';
import { docketInProcess } from '../../support/docket-in-process.ts';

let log: SampleLog;
let changed: SampleLog;
let kept: { readonly size: number; readonly root: string };
beforeAll(async () => {
  log = await openSampleLog();
  await log.docket(1);
  kept = await log.head();
  changed = await openSampleLog();
  await changed.docket(1);
  await changed.docket(2);
  changed.tamper((db) => {
    for (const n of [1, 2]) edit(db, docketNumber(n), 3, (data) => ({ ...data, filingCount: 7 }));
    edit(db, docketNumber(2), 1, (data) => ({ ...data, masking: 2 }));
  });
});
afterAll(() => {
  log.remove();
  changed.remove();
});

const verify = (of: SampleLog, ...argv: string[]) =>
  docketInProcess(['audit', 'verify', ...argv], { DATA_DIR: of.directory });
const jsonLines = (out: string) =>
  out
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));

it('says for people what was read, what proves it, and that nothing is wrong', async () => {
  const { code, out } = await verify(log);
  expect(code).toBe(EXIT.ok);
  expect(out).toMatch(/^8 events in 4 streams; /);
  expect(out).toMatch(/the first 6 events are covered by head 1, signed by key v1/);
  expect(out).toMatch(/the last 2 events are after that head/);
  expect(out).toMatch(/content: 2 names, 2 intact/);
  expect(out).toMatch(/\nno breach\n$/);
});

it('prints each breach with its place, and exits with 1', async () => {
  const { code, out, err } = await verify(changed);
  expect(code).toBe(EXIT.found);
  expect(out).toMatch(
    /hash_matches {2}docket-cand-3:25-cv-00001 3 at 0{19}6\n {2}expected [0-9a-f]{64} .*\n {2}found {4}[0-9a-f]{64}\n/,
  );
  expect(out).toMatch(/\nbreach: hash_matches, 3\n/);
  expect(err).toMatch(/There are 3 breaches/);
});

it('prints one JSON object for each breach, then the summary', async () => {
  const { code, out } = await verify(changed, '--json');
  const lines = jsonLines(out);
  expect([code, lines.length]).toEqual([EXIT.found, 4]);
  expect(lines[0]).toEqual({
    rule: 'hash_matches',
    stream: docketNumber(1),
    revision: 3,
    position: expect.stringMatching(/6$/),
    expected: expect.any(String),
    found: expect.any(String),
  });
  expect(lines[3].summary).toMatchObject({
    events: 10,
    breaches: 3,
    by_rule: { hash_matches: 3 },
    heads: 0,
    proven_up_to: null,
  });
});

it('prints no more than --limit, and counts all', async () => {
  const { out } = await verify(changed, '--json', '--limit', '1');
  const lines = jsonLines(out);
  expect([lines.length, lines[1].summary.breaches]).toEqual([2, 3]);
  expect((await verify(changed, '--limit', '1')).out).toMatch(/… and 2 more/);
});

it('compares a head that was kept, as a note or as SIZE:ROOT', async () => {
  const note = join(log.directory, 'kept.txt');
  writeFileSync(
    note,
    signedNote(
      log.tamper((db) => headOver(rowsOf(db).slice(0, kept.size))),
      LOG_ID,
      KEY.publicKey,
    ),
  );
  for (const head of [note, `${kept.size}:${kept.root}`]) {
    const { code, out } = await verify(log, '--head', head);
    expect([code, out]).toEqual([EXIT.ok, expect.stringMatching(/kept head: the first 6 events are those of/)]);
  }
  const other = await verify(log, '--head', `7:${kept.root}`, '--json');
  expect([other.code, jsonLines(other.out)[0].rule]).toEqual([EXIT.found, 'head_kept_matches']);
});

it('says what vouches for the key of the heads, and compares it with one that was kept', async () => {
  const key = verifierKeyOf(LOG_ID, KEY.publicKey);
  const alone = await verify(log);
  expect([alone.code, alone.out]).toEqual([EXIT.ok, expect.stringContaining(`key v1: as the log says. Compare it`)]);
  expect(alone.out).toContain(`--key ${key}`);
  const kept = await verify(log, '--key', key);
  expect([kept.code, kept.out]).toEqual([EXIT.ok, expect.stringContaining('key v1: one that you gave with --key')]);
  const other = verifierKeyOf(LOG_ID, headKeyOf(Buffer.alloc(32, 9)).publicKey);
  const differs = await verify(log, '--key', other, '--json');
  expect([differs.code, jsonLines(differs.out)[0]]).toEqual([
    EXIT.found,
    expect.objectContaining({ rule: 'head_key_kept', stream: 'log-head', revision: 0, found: KEY.publicKey }),
  ]);
  expect((await verify(log, '--key', other, '--key', key)).code).toBe(EXIT.ok);
});

it('compares the key of the heads with the master key of the settings', async () => {
  const withMaster = (of: SampleLog, masterKey: string) =>
    docketInProcess(['audit', 'verify'], { DATA_DIR: of.directory, MASTER_KEY: masterKey });
  const unrelated = await withMaster(log, `1:${'11'.repeat(32)}`);
  expect([unrelated.code, unrelated.out]).toEqual([
    EXIT.ok,
    expect.stringContaining('the master key of the settings is not the one that the log names'),
  ]);
});

it('warns of a log without heads', async () => {
  const { out } = await verify(changed);
  expect(out).toMatch(/\nWARNING: NO HEADS: nothing proves that no stream was removed/);
});

it('continues from a checkpoint', async () => {
  const file = join(log.directory, 'audited.sqlite');
  const reads: number[] = [];
  for (const _ of [1, 2]) {
    const { code, out } = await verify(log, '--checkpoint', file, '--json');
    expect(code).toBe(EXIT.ok);
    reads.push(jsonLines(out)[0].summary.read);
  }
  expect(reads).toEqual([8, 0]);
});

it('finds by a checkpoint that the log was cut since', async () => {
  const cut = await openSampleLog();
  await cut.head();
  const file = join(cut.directory, 'audited.sqlite');
  expect(await verify(cut, '--checkpoint', file)).toMatchObject({ code: EXIT.ok });
  cut.tamper((db) => db.exec('DELETE FROM events WHERE position = (SELECT max(position) FROM events)'));
  const { code, err } = await verify(cut, '--checkpoint', file);
  await cut.remove();
  expect([code, err]).toEqual([EXIT.found, expect.stringMatching(/no longer holds what the checkpoint has verified/)]);
});

it.each([
  ['--limit many', EXIT.usage, /--limit is not a whole number/],
  ['--head nowhere.txt', EXIT.usage, /--head cannot be read/],
  ['--head 5', EXIT.usage, /--head cannot be read/],
  ['--key AAAA', EXIT.usage, /--key is not a verifier key/],
  [
    `--key ${verifierKeyOf('11111111-2222-4333-8444-555555555555', KEY.publicKey)}`,
    EXIT.usage,
    /--key is of log 11111111/,
  ],
  ['--checkpoint nowhere/audited.sqlite', EXIT.usage, /there is no folder nowhere\.\nCreate it/],
  ['--checkpoint log.sqlite', EXIT.usage, /is not a checkpoint/],
])('refuses %s and says what it expects', async (asked, expected, message) => {
  const argv = asked.split(' ').map((word) => (word === 'log.sqlite' ? join(log.directory, word) : word));
  const { code, err } = await verify(log, ...argv);
  expect([code, err, existsSync('nowhere')]).toEqual([expected, expect.stringMatching(message), false]);
});

it('says if there is no log', async () => {
  const { code, err } = await docketInProcess(['audit', 'verify'], { DATA_DIR: join(log.directory, 'empty') });
  expect([code, err]).toEqual([EXIT.unavailable, expect.stringMatching(/no event log in/)]);
});

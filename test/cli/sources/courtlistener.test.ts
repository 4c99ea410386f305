/**
 * Given an account at CourtListener, when an operator subscribes to a case and ends that again, then the account and the
 * log agree, each change happens once, and whatever prevents it is said with a hint.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { EXIT } from '../../../src/cli/command.ts';
import { createSourcesCommand } from '../../../src/cli/sources/sources.ts';
import { sourceStream } from '../../../src/events/source.ts';
import { type CourtListenerImitation, openCourtListener } from '../../sources/courtlistener/court-listener.ts';
import { type MoneyWorld, openMoneyWorld } from '../money-world.ts';

let world: MoneyWorld;
let imitation: CourtListenerImitation;
let docket: number;
const CASE = ['ilnd', '1:26-cv-02417'];
beforeAll(async () => {
  world = await openMoneyWorld();
  imitation = await openCourtListener({ rates: [], alerts: 1 });
  docket = imitation.addDocket({ court: 'ilnd', number: '1:26-cv-02417' });
  imitation.addDocket({ court: 'ilnd', number: '1:26-cv-02418' });
  Object.assign(world.environment, {
    COURTLISTENER_TOKEN: imitation.token,
    COURTLISTENER_URL: imitation.url,
    COURTLISTENER_RATES: '1000/min',
    SOURCES_ALLOW_PRIVATE: new URL(imitation.url).host,
  });
});
afterAll(async () => {
  await imitation?.close();
  await world?.close();
});

/** With what it says of a failure, and its hint. */
async function run(...argv: string[]) {
  const { error, ...answer } = await world.run(createSourcesCommand, 'sources', 'courtlistener', ...argv);
  return { ...answer, err: `${error?.message ?? ''} ${error?.hint ?? ''}` };
}
const told = async () =>
  (await world.storage.log.read(sourceStream.alert('courtlistener', String(docket)))).map(({ type, data }) => [
    type,
    data.by,
    data.why ?? data.caseNumber,
  ]);

it('subscribes once, lists it, and ends it once', async () => {
  expect((await run('alerts', 'list')).out).toBe('No alert is in force.\n');
  const first = await run('subscribe', ...CASE, '--by', 'Ann Lee', '--json');
  expect([first.code, JSON.parse(first.out)]).toEqual([
    EXIT.ok,
    {
      court: 'ilnd',
      case_number: '1:26-cv-02417',
      changed: true,
      dockets: [{ docket_id: String(docket), changed: true }],
    },
  ]);
  expect(imitation.alerts()).toHaveLength(1);
  await world.caughtUp();
  const again = await run('subscribe', 'ilnd', '26-cv-2417', '--by', 'Ann Lee');
  expect([again.code, again.out]).toEqual([EXIT.ok, `docket ${docket} has an alert already.\n`]);
  expect((await run('alerts', 'list')).out).toMatch(
    new RegExp(`^ilnd 1:26-cv-02417 {2}docket ${docket}, since \\d{4}-\\d\\d-\\d\\d, by Ann Lee\\n$`),
  );
  expect(JSON.parse((await run('alerts', 'list', '--json')).out)).toMatchObject({
    docket_id: String(docket),
    court: 'ilnd',
    case_number: '1:26-cv-02417',
    by: 'Ann Lee',
    renewed_at: null,
  });

  const full = await run('subscribe', 'ilnd', '1:26-cv-02418');
  expect([full.code, full.err]).toEqual([EXIT.unavailable, expect.stringMatching(/no more alerts[\s\S]*unsubscribe/)]);

  const ended = await run('unsubscribe', ...CASE, '--by', 'Bo Ek');
  expect([ended.code, ended.out]).toEqual([EXIT.ok, `docket ${docket} has no alert any more.\n`]);
  expect(imitation.alerts()).toEqual([]);
  expect((await run('unsubscribe', ...CASE)).out).toBe('ilnd 1:26-cv-02417 has no alert.\n');
  expect(await told()).toEqual([
    ['AlertSubscribed', 'Ann Lee', '1:26-cv-02417'],
    ['AlertEnded', 'Bo Ek', 'unsubscribed'],
  ]);
});

it('adopts an alert that was made by hand', async () => {
  imitation.rows.addAlert(docket);
  const { out } = await run('subscribe', ...CASE);
  expect(out).toBe(`docket ${docket} had an alert already, which is recorded now.\n`);
  expect((await run('unsubscribe', ...CASE)).code).toBe(EXIT.ok);
});

it('says what prevents it', async () => {
  for (const [argv, code, words] of [
    [['subscribe', 'ilnd', '1:26-cv-09999'], EXIT.unavailable, /CourtListener has no docket 1:26-cv-09999 of ilnd/],
    [['subscribe', 'ilnd', 'pears'], EXIT.usage, /pears is not a case number of ilnd/],
    [['subscribe', 'nowhere', '1:26-cv-1'], EXIT.usage, /nowhere/],
    [['subscribe', 'ok_tulsa', 'CJ-2026-1'], EXIT.usage, /CourtListener has no dockets of ok_tulsa/],
  ] as const) {
    const answer = await run(...argv);
    expect([answer.code, answer.err], argv.join(' ')).toEqual([code, expect.stringMatching(words)]);
  }
  imitation.failNext({ status: 401, body: { detail: 'Invalid token.' } });
  const unauthorised = await run('subscribe', ...CASE);
  expect([unauthorised.code, unauthorised.err]).toEqual([
    EXIT.unavailable,
    expect.stringContaining('COURTLISTENER_TOKEN'),
  ]);
  expect(unauthorised.err).not.toContain(imitation.token);

  const seen = imitation.requests.length;
  await world.run(
    createSourcesCommand,
    'sources',
    'pause',
    'courtlistener',
    '--reason',
    'maintenance',
    '--by',
    'Ann Lee',
  );
  const paused = await run('subscribe', ...CASE);
  expect([paused.code, paused.err]).toEqual([
    EXIT.unavailable,
    expect.stringMatching(/paused, by Ann Lee: maintenance/),
  ]);
  expect(imitation.requests).toHaveLength(seen);
  await world.run(createSourcesCommand, 'sources', 'resume', 'courtlistener', '--reason', 'over');
  delete world.environment.COURTLISTENER_TOKEN;
  expect((await run('subscribe', ...CASE)).err).toMatch(/COURTLISTENER_TOKEN is not set/);
});

/**
 * Given known cases and a configured source, when an operator orders a backfill, then the log has the order, the command
 * shows how far it has come, and cancels it once.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EXIT } from '../../../src/cli/command.ts';
import { createSourcesCommand } from '../../../src/cli/sources/sources.ts';
import { BackfillEnded, sourceStream } from '../../../src/events/source.ts';
import { type MoneyWorld, openMoneyWorld } from '../money-world.ts';

let world: MoneyWorld;
beforeAll(async () => {
  world = await openMoneyWorld();
  world.environment.COURTLISTENER_TOKEN = 'x'.repeat(40);
});
afterAll(() => world?.close());

const backfill = (...argv: string[]) => world.run(createSourcesCommand, 'sources', 'backfill', ...argv);
const act = ['--reason', 'ticket 4711', '--by', 'Ann Lee'];
const ordered = async (...argv: string[]): Promise<string> => {
  const { code, out } = await backfill(...argv, ...act, '--detach', '--json');
  expect(code).toBe(EXIT.ok);
  return JSON.parse(out).backfill_id;
};

describe('docket sources backfill', () => {
  it('records an order with its courts, day, and who decided it', async () => {
    const id = await ordered('--courts', 'cand,arb,cand', '--since', '2026-03-01');
    const recorded = await world.storage.log.read(sourceStream.backfill(id));
    expect(recorded.map(({ type, data }) => [type, data])).toEqual([
      [
        'BackfillOrdered',
        { backfillId: id, courts: ['cand', 'azb'], since: '2026-03-01', by: 'Ann Lee', reason: 'ticket 4711' },
      ],
    ]);
    await world.caughtUp();
    const { out } = await backfill('--list', '--json');
    expect(JSON.parse(out)).toMatchObject({ backfill_id: id, status: 'open', cases: 0, passed: 0, looked: 0 });
    expect((await backfill('--list')).out).toMatch(
      /cand, azb since 2026-03-01 {2}ordered .* by Ann Lee \(ticket 4711\)/,
    );
  });

  it('reports that the outcome is unknown while the read model is behind the log', async () => {
    const id = await ordered('--courts', 'nysd');
    const { code, out, error } = await backfill('--cancel', id, ...act);
    expect([code, out]).toEqual([EXIT.unavailable, '']);
    expect(error?.message).toMatch(/Cannot tell yet/);
    expect((await backfill('--list')).err).toMatch(/watched-cases is behind the log/);
    await world.caughtUp();
    expect(await backfill('--cancel', id, ...act)).toMatchObject({ code: EXIT.ok, out: 'Cancelled after 0 looks.\n' });
    expect((await backfill('--list')).err).toMatch(/watched-cases is behind the log/);
    await world.caughtUp();
    expect((await backfill('--list')).err).toBe('');
  });

  it('cancels an order once, by the beginning of its id, with who and why', async () => {
    const id = await ordered('--courts', 'nysd');
    await world.caughtUp();
    const first = await backfill('--cancel', id.slice(0, 8), ...act);
    expect([first.code, first.out]).toEqual([EXIT.ok, 'Cancelled after 0 looks.\n']);
    const again = await backfill('--cancel', id, ...act, '--json');
    expect(JSON.parse(again.out)).toMatchObject({ changed: false });
    const [, ended] = await world.storage.log.read(sourceStream.backfill(id));
    expect(ended?.data).toEqual({
      backfillId: id,
      outcome: 'cancelled',
      looked: 0,
      by: 'Ann Lee',
      reason: 'ticket 4711',
    });
  });

  it('follows an order to its end', async () => {
    const id = await ordered('--courts', 'ca9');
    const at = '2026-03-02T10:00:00.000000Z';
    // What the running service records.
    const [order] = await world.storage.log.read(sourceStream.backfill(id));
    expect(order?.revision).toBe(0);
    await world.follow(
      sourceStream.backfill(id),
      at,
      BackfillEnded.of({ backfillId: id, outcome: 'completed', looked: 3 }),
    );
    await world.caughtUp();
    const { code, out } = await backfill('--follow', id.slice(0, 8));
    expect([code, out]).toEqual([EXIT.ok, `${id}: completed after 3 looks.\n`]);
  });

  it('says at the end that an order was cancelled', async () => {
    const id = await ordered('--courts', 'ca2');
    await world.caughtUp();
    await backfill('--cancel', id, ...act);
    await world.caughtUp();
    const { code, out, error } = await backfill('--follow', id, '--json');
    expect([code, error?.message]).toEqual([EXIT.found, 'The backfill was cancelled.']);
    expect(JSON.parse(out)).toMatchObject({ backfill_id: id, status: 'cancelled' });
  });

  it.each([
    [['--courts', 'cand'], EXIT.usage, /--reason is missing/],
    [['--courts', 'moon', ...act], EXIT.usage, /Unknown court/],
    [['--courts', ',', ...act], EXIT.usage, /names no court/],
    [['--courts', 'cand,ok_tulsa', ...act], EXIT.usage, /configured for ok_tulsa/],
    [['--since', '2026-02-30', ...act], EXIT.usage, /not a day/],
    [['--list', '--cancel', '01234567'], EXIT.usage, /cannot be combined/],
    [['--list', '--since', '2026-03-01'], EXIT.usage, /cannot be combined/],
    [['--cancel', 'no id', ...act], EXIT.usage, /not the id/],
    [['--cancel', '01234567', ...act], EXIT.found, /No backfill has the id/],
  ])('%j is refused with what to do', async (argv, expected, fault) => {
    const { code, out, error } = await backfill(...argv);
    expect([code, out]).toEqual([expected, '']);
    expect(error?.message).toMatch(fault);
    expect(error?.hint).toMatch(/./);
  });

  it('is refused where no source can be asked', async () => {
    const token = world.environment.COURTLISTENER_TOKEN;
    world.environment.COURTLISTENER_TOKEN = '';
    world.environment.RSS_COURTS = 'all';
    const { code, error } = await backfill(...act);
    expect([code, error?.message]).toEqual([EXIT.usage, expect.stringMatching(/configured for any court/)]);
    expect(error?.hint).toMatch(/COURTLISTENER_TOKEN/);
    world.environment.COURTLISTENER_TOKEN = token;
    world.environment.RSS_COURTS = '';
  });
});

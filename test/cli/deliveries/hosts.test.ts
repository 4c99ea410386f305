/**
 * Given callbacks to several hosts, when an operator lists, pauses or resumes a host, then the log says who and why, the
 * running service keeps to it, and a name that fits none or several changes nothing.
 */
import { afterEach, expect, it, vi } from 'vitest';
import { EXIT } from '../../../src/cli/command.ts';
import { createHostsCommand } from '../../../src/cli/deliveries/hosts.ts';
import { hostSubject, operatorStream } from '../../../src/events/operator.ts';
import { createOperatorActs } from '../../../src/processes/operator-acts.ts';
import { deliveries } from '../../../src/projections/deliveries.ts';
import { operatorActs } from '../../../src/projections/operator-acts.ts';
import { silent } from '../../http/serving.ts';
import { type DeliveryWorld, openDeliveryWorld } from '../../processes/delivery-world.ts';
import { runCommand } from '../acting.ts';

let world: DeliveryWorld;
const stopping = new AbortController();
afterEach(() => {
  stopping.abort();
  return world.close();
});

const run = (...argv: string[]) =>
  runCommand(
    createHostsCommand(async () => ({ ...world.storage, close: async () => undefined })),
    'hosts',
    ...argv,
  );
const caughtUp = async () => {
  const head = (await world.storage.log.head()) ?? '';
  for (const { name } of [deliveries, operatorActs]) await world.runner.waitFor(name, head, 30_000);
};
const BY = ['--reason', 'its owner is moving it', '--by', 'Ann Lee'];

it('lists hosts, and pauses and resumes one while the service runs', async () => {
  world = await openDeliveryWorld({ realTime: true, projections: [deliveries, operatorActs] as never });
  const acts = createOperatorActs({ ...world.storage, logger: silent });
  void acts.run(stopping.signal);
  world.node('node-a', { hosts: acts });
  const first = await world.schedule();
  await vi.waitFor(async () => expect((await world.recordOf(first))?.status).toBe('succeeded'), { timeout: 30_000 });

  const host = world.base.replace('http://', '');
  const paused = await run('pause', host, ...BY);
  expect([paused.code, paused.out]).toEqual([EXIT.ok, `${world.base} is paused, with 0 open callbacks waiting.\n`]);
  await vi.waitFor(() => expect(acts.isPaused(world.base)).toBe(true), { timeout: 30_000 });
  const second = await world.schedule();
  await caughtUp();
  const [listed] = (await run('list', '--json')).out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(listed).toMatchObject({
    origin: world.base,
    open: 1,
    due: 1,
    lastOutcome: { failureClass: null, responseCode: 200 },
    success_rate: 1,
    paused: { by: 'Ann Lee', reason: 'its owner is moving it' },
  });
  const text = (await run('list')).out;
  expect(text).toMatch(/^HOST +OPEN +DUE +OVERDUE +OLDEST DUE +LAST OUTCOME +7 DAYS +PAUSED\n/);
  expect(text).toMatch(/ by Ann Lee: its owner is moving it$/m);
  expect((await run('pause', world.base, ...BY)).out).toContain('was paused already, by Ann Lee');
  expect(world.received).toHaveLength(1);

  expect((await run('resume', host, ...BY)).out).toBe(`${world.base} is resumed, with 1 open callback.\n`);
  await vi.waitFor(async () => expect((await world.recordOf(second))?.status).toBe('succeeded'), { timeout: 30_000 });
  expect((await run('resume', host, ...BY)).out).toBe(`${world.base} is not paused.\n`);
  const recorded = await world.storage.log.read(operatorStream(hostSubject(world.base)));
  expect(recorded.map(({ type, data }) => [type, data.by, data.reason])).toEqual([
    ['HostPaused', 'Ann Lee', 'its owner is moving it'],
    ['HostResumed', 'Ann Lee', 'its owner is moving it'],
  ]);
});

it('changes nothing if a name matches no host, several hosts, or is invalid', async () => {
  world = await openDeliveryWorld({ projections: [deliveries, operatorActs] as never });
  for (const url of ['https://twice.example/a', 'https://twice.example:8443/b', 'https://twice.examples/c']) {
    await world.schedule({ url });
  }
  await caughtUp();
  const head = await world.storage.log.head();
  const several = await run('pause', 'twice.example', ...BY);
  expect([several.code, several.error?.message]).toEqual([
    EXIT.usage,
    '"twice.example" is ambiguous: https://twice.example, https://twice.example:8443.',
  ]);
  expect(await run('pause', 'unknown.example', ...BY)).toMatchObject({
    code: EXIT.found,
    error: { hint: /hosts list/ },
  });
  expect(await run('resume', 'http://twice.example', ...BY)).toMatchObject({ code: EXIT.found });
  for (const name of [
    'https://twice.example/path',
    'ftp://twice.example',
    'https://user@twice.example',
    'a b',
    '',
    '/',
    `https://${'a.'.repeat(200)}example`,
  ])
    expect(await run('pause', name, ...BY), name).toMatchObject({ code: EXIT.usage, error: { hint: /^Give / } });
  expect(await run('pause', 'https://twice.example', '--reason', ' ')).toMatchObject({ code: EXIT.usage });
  for (const top of ['0', '-1', 'x', '1e9']) expect((await run('list', '--top', top)).code).toBe(EXIT.usage);
  expect(await world.storage.log.head()).toBe(head);
  expect((await run('pause', 'https://twice.example:8443', ...BY)).code).toBe(EXIT.ok);
});

it('pauses a host before its first callback if it is named completely, with a note', async () => {
  world = await openDeliveryWorld({ projections: [deliveries, operatorActs] as never });
  const paused = await run('pause', 'HTTPS://New.example:443/', ...BY);
  expect([paused.code, paused.out]).toEqual([
    EXIT.ok,
    'https://new.example is paused, with 0 open callbacks waiting.\n',
  ]);
  expect(paused.err).toContain('No callback was ever sent to https://new.example');
  await caughtUp();
  // It is known by its pause from then on.
  expect((await run('resume', 'new.example', ...BY)).out).toBe(
    'https://new.example is resumed, with 0 open callbacks.\n',
  );
});

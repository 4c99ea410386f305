/** Given a question before something is done to many, when it is not answered with yes on a terminal, then it is no. */
import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { isConfirmed } from '../../src/cli/confirmation.ts';

async function asked(answer: string | null, { isTTY = true, interactive = true } = {}) {
  const [stdin, stderr] = [Object.assign(new PassThrough(), { isTTY }), new PassThrough()];
  if (answer === null) stdin.end();
  else stdin.write(answer);
  const confirmed = await isConfirmed({ interactive, stdin, stderr }, 'Cancel 2 deliveries?');
  return [confirmed, String(stderr.read() ?? '')];
}

it.each([
  ['y\n', true],
  [' YES \n', true],
  ['n\n', false],
  ['\n', false],
  ['yesterday\n', false],
  [null, false],
])('reads %j as %s', async (answer, confirmed) => {
  const [outcome, shown] = await asked(answer);
  expect(outcome).toBe(confirmed);
  expect(shown).toContain('Cancel 2 deliveries? [y/N]');
});

it('asks nothing without a terminal', async () => {
  expect(await asked('y\n', { isTTY: false })).toEqual([false, '']);
  expect(await asked('y\n', { interactive: false })).toEqual([false, '']);
});

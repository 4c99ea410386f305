/** Given a wallet, when an operator bans or unbans it, then a change is recorded once, with who and why. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { EXIT } from '../../../src/cli/command.ts';
import { createWalletsCommand } from '../../../src/cli/wallets/wallets.ts';
import { operatorStream, walletSubject } from '../../../src/events/operator.ts';
import { WALLETS, wallets } from '../../../src/projections/wallets.ts';
import { openTestStorage, type TestStorage } from '../../support/storage.ts';
import { runCommand } from '../acting.ts';

const SEEN = '7dNXsDvC6xJ6XG7VdeRoW94yN7xZkJhcaRAxKrHzq7gW';
const UNSEEN = '9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin';
const BY = ['--reason', 'it probes the service', '--by', 'Ann Lee'];

let directory: string;
let storage: TestStorage;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'wallets-ban-'));
  storage = await openTestStorage(directory);
  await storage.readStore.prepare(wallets.name, 1, wallets.collections);
  const write = { collection: WALLETS, id: SEEN, document: { wallet: SEEN }, position: '1' };
  await storage.readStore.commit({ projection: wallets.name, generation: 1, writes: [write], position: '1' });
});
afterEach(async () => {
  await storage.close();
  await rm(directory, { recursive: true, force: true });
});

const run = (...argv: string[]) =>
  runCommand(
    createWalletsCommand(async () => ({ ...storage, close: async () => undefined })),
    'wallets',
    ...argv,
  );
const acts = async (wallet: string) =>
  (await storage.log.read(operatorStream(walletSubject(wallet)))).map(({ type, data }) => [type, data.by, data.reason]);

it('bans and unbans a wallet; a repeated act changes nothing', async () => {
  expect((await run('ban', SEEN, ...BY)).out).toBe(`${SEEN} is banned.\n`);
  expect((await run('ban', SEEN, '--reason', 'again')).out).toContain('was banned already, by Ann Lee');
  expect(JSON.parse((await run('unban', SEEN, '--json', ...BY)).out)).toEqual({
    wallet: SEEN,
    changed: true,
    banned: null,
  });
  expect((await run('unban', SEEN, ...BY)).out).toBe(`${SEEN} is not banned.\n`);
  expect(await acts(SEEN)).toEqual([
    ['WalletBanned', 'Ann Lee', 'it probes the service'],
    ['WalletUnbanned', 'Ann Lee', 'it probes the service'],
  ]);
});

it('rejects what is no wallet, no reason, or was never seen', async () => {
  expect(await run('ban', 'nobody', ...BY)).toMatchObject({ code: EXIT.usage });
  expect(await run('ban', SEEN, '--reason', ' ')).toMatchObject({ code: EXIT.usage });
  expect(await run('ban', UNSEEN, ...BY)).toMatchObject({ code: EXIT.found, error: { hint: /--unseen/ } });
  expect([await acts(SEEN), await acts(UNSEEN)]).toEqual([[], []]);
  expect((await run('ban', UNSEEN, '--unseen', ...BY)).code).toBe(EXIT.ok);
});

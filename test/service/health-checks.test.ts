import { open } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { CHECKS_BEFORE_RECOVERY, type HealthWatch, isReady, watchHealth } from '../../src/http/admin/health.ts';
import { DELIVERY_TIMERS } from '../../src/projections/deliveries.ts';
import { MICROS_PER_SECOND, systemClock, toInstant } from '../../src/runtime/instant.ts';
import { openFiles } from '../../src/runtime/open-files.ts';
import {
  alarmsTo,
  type CheckedParts,
  closedFor,
  HEALTH_ADVICE,
  healthChecks,
  openFilesFinding,
} from '../../src/service/health-checks.ts';
import { GENESIS_HASHES } from '../../src/solana/addresses.ts';
import { ChainUnavailable } from '../../src/solana/chain.ts';
import { StorageFailure } from '../../src/storage/storage-failure.ts';

const MEBIBYTE = 1024 * 1024;

/** Checks only these parts of a service. */
function watching(names: readonly string[], parts: Partial<CheckedParts>) {
  const told: object[] = [];
  const tell = (level: string) => (line: object) => told.push({ level, ...line });
  const checks = healthChecks(parts as CheckedParts);
  const watch: HealthWatch = watchHealth({
    checks: Object.fromEntries(Object.entries(checks).filter(([name]) => names.includes(name))),
    advice: HEALTH_ADVICE,
    clock: systemClock,
    everyMs: 60_000,
    timeoutMs: 100,
    onChange: alarmsTo({ info: tell('info'), warn: tell('warn'), error: tell('error') }),
  });
  return { watch, told };
}

describe('the disk', () => {
  it('raises an alarm when space runs low, and takes the node out of service before it is full', async () => {
    let free: number | null = 64 * MEBIBYTE;
    const { watch, told } = watching(['disk'], { freeBytes: async () => free });
    const look = async (bytes: number | null) => {
      free = bytes;
      await watch.refresh();
      return watch.health().disk;
    };
    try {
      expect(await look(64 * MEBIBYTE)).toMatchObject({ status: 'nominal', reason: null });
      const low = await look(64 * MEBIBYTE - 1);
      expect(low).toMatchObject({ status: 'degraded', code: 'low_disk', hint: expect.stringContaining('Free space') });
      expect(low?.reason).toContain('63 MiB left');
      expect(isReady(watch.health())).toBe(true);
      expect(await look(8 * MEBIBYTE)).toMatchObject({ status: 'degraded' });
      expect(await look(8 * MEBIBYTE - 1)).toMatchObject({ status: 'down', code: 'storage_full' });
      expect(isReady(watch.health())).toBe(false);
      await look(0);
      expect(await look(null)).toMatchObject({ status: 'nominal' });
      for (let more = 2; more <= CHECKS_BEFORE_RECOVERY; more++) await look(null);
      expect(told).toEqual([
        expect.objectContaining({ level: 'warn', alarm: 'disk_degraded', code: 'low_disk' }),
        expect.objectContaining({ level: 'error', alarm: 'disk_down', code: 'storage_full' }),
        expect.objectContaining({ level: 'info', part: 'disk' }),
      ]);
      expect(watch.health().disk).not.toHaveProperty('code');
    } finally {
      watch.stop();
    }
  });

  it('is not checked if the engines are elsewhere', () => {
    expect(healthChecks({} as CheckedParts)).not.toHaveProperty('disk');
  });
});

describe('open files', () => {
  it('raise an alarm above four fifths of the limit, and take the node out of service when hardly any is left', async () => {
    const look = async (open: number, limit = 1000) => {
      const { watch } = watching(['open_files'], { openFiles: async () => ({ open, limit }) });
      await watch.refresh();
      watch.stop();
      return watch.health().open_files;
    };
    expect(await look(799)).toMatchObject({ status: 'nominal' });
    expect(await look(800)).toMatchObject({ status: 'degraded', code: 'few_descriptors' });
    expect(await look(949)).toMatchObject({ status: 'degraded', reason: expect.stringContaining('949 of 1000') });
    expect(await look(950)).toMatchObject({ status: 'down', code: 'no_descriptors' });
  });

  it.runIf(process.platform === 'linux')('are counted correctly', async () => {
    const before = await openFiles();
    const held = await Promise.all(Array.from({ length: 50 }, () => open('/dev/null')));
    const now = await openFiles();
    await Promise.all(held.map((file) => file.close()));
    expect(now?.open).toBeGreaterThanOrEqual((before?.open ?? Number.NaN) + 40);
    expect(now?.limit).toBeGreaterThan(now?.open ?? Number.NaN);
  });

  it('are not reported if unknown', () => {
    expect(openFilesFinding(null).status).toBe('nominal');
  });
});

describe('the chain', () => {
  it('is down while an endpoint serves another network, and says which', async () => {
    let hashes: readonly (string | null)[] = [GENESIS_HASHES.mainnet, null];
    const chain = { genesisHashes: async () => hashes, blockHeight: async () => 1 } as unknown as CheckedParts['chain'];
    const blockhashes = { latest: () => ({}) } as CheckedParts['blockhashes'];
    const { watch } = watching(['chain'], { chain, blockhashes, solanaNetwork: 'mainnet' });
    await watch.refresh();
    expect(watch.health().chain).toMatchObject({ status: 'nominal' });
    hashes = [GENESIS_HASHES.mainnet, GENESIS_HASHES.devnet];
    await watch.refresh();
    expect(watch.health().chain).toMatchObject({
      status: 'down',
      code: 'wrong_chain',
      reason: 'endpoint 2 of 2 serves devnet, but SOLANA_NETWORK is mainnet',
    });
    // Money of another network is worthless: nothing is sold for it.
    expect(closedFor(watch.health(), { areKnown: true })).toMatchObject({
      problem: 'service_unavailable',
      details: { component: 'chain' },
    });
    watch.stop();
  });
});

describe('a node that does not know yet what operators have decided', () => {
  it('is not ready, says why, and sells nothing', async () => {
    let areKnown = false;
    const runner = { status: async () => [] } as unknown as CheckedParts['runner'];
    const acts = {
      get areKnown() {
        return areKnown;
      },
    };
    const { watch } = watching(['projections'], { runner, acts });
    try {
      await watch.refresh();
      expect(watch.health().projections).toMatchObject({ status: 'down', code: 'operator_acts_unread' });
      expect(closedFor({}, acts)).toMatchObject({ problem: 'service_unavailable' });
      areKnown = true;
      await watch.refresh();
      expect(isReady(watch.health())).toBe(true);
      expect(closedFor(watch.health(), acts)).toBeNull();
    } finally {
      watch.stop();
    }
  });
});

describe('a storage component that fails', () => {
  it('is down, with the code of its failure and a hint', async () => {
    let failure: Error | null = new StorageFailure('storage_read_only', 'EROFS: read-only file system');
    const log = {
      async check() {
        if (failure) throw failure;
      },
    } as CheckedParts['log'];
    const { watch, told } = watching(['event_log'], { log });
    try {
      await watch.refresh();
      expect(watch.health().event_log).toMatchObject({
        status: 'down',
        code: 'storage_read_only',
        reason: 'EROFS: read-only file system',
        hint: expect.stringContaining('writable'),
      });
      expect(told).toEqual([expect.objectContaining({ level: 'error', alarm: 'event_log_down' })]);
      failure = new Error('broken');
      await watch.refresh();
      expect(watch.health().event_log).toMatchObject({ status: 'down', reason: 'broken' });
      expect(watch.health().event_log).toMatchObject({ code: 'storage_unavailable', hint: expect.any(String) });
      failure = null;
      await watch.refresh();
      expect(isReady(watch.health())).toBe(true);
    } finally {
      watch.stop();
    }
  });
});

describe('what payments need', () => {
  const receiver = {
    payTo: '7dNXsDvC6xJ6XG7VdeRoW94yN7xZkJhcaRAxKrHzq7gW',
    feePayer: '9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin',
    mint: '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU',
  };
  const holding = (lamports: bigint, tokens: object | null) => ({
    blockHeight: async () => 1,
    balance: async () => lamports,
    tokenBalance: async () => tokens,
  });
  const failing = (fail: () => Promise<never>) => ({ blockHeight: fail, balance: fail, tokenBalance: fail });
  const silent = failing(() => new Promise<never>(() => {}));
  const gone = failing(async () => {
    throw new ChainUnavailable('no endpoint answers');
  });
  const SOL = 1_000_000_000n;

  it.each([
    ['chain', 'does not answer', silent, 'down', 'chain_unreachable', 'SOLANA_RPC_URL'],
    ['chain', 'cannot be reached', gone, 'down', 'chain_unreachable', 'SOLANA_RPC_URL'],
    ['chain', 'gave no blockhash', holding(SOL, {}), 'down', 'chain_unreachable', 'SOLANA_RPC_URL'],
    ['payment_receiver', 'does not answer', silent, 'down', 'chain_unreachable', 'SOLANA_RPC_URL'],
    ['payment_receiver', 'has no SOL', holding(0n, {}), 'down', 'fee_payer_empty', receiver.feePayer],
    ['payment_receiver', 'has little SOL', holding(SOL / 100n, {}), 'degraded', 'fee_payer_low', receiver.feePayer],
    ['payment_receiver', 'cannot be paid', holding(SOL, null), 'down', 'token_account_missing', receiver.payTo],
  ])('gives a hint for %s, which %s', async (part, _, chain, status, code, hint) => {
    const blockhashes = { latest: () => null };
    const { watch, told } = watching([part], { chain, receiver, blockhashes } as unknown as CheckedParts);
    try {
      await watch.refresh();
      expect(watch.health()[part]).toMatchObject({ status, code, hint: expect.stringContaining(hint) });
      expect(told).toEqual([expect.objectContaining({ alarm: `${part}_${status}`, code })]);
    } finally {
      watch.stop();
    }
  });
});

describe('every part', () => {
  const now = systemClock.now();
  /** A read store in which every collection holds this document. */
  const holding = (document: object) => ({ find: async () => [{ id: 'one', position: '1', document }] });
  const timer = { partition: 0, dueAt: toInstant(now - 301 * MICROS_PER_SECOND), origin: 'https://a.example' };
  const lagging = { projection: 'cases', state: 'running', halt: null, secondsBehind: 6 };

  it.each([
    ['callbacks', { clock: systemClock, readStore: late() }, 'callbacks_overdue', 'docket status'],
    [
      'signing_keys',
      { readStore: holding({ masterVersion: 7 }), masterKeys: { versions: [8] } },
      'master_key_missing',
      'MASTER_KEY',
    ],
    ['projections', { runner: { status: async () => [lagging] } }, 'projections_behind', 'status'],
  ])('that is degraded says why, with a code and what to do: %s', async (part, parts, code, hint) => {
    const { watch } = watching([part], parts as unknown as CheckedParts);
    await watch.refresh();
    watch.stop();
    const found = { status: 'degraded', reason: expect.any(String), code, hint: expect.stringContaining(hint) };
    expect(watch.health()[part]).toMatchObject(found);
  });

  it('names the very command that ends a halt', async () => {
    const halt = { position: '4711', stream: 'docket-a', revision: 3, type: 'FilingsRecorded', error: 'no', at: 'now' };
    const halted = { ...lagging, state: 'halted', halt };
    const parts = { runner: { status: async () => [halted] } } as unknown as CheckedParts;
    const { watch } = watching(['projections'], parts);
    await watch.refresh();
    watch.stop();
    expect(watch.health().projections).toMatchObject({
      status: 'down',
      code: 'projection_halted',
      hint: expect.stringContaining('docket projections skip cases --position 4711 --reason "…"'),
    });
  });

  it('whose check has no answer has a code and a hint, too', async () => {
    const checks = Object.keys(
      healthChecks({ freeBytes: async () => 1, openFiles: async () => null } as unknown as CheckedParts),
    );
    const watch = watchHealth({
      checks: Object.fromEntries(checks.map((part) => [part, () => new Promise<never>(() => undefined)])),
      advice: HEALTH_ADVICE,
      clock: systemClock,
      everyMs: 60_000,
      timeoutMs: 1,
    });
    await watch.refresh();
    watch.stop();
    for (const part of checks) {
      expect(watch.health()[part], part).toMatchObject({
        status: 'down',
        code: expect.any(String),
        hint: expect.any(String),
      });
    }
  });

  /** No host is paused, and one callback is late. */
  function late() {
    return {
      find: async ({ collection }: { readonly collection: string }) =>
        collection === DELIVERY_TIMERS ? [{ id: 'one', position: '1', document: timer }] : [],
    };
  }
});

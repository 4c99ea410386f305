/** Given what was read, when docket status writes it, then an operator sees what is wrong first, and what to do. */
import { describe, expect, it } from 'vitest';
import { statusRows } from '../../../src/cli/status/lines.ts';
import { ownedText } from '../../../src/cli/status/nodes.ts';
import type { StatusSnapshot } from '../../../src/cli/status/snapshot.ts';
import { bytes, linesOf, seconds } from '../../../src/cli/status/text.ts';
import type { CallbackHost } from '../../../src/queries/callback-hosts.ts';
import type { StorageStatus } from '../../../src/queries/status.ts';
import type { KeptAlarm } from '../../../src/queries/status-alarms.ts';
import type { NodeStanding } from '../../../src/queries/status-nodes.ts';
import { toInstant } from '../../../src/runtime/instant.ts';

const NOW = 1_780_000_000_000_000;
const ago = (secondsAgo: number) => toInstant(NOW - secondsAgo * 1_000_000);

const NODE: NodeStanding = {
  owner: 'one/17/1/a',
  host: 'one',
  pid: 17,
  version: '2.0.1',
  startedAt: ago(7_200),
  url: 'https://dockets.example',
  adminUrl: 'http://127.0.0.1:8403',
  parts: {},
  sample: null,
  feePayer: null,
  state: 'running',
  lastSeen: ago(3),
  leases: ['callbacks/0', 'callbacks/1', 'callbacks/7', 'payment-recovery', 'projection/cases'],
};

const report = (projection: string, more: object = {}) => ({
  projection,
  active: {
    generation: 1,
    position: '00000000000000000040',
    folded: 40,
    eventsBehind: 0,
    secondsBehind: 0,
    lastProgressAt: ago(2),
    halt: null,
    documents: null,
    ...more,
  },
  previous: null,
  building: null,
});

const STORAGE: StorageStatus = {
  log: { position: '00000000000000000042', rate: { events: 744, seconds: 60, more: false } },
  projections: [report('cases'), report('payments')],
  callbacks: { open: 14, due: 0, overdue: 0, oldestOverdueSeconds: 0, hosts: [], moreHosts: false },
  sources: [],
  payments: { inFlight: 2, pending: 0, oldestSubmittedAt: ago(4), confirming: 3, inDoubt: 0 },
  money: {
    day: '2026-05-28',
    answers: 1_204,
    payments: 900,
    usdc: 1_191_960_000n,
    spend: { lamports: 9_000_000n, since: NOW - 86_400_000_000 },
    complete: true,
  },
  nodes: { nodes: [NODE], others: [] },
  alarms: [],
};

const part = (name: string, more: object = {}) => ({
  part: name,
  node: 'one',
  status: 'nominal' as const,
  since: ago(3_600),
  reason: null,
  ...more,
});

const HEALTHY: StatusSnapshot = {
  at: toInstant(NOW),
  ok: true,
  engines: 'SQLite in ./data',
  service: 'running',
  parts: [part('event_log'), part('chain')],
  storage: STORAGE,
  feePayer: { address: 'FEEPAYER', lamports: '1200000000', at: ago(1), lamportsPerDay: 50_000_000n, days: 24.3 },
  freeBytes: 13_314_398_618,
};

const shown = (more: Partial<StatusSnapshot>, width = Number.POSITIVE_INFINITY) =>
  linesOf(statusRows({ ...HEALTHY, ...more }), width);
const withStorage = (more: Partial<StorageStatus>) => shown({ storage: { ...STORAGE, ...more } });

describe('docket status', () => {
  it('shows a healthy service in a dozen lines', () => {
    expect(shown({})).toEqual([
      'status       2026-05-28 20:26:40 UTC, SQLite in ./data',
      'service      running, 1 node: 2 parts nominal, 0 degraded, 0 down',
      'log          position 42; 12 events/s in the last 60 s',
      'projections  all 2 up to date',
      'payments     2 in flight, 0 pending, the oldest for 4 s; 3 confirmed and not final, 0 given up within the last hour',
      'callbacks    14 open, 0 due; 0 overdue by 5 min or more',
      'today        1191.96 USDC for 1,204 answers since 00:00 UTC',
      'fee payer    1.2 SOL, lasts 24 days at 0.05 SOL a day; FEEPAYER',
      'disk         12 GiB free',
      'nodes        one process 17, version 2.0.1, https://dockets.example, up for 2 h',
      '               owns callbacks 0-1, 7; projections cases; payment-recovery',
      'alarms       none in the last 7 days',
    ]);
  });

  it('shows what is down before what is degraded, with its node, reason, code and hint', () => {
    const lines = shown({
      parts: [
        part('chain', { status: 'degraded', reason: 'slow', node: 'two' }),
        part('disk', { status: 'down', reason: '3 MiB left', code: 'storage_full', hint: 'Free space.' }),
        part('event_log'),
      ],
    });
    expect(lines.slice(1, 5)).toEqual([
      'service      running, 2 nodes: 1 part nominal, 1 degraded, 1 down',
      '             DOWN disk on one: 3 MiB left (storage_full, for 60 min)',
      '               Free space.',
      '             DEGRADED chain on two: slow (for 60 min)',
    ]);
  });

  it('says that no service runs, and shows what the storage holds', () => {
    const lines = shown({ service: 'stopped', parts: [] });
    expect(lines[1]).toMatch(/^service +not running; what follows is read from the storage. Start it: docket serve$/);
    expect(lines).toContain('today        1191.96 USDC for 1,204 answers since 00:00 UTC');
    expect(shown({ service: 'elsewhere', parts: [] })[1]).toContain('another DATA_DIR');
  });

  it('names the projections that lag, and for a halted one the event and the command that skips it', () => {
    const halt = {
      position: '00000000000000000041',
      stream: 'case-cand-1',
      revision: 3,
      type: 'DocketObserved',
      error: 'unknown source',
      at: ago(60),
    };
    const lines = withStorage({
      projections: [
        report('cases', { eventsBehind: 1_000_000, secondsBehind: 300, lastProgressAt: ago(1), halt }),
        report('payments', { eventsBehind: 12, secondsBehind: 1.4 }),
        report('wallets'),
      ],
    });
    expect(lines.slice(3, 7)).toEqual([
      'projections  1 of 3 up to date',
      '             cases     HALTED at position 41, DocketObserved 3 of case-cand-1: unknown source; 1,000,000+ events and 5 min behind',
      '               Correct the cause, or skip the event: docket projections skip cases --position 00000000000000000041 --reason "…"',
      '             payments  12 events and 1 s behind, moved 2 s ago',
    ]);
  });

  it('lists the hosts of callbacks: paused ones with who and why, others with their last outcome', () => {
    const host = (origin: string, more: Partial<CallbackHost> = {}): CallbackHost => ({
      origin,
      open: 5,
      due: 2,
      overdue: 1,
      oldestDueAt: ago(400),
      lastOutcome: null,
      acknowledged: 0,
      unsuccessful: 0,
      paused: null,
      ...more,
    });
    const lines = withStorage({
      callbacks: {
        open: 100_000,
        due: 2,
        overdue: 1,
        oldestOverdueSeconds: 400,
        hosts: [
          host('https://a.example', { paused: { since: ago(600), by: 'Ann Lee', reason: 'they move' } }),
          host('https://b.example', {
            lastOutcome: { at: ago(30), failureClass: 'http_5xx' as never, responseCode: 503 },
          }),
        ],
        moreHosts: true,
      },
    });
    expect(lines.slice(5, 9)).toEqual([
      'callbacks    100,000+ open, 2 due, the oldest for 7 min; 1 overdue by 5 min or more',
      '             https://a.example  PAUSED for 10 min by Ann Lee (they move); 5 open, 2 due, 1 overdue',
      '             https://b.example  5 open, 2 due, 1 overdue; last http_5xx 503 30 s ago',
      '             and more hosts: docket hosts list',
    ]);
  });

  it('shows the newest alarms, equal ones once with their number', () => {
    const alarm = (name: string, more: Partial<KeptAlarm> = {}): KeptAlarm => ({
      name,
      host: 'one',
      pid: 17,
      level: 'error',
      count: 1,
      first: ago(120),
      last: ago(120),
      message: 'a message',
      details: {},
      ...more,
    });
    const many = Array.from({ length: 8 }, (_, index) => alarm(`alarm_${index}`));
    const lines = withStorage({
      alarms: [alarm('disk_down', { count: 1_250, first: ago(3_600), details: { reason: 'full' } }), ...many],
    });
    expect(lines.slice(-9)).toEqual([
      'alarms       disk_down 2 min ago on one, 1,250 times in 58 min: full',
      ...Array.from({ length: 7 }, (_, index) => `             alarm_${index} 2 min ago on one: a message`),
      '             and 1 more: --json shows all',
    ]);
  });

  it('distinguishes silent and dead nodes from running ones, and names other processes', () => {
    const lines = withStorage({
      nodes: {
        nodes: [
          { ...NODE, state: 'dead', leases: [] },
          { ...NODE, host: 'two', state: 'silent', lastSeen: ago(90), leases: ['payment-recovery'] },
        ],
        others: [{ name: 'copy', owner: 'three/9/1/b', expiresAt: ago(-10) }],
      },
    });
    expect(lines.slice(9, 13)).toEqual([
      'nodes        one process 17, version 2.0.1, https://dockets.example, DEAD: it ended without a stop, last seen 3 s ago',
      '             two process 17, version 2.0.1, https://dockets.example, SILENT, last seen 90 s ago',
      '               owns payment-recovery',
      '             three process 9, no node of this version: owns copy',
    ]);
  });

  it('shows each source that was used: works, fails or is paused, and where it has trouble', () => {
    const working = {
      standing: 'working',
      why: null,
      paused: null,
      lastSuccessAt: ago(12),
      courtsInTrouble: 0,
    } as const;
    const paused = { since: ago(7_200), by: 'Ann Lee', reason: 'ticket 4711' };
    const lines = withStorage({
      sources: [
        { ...working, source: 'courtlistener', standing: 'failing', why: 'timeout', lastSuccessAt: null },
        { ...working, source: 'rss', courtsInTrouble: 2 },
        { ...working, source: 'scotus', paused },
      ],
    });
    expect(lines).toEqual(
      expect.arrayContaining([
        'sources      courtlistener  FAILING: timeout, no success yet',
        '             rss  working, last entry 12 s ago; 2 courts in trouble: docket sources show rss',
        '             scotus  PAUSED for 2 h by Ann Lee (ticket 4711), last success 12 s ago',
      ]),
    );
  });

  it('shows everything else if one section cannot be read, with the reason and what to do', () => {
    const lines = withStorage({ callbacks: { unreadable: 'no answer within 5000 ms' } });
    expect(lines).toContain('callbacks    cannot be read: no answer within 5000 ms');
    expect(lines).toHaveLength(12);
    const without = shown({
      service: 'stopped',
      parts: [],
      storage: { unreadable: 'the engine is gone', hint: 'Start it.' },
      feePayer: { unreadable: 'no endpoint answers' },
    });
    expect(without.slice(1)).toEqual([
      'service      none answers at ADMIN_PORT; nodes elsewhere cannot be seen without the storage',
      'storage      cannot be read: the engine is gone',
      '               Start it.',
      'fee payer    cannot be read: no endpoint answers',
      'disk         12 GiB free',
    ]);
  });

  it('shows an old balance as old, and no estimate where nothing was spent or nothing is known', () => {
    const feePayer = { address: 'F', lamports: '5000', at: ago(600), lamportsPerDay: 0n, days: null };
    expect(shown({ feePayer })).toContain('fee payer    0.000005 SOL (read 10 min ago), nothing spent in 7 days; F');
    const unknown = shown({ feePayer: { ...feePayer, lamportsPerDay: null } });
    expect(unknown).toContain('fee payer    0.000005 SOL (read 10 min ago), how long it lasts is unknown; F');
  });

  it('calls money incomplete while its read model is behind the log, and possibly so while that is unknown', () => {
    const money = (complete: boolean | null) =>
      withStorage({ money: { ...STORAGE.money, complete } as StorageStatus['money'] }).find((line) =>
        line.startsWith('today'),
      );
    expect(money(false)).toContain('; INCOMPLETE: the read model revenue is behind the log');
    expect(money(null)).toContain('; possibly INCOMPLETE: whether');
    expect(money(true)).not.toContain('INCOMPLETE');
  });

  it('shows a log that grows faster than is counted, one that is empty, and one without a node', () => {
    const text = (log: StorageStatus['log']) => withStorage({ log })[2];
    expect(text({ position: '7', rate: { events: 10_000, seconds: 60, more: true } })).toBe(
      'log          position 7; more than 167 events/s in the last 60 s',
    );
    const onEngines = '00000000000000000531/00000000000000000531';
    expect(text({ position: onEngines, rate: null })).toContain('position 531; ');
    expect(text({ position: null, rate: null })).toBe('log          empty');
    expect(text({ position: '7', rate: null })).toBe('log          position 7; the rate is known while a node runs');
  });
});

describe('lines', () => {
  it('fit the terminal: they break between words, and keep their indent', () => {
    const lines = shown(
      { parts: [part('disk', { status: 'down', reason: 'low', hint: 'Free space on it now.' })] },
      40,
    );
    expect(lines.every((line) => line.length <= 40 || !line.trim().includes(' '))).toBe(true);
    expect(lines.join(' ').replaceAll(/ +/g, ' ')).toContain('Free space on it now.');
  });

  it('show characters that a terminal would obey as escapes', () => {
    const [line] = linesOf([{ label: 'alarms', text: 'a\u001B[2Jb\nc' }], 80);
    expect(line).toBe('alarms       a\\u001b[2Jb c');
  });

  it('have units that an operator reads at a glance', () => {
    expect([0, 119, 120, 7_199, 7_200, 172_800].map(seconds)).toEqual([
      '0 s',
      '119 s',
      '2 min',
      '120 min',
      '2 h',
      '2 days',
    ]);
    expect([0, 1_023, 1_024, 5_000_000, 13_314_398_618].map(bytes)).toEqual([
      '0 bytes',
      '1023 bytes',
      '1.0 KiB',
      '4.8 MiB',
      '12 GiB',
    ]);
    expect(ownedText(['projection/a@1', 'projection/b@2', 'projection/b@3'])).toBe('projections a, b@2, b@3');
    expect(ownedText(['callbacks/10', 'callbacks/9', 'x', 'projection/b', 'projection/a'])).toBe(
      'callbacks 9-10; projections a, b; x',
    );
  });
});

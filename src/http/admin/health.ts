/** Whether the parts of the service work, for `/readyz` and for the health in `GET /v2/status`. */
import { type Clock, type Instant, toInstant } from '../../runtime/instant.ts';

/** `down` takes the node out of service; `degraded` asks an operator to look. */
export const PART_STATUSES = ['nominal', 'degraded', 'down'] as const;
export type PartStatus = (typeof PART_STATUSES)[number];

export interface PartHealth {
  readonly status: PartStatus;
  /** When the part entered this status. */
  readonly since: Instant;
  /** For operators: shown by `/readyz`, never to callers. Null for a nominal part. */
  readonly reason: string | null;
  /** Code of a known kind of failure, e.g. `storage_full`. */
  readonly code?: string;
  /** What an operator can do. */
  readonly hint?: string;
}

/** By the part's name, e.g. `event_log`. */
export type Health = Readonly<Record<string, PartHealth>>;

export type OperationalStatus = 'nominal' | 'degraded' | 'maintenance' | 'incident';

export const isReady = (health: Health): boolean => Object.values(health).every(({ status }) => status !== 'down');

/** The status of the whole service (docs/design/interface.md#4.4). */
export function operationalStatus(health: Health): OperationalStatus {
  if (!isReady(health)) return 'incident';
  return Object.values(health).some(({ status }) => status === 'degraded') ? 'degraded' : 'nominal';
}

/** The result of one check. */
export type Finding = Omit<PartHealth, 'since'>;

export const NOMINAL: Finding = { status: 'nominal', reason: null };

/** Checks a part. If it throws or times out, the part is down for that reason. */
export type Check = () => Promise<Finding> | Finding;

/** Code and hint for a part whose check fails. */
export type Advice = Required<Pick<PartHealth, 'code' | 'hint'>>;

export interface HealthWatch {
  health(): Health;
  /** Checks every part now; resolves once all have answered. */
  refresh(): Promise<void>;
  stop(): void;
}

export interface HealthWatchOptions {
  readonly checks: Readonly<Record<string, Check>>;
  /** By the part's name; used if its check throws or times out. */
  readonly advice?: Readonly<Record<string, Advice>>;
  readonly clock: Clock;
  readonly everyMs?: number;
  readonly timeoutMs?: number;
  /** Called at once when a part gets worse than last reported, and when it has stayed better for a while. */
  readonly onChange?: (name: string, health: PartHealth) => void;
}

/** The reason of a part that has not been checked yet. */
export const STARTING = 'starting';

/** Checks every part repeatedly. Until its first check a part is down, with the reason "starting". */
export function watchHealth({
  checks,
  advice = {},
  clock,
  everyMs = 2_000,
  timeoutMs = 5_000,
  onChange,
}: HealthWatchOptions): HealthWatch {
  const start = toInstant(clock.now());
  const parts = new Map<string, PartHealth>(
    Object.keys(checks).map((name) => [name, { status: 'down', since: start, reason: STARTING }]),
  );
  const reporters = new Map(Object.keys(checks).map((name) => [name, new HealthReporter()]));
  let current: Health = Object.fromEntries(parts);
  let looking: Promise<void> | null = null;

  const look = async (name: string, check: Check): Promise<void> => {
    const finding = await withinTime(check, timeoutMs, advice[name]);
    const { status, reason, code, hint } = finding;
    const before = parts.get(name);
    const since = before?.status === status ? before.since : toInstant(clock.now());
    const health: PartHealth = { ...finding, since };
    if (before?.status !== status || before.reason !== reason || before.code !== code || before.hint !== hint) {
      parts.set(name, health);
      current = Object.fromEntries(parts);
    }
    if (reporters.get(name)?.shouldReport(status)) onChange?.(name, health);
  };
  const refresh = (): Promise<void> => {
    looking ??= Promise.all(Object.entries(checks).map(([name, check]) => look(name, check)))
      .then(() => {})
      .finally(() => {
        looking = null;
      });
    return looking;
  };
  const timer = setInterval(refresh, everyMs);
  timer.unref();
  return { health: () => current, refresh, stop: () => clearInterval(timer) };
}

async function withinTime(check: Check, timeoutMs: number, advice?: Advice): Promise<Finding> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Finding>((resolve) => {
    timer = setTimeout(
      () => resolve({ status: 'down', reason: `no answer within ${timeoutMs} ms`, ...advice }),
      timeoutMs,
    );
  });
  try {
    return await Promise.race([Promise.resolve().then(check), late]);
  } catch (error) {
    return {
      status: 'down',
      reason: error instanceof Error ? error.message : String(error),
      ...(adviceOf(error) ?? advice),
    };
  } finally {
    clearTimeout(timer);
  }
}

/** The code and hint that an error carries itself; null if it has none. */
function adviceOf(error: unknown): Advice | null {
  const { code, hint } = (error ?? {}) as Partial<Record<keyof Advice, unknown>>;
  return typeof code === 'string' && typeof hint === 'string' ? { code, hint } : null;
}

const BADNESS: Readonly<Record<PartStatus, number>> = { nominal: 0, degraded: 1, down: 2 };

/** Consecutive better checks before an improvement is reported: one minute at one check every two seconds. */
export const CHECKS_BEFORE_RECOVERY = 30;

/**
 * Decides which changes of a part to report: a worse status at once, a better one only after it has lasted. So a part
 * that flaps, such as a disk that is just about full, is reported once.
 */
export class HealthReporter {
  /** The status last reported. It starts as nominal, which needs no report. */
  #reported: PartStatus = 'nominal';
  /** The worst status found since the part became better than reported; null while it is not better. */
  #worst: PartStatus | null = null;
  /** Consecutive checks that found the part better than reported, and better than that worst status. */
  #betterThanReported = 0;
  #betterThanWorst = 0;

  /** Whether to report the result of a check. Call it after each check. */
  shouldReport(found: PartStatus): boolean {
    if (BADNESS[found] >= BADNESS[this.#reported]) {
      const isWorse = found !== this.#reported;
      this.#report(found);
      return isWorse;
    }
    this.#betterThanReported++;
    if (this.#worst !== null && BADNESS[found] < BADNESS[this.#worst]) this.#betterThanWorst++;
    else {
      this.#worst = found;
      this.#betterThanWorst = 0;
    }
    const checks = found === this.#worst ? this.#betterThanReported : this.#betterThanWorst;
    if (checks < CHECKS_BEFORE_RECOVERY) return false;
    this.#report(found);
    return true;
  }

  #report(status: PartStatus): void {
    this.#reported = status;
    this.#worst = null;
    this.#betterThanReported = 0;
    this.#betterThanWorst = 0;
  }
}

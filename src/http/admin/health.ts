/** Whether the service's parts do their work: for `/readyz` and for the health in `GET /v2/status`. */
import { type Clock, type Instant, toInstant } from '../../runtime/instant.ts';

/** `down` takes the node out of service; `degraded` is for people to look at. */
export type PartStatus = 'nominal' | 'degraded' | 'down';

export interface PartHealth {
  readonly status: PartStatus;
  /** Since when it is so. */
  readonly since: Instant;
  /** For operators: `/readyz` shows it, callers never see it. Null where all is well. */
  readonly reason: string | null;
  /** What kind of trouble it is, e.g. `storage_full`, where it is one that is known. */
  readonly code?: string;
  /** What an operator can do about it. */
  readonly hint?: string;
}

/** By the part's name, e.g. `event_log`. */
export type Health = Readonly<Record<string, PartHealth>>;

export type OperationalStatus = 'nominal' | 'degraded' | 'maintenance' | 'incident';

export const isReady = (health: Health): boolean => Object.values(health).every(({ status }) => status !== 'down');

/** One word for the whole (docs/design/interface.md#4.4). */
export function operationalStatus(health: Health): OperationalStatus {
  if (!isReady(health)) return 'incident';
  return Object.values(health).some(({ status }) => status === 'degraded') ? 'degraded' : 'nominal';
}

/** What a look at a part found. */
export type Finding = Omit<PartHealth, 'since'>;

export const NOMINAL: Finding = { status: 'nominal', reason: null };

/** Looks at a part; one that throws, or takes too long, is down for that reason. */
export type Check = () => Promise<Finding> | Finding;

/** Of a part that cannot be looked at, whatever the reason: what kind of trouble that is, and what to do about it. */
export type Advice = Required<Pick<PartHealth, 'code' | 'hint'>>;

export interface HealthWatch {
  health(): Health;
  /** Looks at every part now; resolves once all have answered. */
  refresh(): Promise<void>;
  stop(): void;
}

export interface HealthWatchOptions {
  readonly checks: Readonly<Record<string, Check>>;
  /** By the part's name; for one whose check throws or takes too long. */
  readonly advice?: Readonly<Record<string, Advice>>;
  readonly clock: Clock;
  readonly everyMs?: number;
  readonly timeoutMs?: number;
  /** Told at once that a part is worse than was told before, and that it is better once it has stayed so. */
  readonly onChange?: (name: string, health: PartHealth) => void;
}

/** The reason of a part that has not been looked at yet. */
export const STARTING = 'starting';

/** Looks at every part again and again. Until its first look a part is down: starting. */
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
  const news = new Map(Object.keys(checks).map((name) => [name, new HealthNews()]));
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
    if (news.get(name)?.isNews(status)) onChange?.(name, health);
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

/** Errors that know what they are, and what to do about them, say so themselves. */
function adviceOf(error: unknown): Advice | null {
  const { code, hint } = (error ?? {}) as Partial<Record<keyof Advice, unknown>>;
  return typeof code === 'string' && typeof hint === 'string' ? { code, hint } : null;
}

const BADNESS: Readonly<Record<PartStatus, number>> = { nominal: 0, degraded: 1, down: 2 };

/** So many looks in a row have found a part better before that is told: a minute, where one is taken each two seconds. */
export const LOOKS_TO_TELL_BETTER = 30;

/**
 * Which changes of a part operators are told of: at once that it is worse than they know, and that it is better only
 * when it has stayed so. A part that goes back and forth, as a disk does that is just full enough, is told of once.
 */
export class HealthNews {
  /** What operators know; that all is well they take for granted. */
  #told: PartStatus = 'nominal';
  /** The worst that was found since it is better than that; null while it is not. */
  #worst: PartStatus | null = null;
  /** How many looks in a row found it better than was told, and better than that worst too. */
  #betterThanTold = 0;
  #betterThanWorst = 0;

  /** Whether what a look has found is to be told. To be asked after each look. */
  isNews(found: PartStatus): boolean {
    if (BADNESS[found] >= BADNESS[this.#told]) {
      const isWorse = found !== this.#told;
      this.#tell(found);
      return isWorse;
    }
    this.#betterThanTold++;
    if (this.#worst !== null && BADNESS[found] < BADNESS[this.#worst]) this.#betterThanWorst++;
    else {
      this.#worst = found;
      this.#betterThanWorst = 0;
    }
    const looks = found === this.#worst ? this.#betterThanTold : this.#betterThanWorst;
    if (looks < LOOKS_TO_TELL_BETTER) return false;
    this.#tell(found);
    return true;
  }

  #tell(status: PartStatus): void {
    this.#told = status;
    this.#worst = null;
    this.#betterThanTold = 0;
    this.#betterThanWorst = 0;
  }
}

/**
 * Blockhashes that were neither offered nor seen here. Only the chain knows whether such a blockhash is valid, and
 * anyone can invent one. So each is asked about once for all payments that contain it, before any other check on the
 * chain. These calls have a budget over all nodes, and a client that sent invented blockhashes gets none for a while.
 */
import { type Problem, problem } from '../../errors.ts';
import { type Clock, MICROS_PER_SECOND } from '../../runtime/instant.ts';
import { remember } from '../../runtime/remember.ts';
import type { ReadStore } from '../../storage/read-store.ts';

/** A cluster produces two or three blockhashes per second, so honest clients need fewer calls than this. */
export const UNKNOWN_BLOCKHASHES_PER_SECOND = 10;
/** Invented blockhashes per client and minute. */
export const INVENTED_PER_MINUTE = 10;

const COUNTER = 'unknown-blockhashes';
const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
/** How long an answer is cached: a valid blockhash expires, and an endpoint that is behind catches up. */
const GOOD_MS = 5 * SECOND_MS;
const BAD_MS = SECOND_MS;
const MOST_REMEMBERED = 10_000;

export interface UnknownBlockhashPorts {
  readonly readStore: Pick<ReadStore, 'increment'>;
  readonly clock: Clock;
  /** Calls per second, over all nodes. */
  readonly unknownBlockhashesPerSecond?: number | undefined;
}

interface Asked<Life> {
  readonly at: number;
  readonly answer: Promise<Life | Problem>;
  good: boolean;
}

interface Inventions {
  count: number;
  readonly endsAt: number;
}

export class UnknownBlockhashes<Life extends object> {
  readonly #ports: UnknownBlockhashPorts;
  readonly #asked = new Map<string, Asked<Life>>();
  readonly #inventions = new Map<string, Inventions>();

  constructor(ports: UnknownBlockhashPorts) {
    this.#ports = ports;
  }

  /**
   * What the chain knows about a blockhash; concurrent calls share one request.
   * @param client the client that caused the call; null if unknown
   * @param ask returns null for a blockhash that the chain does not know
   * @param invented the problem for a blockhash that the chain does not know
   */
  async life(
    blockhash: string,
    client: string | null,
    ask: () => Promise<Life | Problem | null>,
    invented: Problem,
  ): Promise<Life | Problem> {
    const now = performance.now();
    const before = this.#asked.get(blockhash);
    if (before && now - before.at < (before.good ? GOOD_MS : BAD_MS)) return before.answer;
    const tooMany = this.#tooManyInventions(client, now);
    if (tooMany) return tooMany;
    const entry: Asked<Life> = {
      at: now,
      good: true,
      answer: this.#ask(client, ask, invented, () => (entry.good = false)),
    };
    remember(this.#asked, blockhash, entry, MOST_REMEMBERED);
    return entry.answer;
  }

  async #ask(
    client: string | null,
    ask: () => Promise<Life | Problem | null>,
    invented: Problem,
    isBad: () => void,
  ): Promise<Life | Problem> {
    try {
      const spent = await this.#overBudget();
      if (spent) {
        isBad();
        return spent;
      }
      const life = await ask();
      if (life !== null) return life;
      isBad();
      if (client !== null) this.#invented(client);
      return invented;
    } catch (error) {
      isBad();
      throw error;
    }
  }

  #tooManyInventions(client: string | null, now: number): Problem | null {
    const inventions = client === null ? undefined : this.#inventions.get(client);
    if (!inventions || inventions.endsAt <= now || inventions.count < INVENTED_PER_MINUTE) return null;
    return limited(INVENTED_PER_MINUTE, Math.max(1, Math.ceil((inventions.endsAt - now) / SECOND_MS)));
  }

  #invented(client: string): void {
    const now = performance.now();
    const open = this.#inventions.get(client);
    if (open && open.endsAt > now) open.count++;
    else remember(this.#inventions, client, { count: 1, endsAt: now + MINUTE_MS }, MOST_REMEMBERED);
  }

  async #overBudget(): Promise<Problem | null> {
    const { readStore, clock, unknownBlockhashesPerSecond: limit = UNKNOWN_BLOCKHASHES_PER_SECOND } = this.#ports;
    const { allowed } = await readStore.increment(COUNTER, 1, limit, clock.now(), MICROS_PER_SECOND);
    return allowed ? null : limited(limit, 1);
  }
}

export const UNKNOWN_BLOCKHASHES = 'unknown_blockhashes';

const limited = (limit: number, retryAfter: number): Problem =>
  problem(
    'rate_limit_exceeded',
    {
      retry_after: retryAfter,
      limit,
      window: UNKNOWN_BLOCKHASHES,
      hint: 'Sign with the blockhash that the 402 offers (extra.recentBlockhash, recent_blockhash): it is known here and never limited. Nothing was charged.',
    },
    'Too many payments carry a blockhash that this service has not seen.',
  );

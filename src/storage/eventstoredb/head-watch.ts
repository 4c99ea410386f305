/**
 * Tracks the head of the log while it has followers. A filtered subscription reports neither excluded events nor a
 * silent server. This asks for the newest event a few times a second, so that every follower learns of both.
 */
import type { Position } from '../event-log.ts';
import type { Lane } from './client.ts';
import { readHeadOnce } from './stream-reading.ts';

const LOOK_EVERY_MS = 100;

export interface Follower {
  /** Called when the log has grown, or can no longer be queried. */
  notice(): void;
}

export class HeadWatch {
  readonly #lane: Lane;
  readonly #followers = new Set<Follower>();
  #head: Position | null = null;
  #losses = 0;
  #regressions = 0;
  #looking: Promise<void> | null = null;
  #timer: NodeJS.Timeout | null = null;

  constructor(lane: Lane) {
    this.#lane = lane;
  }

  /** Position of the newest known event. */
  get head(): Position | null {
    return this.#head;
  }

  /** How often the event store did not answer. A follower that sees the number change resubscribes. */
  get losses(): number {
    return this.#losses;
  }

  /** How often the newest event was older than the one before: the event store was emptied, restored or replaced. */
  get regressions(): number {
    return this.#regressions;
  }

  /** One of our appends, or another read, has shown that the log reaches this position. */
  reached(position: Position): void {
    if (this.#head !== null && this.#head >= position) return;
    this.#head = position;
    for (const follower of this.#followers) follower.notice();
  }

  follow(follower: Follower): void {
    this.#followers.add(follower);
    this.#lookSoon();
  }

  leave(follower: Follower): void {
    this.#followers.delete(follower);
    if (this.#followers.size > 0 || !this.#timer) return;
    clearTimeout(this.#timer);
    this.#timer = null;
  }

  #lookSoon(): void {
    if (this.#timer || this.#looking || this.#followers.size === 0) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#looking = this.#look().finally(() => {
        this.#looking = null;
        this.#lookSoon();
      });
    }, LOOK_EVERY_MS);
  }

  async #look(): Promise<void> {
    try {
      const known = this.#head;
      const head = await readHeadOnce(this.#lane);
      if (known !== null && (head === null || head < known)) this.#regressions++;
      if (head !== null) this.reached(head);
    } catch {
      this.#losses++;
      for (const follower of this.#followers) follower.notice();
    }
  }
}

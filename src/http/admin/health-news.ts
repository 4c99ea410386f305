/**
 * Which changes of a part operators are told of: at once that it is worse than they know, and that it is better only
 * when it has stayed so. A part that goes back and forth, as a disk does that is just full enough, is told of once.
 */
import type { PartStatus } from './health.ts';

const BADNESS: Readonly<Record<PartStatus, number>> = { nominal: 0, degraded: 1, down: 2 };

/** So many looks in a row have found a part better before that is told: a minute, where one is taken each two seconds. */
export const LOOKS_TO_TELL_BETTER = 30;

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

/**
 * Checks that positions rise, and without gaps where the engine has none. Whether an event was removed shows by its
 * position and by its revision; what one of them has reported, the other does not report again.
 */
import type { Position } from '../../storage/event-log.ts';
import type { Breach, BreachPlace, EventPlace } from '../judging.ts';

/** More are counted, but not explained by each other. */
const MOST_KEPT = 1000;
const MOST_LISTED = 10;

interface Gap {
  /** The position before the first missing one. */
  readonly after: number;
  readonly missing: number;
  /** The event after the gap. */
  readonly next: BreachPlace;
}

/** Revisions that are missing in a stream between two of its positions. */
interface Lack {
  readonly after: number;
  readonly before: number;
  readonly missing: number;
}

export interface PositionsState {
  readonly last: Position | null;
  readonly gaps: readonly Gap[];
  readonly lacks: readonly Lack[];
}

export class Positions {
  readonly #gapless: boolean;
  #last: Position | null = null;
  readonly #gaps: Gap[] = [];
  readonly #lacks: Lack[] = [];

  constructor(gapless: boolean, state: PositionsState | null) {
    this.#gapless = gapless;
    if (!state) return;
    this.#last = state.last;
    this.#gaps.push(...state.gaps);
    this.#lacks.push(...state.lacks);
  }

  /** @returns what is wrong with the position; a gap is reported at the end, by `missing` */
  next({ stream, revision, position }: EventPlace): 'rises' | 'gap' | 'falls' {
    const before = this.#last;
    this.#last = position;
    if (before !== null && position <= before) return 'falls';
    if (!this.#gapless) return 'rises';
    const after = before === null ? 0 : Number(before);
    const missing = Number(position) - after - 1;
    if (missing === 0) return 'rises';
    if (this.#gaps.length < MOST_KEPT) this.#gaps.push({ after, missing, next: { stream, revision, position } });
    return 'gap';
  }

  /** Revisions are missing in a stream between two of its events. */
  lacks(after: Position | null, before: Position, missing: number): void {
    if (!this.#gapless || this.#lacks.length >= MOST_KEPT) return;
    this.#lacks.push({ after: after === null ? 0 : Number(after), before: Number(before), missing });
  }

  /**
   * Missing positions that no missing revision explains: one breach for all of them.
   * @param elsewhere how many events are at positions where none belongs
   */
  missing(elsewhere: number): { readonly breach: Breach; readonly follows: string | null } | null {
    const lacks = this.#lacks.map((lack) => ({ ...lack }));
    const unexplained = this.#gaps.filter((gap) => !explains(lacks, gap));
    const [first] = unexplained.length > 0 ? unexplained : this.#gaps;
    if (!first) return null;
    const listed = unexplained.length > 0 ? unexplained : this.#gaps;
    const total = listed.reduce((sum, { missing }) => sum + missing, 0);
    const ranges = listed.slice(0, MOST_LISTED).map(rangeText).join(', ');
    const more = listed.length > MOST_LISTED ? ', …' : '';
    const found = `${total} missing before this event: ${ranges}${more}`;
    return {
      breach: { rule: 'positions_contiguous', ...first.next, expected: 'positions 1, 2, 3 …', found },
      follows: unexplained.length === 0 ? 'missing revisions' : total <= elsewhere ? 'events at other positions' : null,
    };
  }

  toJson(): PositionsState {
    return { last: this.#last, gaps: this.#gaps, lacks: this.#lacks };
  }
}

/** Takes as many missing revisions from around the gap as positions are missing. */
function explains(lacks: { after: number; before: number; missing: number }[], gap: Gap): boolean {
  let left = gap.missing;
  for (const lack of lacks) {
    if (left === 0) break;
    if (lack.after > gap.after || lack.before <= gap.after) continue;
    const taken = Math.min(left, lack.missing);
    lack.missing -= taken;
    left -= taken;
  }
  return left === 0;
}

const rangeText = ({ after, missing }: Gap): string =>
  missing === 1 ? `${after + 1}` : `${after + 1} to ${after + missing}`;

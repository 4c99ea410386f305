/** Positions that case clocks hold, translated from one log to the same log on another engine. */
import type { JsonObject } from '../events/event.ts';
import type { StoredCell } from '../storage/copies.ts';
import type { Position, RecordedEvent } from '../storage/event-log.ts';
import { CELLS } from './origin.ts';

export class ClockPositions {
  /** Index in the log of the event at a position that some clock holds. */
  readonly #byPosition = new Map<Position, number | null>();
  /** Index of the newest event of each case with such a clock. */
  readonly #newest = new Map<string, number | null>();
  readonly #copied = new Map<number, Position>();
  #wanted: ReadonlySet<number> | null = null;

  static async wantedBy(cells: AsyncIterable<StoredCell>): Promise<ClockPositions> {
    const positions = new ClockPositions();
    for await (const { id, value } of cells) {
      if (typeof value.shown !== 'string') continue;
      positions.#byPosition.set(value.shown, null);
      positions.#newest.set(id.slice(CELLS.length), null);
    }
    return positions;
  }

  /** Notes an event of the original log. */
  note({ stream, position }: RecordedEvent, index: number): void {
    if (this.#byPosition.has(position)) this.#byPosition.set(position, index);
    if (this.#newest.has(stream)) this.#newest.set(stream, index);
  }

  /** Notes where an event is in the copy, after all events of the original were noted. */
  noteCopy(index: number, position: Position): void {
    this.#wanted ??= new Set([...this.#byPosition.values(), ...this.#newest.values()].filter((one) => one !== null));
    if (this.#wanted.has(index)) this.#copied.set(index, position);
  }

  /**
   * The position for a clock of the copy. A clock that is ahead of the copied log has shown events that are not in it:
   * the newest of its case that is takes their place.
   */
  of(id: string, { shown }: JsonObject): Position | null {
    if (typeof shown !== 'string') return null;
    const index = this.#byPosition.get(shown) ?? this.#newest.get(id.slice(CELLS.length)) ?? null;
    return index === null ? null : (this.#copied.get(index) ?? null);
  }
}

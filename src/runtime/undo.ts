/** A stack of cleanup steps, filled as the parts start, so that a failed start leaves nothing behind. */
export class Undo {
  readonly #steps: { readonly part: string; readonly step: () => unknown }[] = [];

  /** @param part the part that the step ends, for the log */
  add(part: string, step: () => unknown): void {
    this.#steps.unshift({ part, step });
  }

  /**
   * Runs the steps one after the other, newest first. When the time is up, the remaining ones start at once and have
   * `LAST_MS` to end. A part may wait for an answer that never comes; unfinished work is resumed at the next start.
   * @param withinMs how long the steps may wait for one another
   * @returns the parts that had not ended
   * @throws the error of a step that failed before the time was up, after all others have run
   */
  async run(withinMs: number): Promise<readonly string[]> {
    const running = new Set<string>();
    const failures: unknown[] = [];
    const begin = async ({ part, step }: { part: string; step: () => unknown }): Promise<void> => {
      running.add(part);
      try {
        await step();
      } catch (error) {
        failures.push(error);
      }
      running.delete(part);
    };
    const late = after(withinMs);
    const begun: Promise<void>[] = [];
    let isLate = false;
    for (const each of this.#steps.splice(0)) {
      const ended = begin(each);
      begun.push(ended);
      if (!isLate) isLate = await Promise.race([ended.then(() => false), late.elapsed]);
    }
    late.cancel();
    if (isLate) {
      const last = after(LAST_MS);
      await Promise.race([Promise.all(begun), last.elapsed]);
      last.cancel();
    } else if (failures.length > 0) throw failures[0];
    return [...running];
  }
}

/** For the steps that start when the time is up. */
const LAST_MS = 1_000;

function after(ms: number): { readonly elapsed: Promise<true>; cancel(): void } {
  let timer: NodeJS.Timeout | undefined;
  const elapsed = new Promise<true>((resolve) => {
    timer = setTimeout(() => resolve(true), ms);
  });
  return { elapsed, cancel: () => clearTimeout(timer) };
}

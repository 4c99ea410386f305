/** Tells subscribers that the log may have grown: at once in this process, within milliseconds in the others. */
import { onAbort } from '../../runtime/on-abort.ts';
import type { SqliteFile } from './sqlite-file.ts';

/** SQLite has no notification between processes; its change counter costs two microseconds to look at. */
const LOOK_EVERY_MS = 10;

export class LogWatch {
  readonly #file: SqliteFile;
  readonly #waiting = new Set<() => void>();
  #seen: number;
  #wakes = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(file: SqliteFile) {
    this.#file = file;
    this.#seen = file.dataVersion();
  }

  /** What to hand to `changed`: taken before a look at the log, it makes sure that nothing after the look is missed. */
  mark(): number {
    return this.#wakes;
  }

  /** This process has committed. */
  wake(): void {
    this.#wakes++;
    // Before anybody reads: whatever another connection commits later still shows as a change.
    this.#seen = this.#version() ?? this.#seen;
    if (this.#timer) clearInterval(this.#timer);
    this.#timer = null;
    const woken = [...this.#waiting];
    this.#waiting.clear();
    for (const resume of woken) resume();
  }

  /** Resolves when somebody may have committed since the mark was taken, or on abort. */
  changed(since: number, signal: AbortSignal | undefined): Promise<void> {
    if (signal?.aborted || since !== this.#wakes) return Promise.resolve();
    return new Promise((resolve) => {
      const resume = () => {
        this.#waiting.delete(resume);
        leave?.();
        if (this.#waiting.size === 0) this.#stopLooking();
        resolve();
      };
      const leave = signal && onAbort(signal, resume);
      this.#waiting.add(resume);
      this.#timer ??= setInterval(() => this.#look(), LOOK_EVERY_MS);
    });
  }

  #look(): void {
    const version = this.#version();
    // Closed or broken: the subscriber meets the same error when it reads, and can report it.
    if (version !== this.#seen) this.wake();
  }

  #version(): number | null {
    try {
      return this.#file.dataVersion();
    } catch {
      return null;
    }
  }

  #stopLooking(): void {
    if (this.#timer) clearInterval(this.#timer);
    this.#timer = null;
  }
}

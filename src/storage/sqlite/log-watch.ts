/** Notifies subscribers that the log may have grown: immediately in this process, within milliseconds in others. */
import { onAbort } from '../../runtime/on-abort.ts';
import type { SqliteFile } from './sqlite-file.ts';

/** SQLite has no notification between processes; reading its change counter costs two microseconds. */
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

  /** The argument for `changed`. Get it before reading the log, so that no change after the read is missed. */
  mark(): number {
    return this.#wakes;
  }

  /** Reports that this process has committed. */
  wake(): void {
    this.#wakes++;
    // Before any read: a later commit of another connection still shows as a change.
    this.#seen = this.#version() ?? this.#seen;
    if (this.#timer) clearInterval(this.#timer);
    this.#timer = null;
    const woken = [...this.#waiting];
    this.#waiting.clear();
    for (const resume of woken) resume();
  }

  /** Resolves when a commit may have happened since the mark, or on abort. */
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
    // Closed or broken: the subscriber gets the same error when it reads, and can report it.
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

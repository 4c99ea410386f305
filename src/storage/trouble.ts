/**
 * What a part that tries again and again writes into the log: one line when it begins to fail and one when it has
 * recovered. In an outage every part fails, several times a second; `/readyz` and the alarm of the engine say what is down.
 */
import type { BaseLogger } from 'pino';
import { StorageFailure } from './storage-failure.ts';

/** What a part logs with. Without `debug` repeated failures are not logged at all. */
export type TroubleLogger = Pick<BaseLogger, 'warn' | 'error'> & Partial<Pick<BaseLogger, 'debug' | 'info'>>;

export class Trouble {
  readonly #logger: TroubleLogger;
  readonly #about: Readonly<Record<string, unknown>>;
  /** What was said of failures since the last recovery. */
  readonly #said = new Set<string>();

  /** @param about fields of every line, such as the name of the part */
  constructor(logger: TroubleLogger, about: Readonly<Record<string, unknown>> = {}) {
    this.#logger = logger;
    this.#about = about;
  }

  /** Logs a failure that will be tried again: once for each kind, further ones at debug level. */
  failed(error: unknown, message: string): void {
    const kind = kindOf(error);
    if (this.#said.has(kind)) {
      this.#logger.debug?.({ ...this.#about, err: error }, message);
      return;
    }
    this.#said.add(kind);
    // Where an engine fails, the stack says nothing that its reason does not.
    if (error instanceof StorageFailure) {
      this.#logger.warn({ ...this.#about, code: error.code, reason: error.message }, message);
    } else this.#logger.error({ ...this.#about, err: error }, message);
  }

  /** Logs that the part works again, if it was said to fail. */
  recovered(): void {
    if (this.#said.size === 0) return;
    this.#said.clear();
    this.#logger.info?.(this.#about, 'recovered');
  }
}

/** An outage shows itself as many reasons of the same code; other errors differ by their message. */
const kindOf = (error: unknown): string =>
  error instanceof StorageFailure
    ? error.code
    : error instanceof Error
      ? `${error.name} ${error.message}`
      : String(error);

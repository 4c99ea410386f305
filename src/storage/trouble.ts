/**
 * Logs the failures of a component that retries: one line when it starts to fail and one when it has recovered. In an
 * outage every component fails several times a second; `/readyz` and the alarm of the engine say what is down.
 */
import type { BaseLogger } from 'pino';
import { StorageFailure } from './storage-failure.ts';

/** The logger of a component. Without `debug`, repeated failures are not logged at all. */
export type TroubleLogger = Pick<BaseLogger, 'warn' | 'error'> & Partial<Pick<BaseLogger, 'debug' | 'info'>>;

export class Trouble {
  readonly #logger: TroubleLogger;
  readonly #about: Readonly<Record<string, unknown>>;
  /** The kinds of failures that were logged since the last recovery. */
  readonly #said = new Set<string>();

  /** @param about fields of every line, such as the name of the component */
  constructor(logger: TroubleLogger, about: Readonly<Record<string, unknown>> = {}) {
    this.#logger = logger;
    this.#about = about;
  }

  /** Logs a failure that will be retried: once for each kind, then at debug level. */
  failed(error: unknown, message: string): void {
    const kind = kindOf(error);
    if (this.#said.has(kind)) {
      this.#logger.debug?.({ ...this.#about, err: error }, message);
      return;
    }
    this.#said.add(kind);
    // For an engine failure, the stack adds nothing to the reason.
    if (error instanceof StorageFailure) {
      this.#logger.warn({ ...this.#about, code: error.code, reason: error.message }, message);
    } else this.#logger.error({ ...this.#about, err: error }, message);
  }

  /** Logs that the component works again, if its failure was logged. */
  recovered(): void {
    if (this.#said.size === 0) return;
    this.#said.clear();
    this.#logger.info?.(this.#about, 'recovered');
  }
}

/** An outage has many reasons with the same code; other errors differ by their message. */
const kindOf = (error: unknown): string =>
  error instanceof StorageFailure
    ? error.code
    : error instanceof Error
      ? `${error.name} ${error.message}`
      : String(error);

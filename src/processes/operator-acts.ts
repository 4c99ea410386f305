/**
 * What operators have decided and not taken back, in the memory of each node: paused hosts, banned wallets, tokens of
 * sources. It starts with the read model and follows the log, so an act applies on every node within moments.
 */
import type { BaseLogger } from 'pino';
import {
  HOST_ACTS,
  HostPaused,
  HostResumed,
  SOURCE_ACTS,
  SourceTokenIssued,
  SourceTokenRevoked,
  WALLET_ACTS,
  WalletBanned,
  WalletUnbanned,
} from '../events/operator.ts';
import { operatorActs } from '../projections/operator-acts.ts';
import { bannedWallets, pausedHosts, sourceTokens } from '../queries/operator-acts.ts';
import { pause } from '../runtime/pause.ts';
import type { EventLog, Position, RecordedEvent } from '../storage/event-log.ts';
import type { ReadStore } from '../storage/read-store.ts';
import { Trouble } from '../storage/trouble.ts';

export interface OperatorActsOptions {
  readonly log: Pick<EventLog, 'subscribe'>;
  readonly readStore: Pick<ReadStore, 'find' | 'checkpoint' | 'activeGeneration'>;
  readonly logger: Pick<BaseLogger, 'warn' | 'error'>;
}

/** Which hosts are paused, for the process that makes attempts. */
export interface PausedHosts {
  /** Resolves once everything is known that was decided before the start. */
  readonly ready: Promise<void>;
  isPaused(origin: string): boolean;
  /** Calls the listener with each host that is paused or resumed from now on. */
  onChange(listener: (origin: string, isPaused: boolean) => void): void;
}

/** Who pushes with a token. */
export interface PushSource {
  readonly name: string;
  /** The courts whose dockets it may push; null for all. */
  readonly courts: ReadonlySet<string> | null;
}

export interface OperatorActs extends PausedHosts {
  /** The source that a token belongs to, by the token's hash; null if it opens nothing. */
  sourceOf(tokenHash: string): PushSource | null;
  isBanned(wallet: string): boolean;
  /** Whether everything is known that was decided before the start. Until then a wallet may be banned, a token valid. */
  readonly areKnown: boolean;
  /** Follows the log until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

const TYPES = [...HOST_ACTS, ...WALLET_ACTS, ...SOURCE_ACTS].map(({ type }) => type);
const AGAIN_MS = 500;

export const createOperatorActs = (options: OperatorActsOptions): OperatorActs => new Following(options);

class Following implements OperatorActs {
  readonly ready: Promise<void>;
  readonly #options: OperatorActsOptions;
  readonly #paused = new Set<string>();
  readonly #banned = new Set<string>();
  readonly #sources = new Map<string, PushSource>();
  readonly #listeners: ((origin: string, isPaused: boolean) => void)[] = [];
  /** Undefined until the read model was read. */
  #reached: Position | null | undefined;
  #isReady: () => void = () => undefined;
  #areKnown = false;

  constructor(options: OperatorActsOptions) {
    this.#options = options;
    this.ready = new Promise((resolve) => {
      this.#isReady = resolve;
    });
  }

  get areKnown(): boolean {
    return this.#areKnown;
  }

  isPaused(origin: string): boolean {
    return this.#paused.has(origin);
  }

  isBanned(wallet: string): boolean {
    return this.#banned.has(wallet);
  }

  sourceOf(tokenHash: string): PushSource | null {
    return this.#sources.get(tokenHash) ?? null;
  }

  onChange(listener: (origin: string, isPaused: boolean) => void): void {
    this.#listeners.push(listener);
  }

  async run(signal: AbortSignal): Promise<void> {
    const trouble = new Trouble(this.#options.logger, { process: 'operator-acts' });
    while (!signal.aborted) {
      try {
        this.#reached ??= await this.#start();
        const batches = this.#options.log.subscribe(this.#reached, { by: 'types', types: TYPES }, signal);
        for await (const { events, position, live } of batches) {
          for (const event of events) this.#apply(event);
          this.#reached = position;
          trouble.recovered();
          if (!live) continue;
          this.#areKnown = true;
          this.#isReady();
        }
      } catch (error) {
        trouble.failed(error, 'acts of operators cannot be followed; retrying');
      }
      await pause(AGAIN_MS, signal);
    }
  }

  /** @returns up to where the log is known; the documents may be newer, and then some acts are seen twice */
  async #start(): Promise<Position | null> {
    const { readStore } = this.#options;
    const generation = await readStore.activeGeneration(operatorActs.name);
    const position = await readStore.checkpoint(operatorActs.name, generation);
    const [paused, banned, tokens] = await Promise.all([
      pausedHosts(readStore),
      bannedWallets(readStore),
      sourceTokens(readStore),
    ]);
    for (const origin of paused.keys()) this.#paused.add(origin);
    for (const wallet of banned.keys()) this.#banned.add(wallet);
    for (const [hash, { source, courts }] of tokens) this.#sources.set(hash, pushSource(source, courts));
    return position;
  }

  /** Data of another form is ignored here; the projection halts at it and reports it. */
  #apply({ type, data }: RecordedEvent): void {
    const { origin, wallet, source, tokenHash, courts } = data;
    if (typeof origin === 'string' && (type === HostPaused.type || type === HostResumed.type)) {
      const isPaused = type === HostPaused.type;
      if (this.#paused.has(origin) === isPaused) return;
      if (isPaused) this.#paused.add(origin);
      else this.#paused.delete(origin);
      for (const listener of this.#listeners) listener(origin, isPaused);
    } else if (typeof wallet === 'string' && type === WalletBanned.type) this.#banned.add(wallet);
    else if (typeof wallet === 'string' && type === WalletUnbanned.type) this.#banned.delete(wallet);
    else if (typeof tokenHash !== 'string') return;
    else if (type === SourceTokenRevoked.type) this.#sources.delete(tokenHash);
    else if (type === SourceTokenIssued.type && typeof source === 'string' && (courts === null || isTexts(courts))) {
      this.#sources.set(tokenHash, pushSource(source, courts));
    }
  }
}

const pushSource = (name: string, courts: readonly string[] | null): PushSource => ({
  name,
  courts: courts === null ? null : new Set(courts),
});

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((one) => typeof one === 'string');

/** A storage with recorded payments whose read models have caught up, and the operator's commands on it. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { Command } from 'commander';
import { type AddCommand, type CliContext, CliError, EXIT } from '../../src/cli/command.ts';
import type { DomainEvent } from '../../src/events/event.ts';
import { PROJECTIONS } from '../../src/projections/all.ts';
import type { Projection } from '../../src/projections/projection.ts';
import { createProjectionRunner } from '../../src/projections/runner.ts';
import { type Instant, systemClock } from '../../src/runtime/instant.ts';
import { NO_STREAM, type StreamHead } from '../../src/storage/event-log.ts';
import { leaseOwner } from '../../src/storage/lease-owner.ts';
import { headAfter, prepareAppend } from '../../src/storage/prepare-append.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { contextOf } from '../storage/samples.ts';
import { openTestStorage } from '../support/storage.ts';

/** Adds a command that opens its storage by this function. */
export type CommandOn = (open: () => Promise<Storage>) => AddCommand;

export async function openMoneyWorld() {
  const directory = await mkdtemp(join(tmpdir(), 'docket-money-'));
  const storage = await openTestStorage(directory);
  const heads = new Map<string, StreamHead>();
  /** What the commands are configured with. */
  const environment: NodeJS.ProcessEnv = {};
  const logger = { info: () => {}, warn: () => {}, error: () => {} };
  return {
    storage,
    environment,
    /** Appends to a stream; the read models follow with `caughtUp`. */
    async write(stream: string, at: Instant, ...events: readonly DomainEvent[]): Promise<void> {
      const head = heads.get(stream) ?? NO_STREAM;
      const append = prepareAppend({ stream, head, events, context: contextOf(), recordedAt: at });
      await storage.log.append(append);
      heads.set(stream, headAfter(append));
    },
    /** Appends to a stream that a command has begun. */
    async follow(stream: string, at: Instant, ...events: readonly DomainEvent[]): Promise<void> {
      const last = (await storage.log.read(stream)).at(-1);
      if (last) heads.set(stream, { revision: last.revision, hash: last.metadata.hash });
      await this.write(stream, at, ...events);
    },
    /** @param projections those that a version of the service has */
    async caughtUp(projections: readonly Projection[] = PROJECTIONS): Promise<void> {
      const owner = leaseOwner();
      const ports = { ...storage, projections, clock: systemClock, logger, owner };
      await createProjectionRunner(ports).catchUp();
    },
    async run(command: CommandOn, ...argv: readonly string[]) {
      let [out, err] = ['', ''];
      const into = (add: (text: string) => void) =>
        new Writable({
          write(chunk, _encoding, done) {
            add(String(chunk));
            done();
          },
        });
      const stdout = into((text) => {
        out += text;
      });
      const stderr = into((text) => {
        err += text;
      });
      const context: CliContext = { environment, stdin: process.stdin, stdout, stderr, interactive: false };
      const program = new Command().exitOverride().configureOutput({ writeErr: () => undefined });
      command(async () => ({ ...storage, close: async () => undefined }))(program, context);
      try {
        await program.parseAsync([...argv], { from: 'user' });
        return { code: EXIT.ok as number, out, err };
      } catch (error) {
        if (!(error instanceof CliError)) throw error;
        return { code: error.exitCode, out, err, error };
      }
    },
    async close(): Promise<void> {
      await storage.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

export type MoneyWorld = Awaited<ReturnType<typeof openMoneyWorld>>;

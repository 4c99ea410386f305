/** A storage with one projection, nodes that fold it, and `docket projections` on it: for tests of generations. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { Command } from 'commander';
import { pino } from 'pino';
import { vi } from 'vitest';
import { type CliContext, CliError, EXIT } from '../../src/cli/command.ts';
import { createProjectionsCommand } from '../../src/cli/projections/projections.ts';
import type { DomainEvent } from '../../src/events/event.ts';
import { type GenerationKeeper, startGenerationKeeper } from '../../src/projections/generation-keeper.ts';
import type { Projection } from '../../src/projections/projection.ts';
import { createProjectionRunner, type ProjectionRunner } from '../../src/projections/runner.ts';
import { type ProjectionReport, projectionReports } from '../../src/projections/status.ts';
import { type Clock, systemClock, toInstant } from '../../src/runtime/instant.ts';
import { NO_STREAM, type Position, type StreamHead } from '../../src/storage/event-log.ts';
import { headAfter, prepareAppend } from '../../src/storage/prepare-append.ts';
import { contextOf } from '../storage/samples.ts';
import { openTestStorage, type TestStorage } from '../support/storage.ts';
import { entry, type LedgerDocument, ledger } from './ledger.ts';

class Collected extends Writable {
  text = '';
  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}

const silent = pino({ level: 'silent' });
export const HOUR_MS = 3_600_000;

export interface NodeOptions {
  readonly clock?: Clock;
  readonly graceMs?: number;
}

export interface TestNode {
  readonly runner: ProjectionRunner;
  stop(): Promise<void>;
}

export interface CliRun {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface GenerationWorld {
  readonly storage: TestStorage;
  /** Adds one entry to a case, or several. */
  write(caseId: string, ...texts: string[]): Promise<Position>;
  /** A node with a running service: what folds the active generations, what folds the others, what keeps order. */
  node(options?: NodeOptions): Promise<TestNode>;
  /** Runs `docket projections …`. */
  run(...argv: string[]): Promise<CliRun>;
  report(): Promise<ProjectionReport>;
  /** What readers see of a case. */
  seen(caseId: string, generation?: number): Promise<readonly string[] | null>;
  /** From now on, a rebuild folds events by these rules. */
  foldAs(projection: Projection): void;
  close(): Promise<void>;
}

export const until = <Result>(look: () => Promise<Result> | Result): Promise<Result> =>
  vi.waitFor(look, { timeout: 20_000, interval: 20 });

export async function openGenerationWorld(): Promise<GenerationWorld> {
  const directory = await mkdtemp(join(tmpdir(), 'docket-generations-'));
  const storage = await openTestStorage(directory);
  const heads = new Map<string, StreamHead>();
  const nodes = new Set<TestNode>();
  let projections: readonly Projection[] = [ledger()];
  let names = 0;

  async function append(stream: string, events: readonly DomainEvent[]): Promise<Position> {
    const head = heads.get(stream) ?? NO_STREAM;
    const recordedAt = toInstant(systemClock.now());
    const prepared = prepareAppend({ stream, head, events, context: contextOf(), recordedAt });
    const { position } = await storage.log.append(prepared);
    heads.set(stream, headAfter(prepared));
    return position;
  }

  return {
    storage,
    write: (caseId, ...texts) =>
      append(
        `ledger-${caseId}`,
        texts.map((text) => entry([`${caseId}-filing`], caseId, text)),
      ),
    async node({ clock = systemClock, graceMs = 24 * HOUR_MS } = {}) {
      names++;
      const owner = `node ${names}`;
      const options = { ...storage, projections, clock, logger: silent, retryDelaysMs: [1, 1] };
      const runner = createProjectionRunner({ ...options, owner });
      const beside = createProjectionRunner({ ...options, owner: `${owner} beside`, folds: 'beside' });
      await runner.start();
      await beside.start();
      const keeper: GenerationKeeper = startGenerationKeeper({ ...options, owner, graceMs, everyMs: 50 });
      const node: TestNode = {
        runner,
        async stop() {
          nodes.delete(node);
          await keeper.stop();
          await beside.stop();
          await runner.stop();
        },
      };
      nodes.add(node);
      return node;
    },
    async run(...argv) {
      const stdout = new Collected();
      const stderr = new Collected();
      const context: CliContext = { environment: {}, stdin: process.stdin, stdout, stderr, interactive: false };
      const program = new Command().exitOverride().configureOutput({ writeErr: () => undefined });
      createProjectionsCommand({
        open: async () => ({ ...storage, close: async () => undefined }),
        projections,
        graceMs: () => 24 * HOUR_MS,
        haltStandsMs: 300,
      })(program, context);
      let code: number = EXIT.ok;
      try {
        await program.parseAsync(['projections', ...argv], { from: 'user' });
      } catch (error) {
        if (!(error instanceof CliError)) throw error;
        code = error.exitCode;
        stderr.text += `${error.message}\n${error.hint}\n`;
      }
      return { code, out: stdout.text, err: stderr.text };
    },
    async report() {
      const [report] = await projectionReports(
        { ...storage, projections, clock: systemClock, graceMs: 24 * HOUR_MS },
        { documents: true },
      );
      if (!report) throw new Error('no projection');
      return report;
    },
    seen: async (caseId, generation) =>
      (await storage.readStore.load<LedgerDocument>('ledger-cases', [caseId], generation)).get(caseId)?.document
        .entries ?? null,
    foldAs(projection) {
      projections = [projection];
    },
    async close() {
      for (const node of nodes) await node.stop();
      await storage.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

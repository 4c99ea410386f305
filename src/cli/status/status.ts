/** `docket status`: everything at a glance, once or again and again. */
import { setTimeout as delay } from 'node:timers/promises';
import { systemClock } from '../../runtime/instant.ts';
import type { Storage } from '../../storage/storage.ts';
import { type AddCommand, type CliContext, CliError, FoundWrong, note, print, printJson } from '../command.ts';
import { configWithLog, openOwnStorage } from '../service-storage.ts';
import { untilStopped } from '../until-stopped.ts';
import { statusRows } from './lines.ts';
import { type Look, lookAtStatus, type StatusSnapshot } from './snapshot.ts';
import { linesOf } from './text.ts';

interface StatusOptions {
  readonly watch?: true;
  readonly interval: string;
  readonly hosts: string;
  readonly json?: true;
}

const SECTION_MS = 10_000;
const OPEN_MS = 20_000;
/** How long engines may take to close. One that is gone would keep the process alive. */
const CLOSE_MS = 1_000;
const SHORTEST_INTERVAL = 0.5;
const LONGEST_INTERVAL = 3_600;
const MOST_HOSTS = 1_000;

const HELP = `
Shows the parts of each node with reason and hint, the log and its rate, how far each projection is behind, payments under
way, callbacks that are due by host, today's revenue (UTC), how long the fee payer's SOL lasts, the free disk,
the nodes and what each owns, and the last alarms of all of them. Everything is read from the storage and from the
running service, and no event is written. The service may be running or stopped, here or on other machines.

Exit codes: 0 nothing is down; 1 a part of a node is down, a projection that answers need is halted, or the
storage cannot be read; 2 wrong usage; 3 there is nothing to read.

Examples:
  $ docket status
  $ docket status --watch --interval 5
  $ docket status --json | jq '.parts[] | select(.status != "nominal")'
  $ docket status --watch --json >> status.ndjson`;

export interface StatusPorts {
  /** @throws CliError if there is nothing to read */
  storageOf(environment: NodeJS.ProcessEnv): Pick<Look, 'config' | 'open'>;
  /** Resolves when `--watch` shall end. */
  stopped(): Promise<unknown>;
}

export const createStatusCommand =
  (ports: StatusPorts): AddCommand =>
  (program, context) => {
    program
      .command('status')
      .description('Show everything at a glance: parts, lag, payments, callbacks, money, nodes, alarms.')
      .option('--watch', 'show it again and again until Ctrl-C')
      .option('--interval <seconds>', 'with --watch: seconds between two looks', '2')
      .option('--hosts <count>', 'how many hosts of callbacks to list; paused ones always are', '5')
      .option('--json', 'one JSON object; with --watch one per line')
      .addHelpText('after', HELP)
      .action((options: StatusOptions) => status(context, ports, options));
  };

export const addStatusCommand: AddCommand = createStatusCommand({
  storageOf(environment) {
    const config = configWithLog(
      environment,
      'Set DATA_DIR to the data folder of the service, or start one here: docket serve.',
    );
    return { config, open: () => openOwnStorage(config) };
  },
  stopped: untilStopped,
});

async function status(context: CliContext, ports: StatusPorts, options: StatusOptions): Promise<void> {
  const intervalMs = 1_000 * numberOf('--interval', options.interval, SHORTEST_INTERVAL, LONGEST_INTERVAL);
  const hosts = Math.floor(numberOf('--hosts', options.hosts, 0, MOST_HOSTS));
  const { config, open } = ports.storageOf(context.environment);
  /** Opened once, and again only after a failure, even if a look does not wait for it. */
  let opening: Promise<Storage> | null = null;
  const look: Look = {
    config,
    clock: systemClock,
    hosts,
    timeoutMs: SECTION_MS,
    openMs: OPEN_MS,
    open() {
      opening ??= open().catch((error: unknown) => {
        opening = null;
        throw error;
      });
      return opening;
    },
  };
  try {
    if (options.watch) {
      await watch(context, look, { intervalMs, json: options.json === true, stopped: ports.stopped() });
      return;
    }
    const snapshot = await lookAtStatus(look);
    show(context, snapshot, options.json === true);
    if (!snapshot.ok) throw new FoundWrong('Something is down.', 'The lines above say what, and what to do.');
  } finally {
    await closed(opening);
  }
}

function numberOf(option: string, text: string, least: number, most: number): number {
  const number = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (number >= least && number <= most) return number;
  throw new CliError(`${option} ${text} is not a number from ${least} to ${most}.`, 'See docket status --help.');
}

interface Watching {
  readonly intervalMs: number;
  readonly json: boolean;
  readonly stopped: Promise<unknown>;
}

async function watch(context: CliContext, look: Look, { intervalMs, json, stopped }: Watching): Promise<void> {
  const ending = new AbortController();
  void stopped.then(() => ending.abort());
  const screen = json ? null : terminalOf(context.stdout);
  if (screen) note(context, 'Ctrl-C ends it.');
  while (!ending.signal.aborted) {
    const snapshot = await lookAtStatus(look);
    if (ending.signal.aborted) return;
    if (screen) screen.draw(linesOf(statusRows(snapshot), screen.width()));
    else {
      show(context, snapshot, json);
      if (!json) print(context, '');
    }
    await delay(intervalMs, undefined, { signal: ending.signal }).catch(() => undefined);
  }
}

function show(context: CliContext, snapshot: StatusSnapshot, json: boolean): void {
  if (json) printJson(context, plain(snapshot));
  else {
    const width = terminalOf(context.stdout)?.width() ?? Number.POSITIVE_INFINITY;
    for (const line of linesOf(statusRows(snapshot), width)) print(context, line);
  }
}

/** Amounts as decimal text, and times as text, because JSON has neither exactly. */
const plain = (snapshot: StatusSnapshot): unknown =>
  JSON.parse(JSON.stringify(snapshot, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value)));

interface Terminal {
  width(): number;
  /** Replaces what was drawn before, without flicker. What does not fit below is left out, and said to be. */
  draw(lines: readonly string[]): void;
}

function terminalOf(stdout: NodeJS.WritableStream): Terminal | null {
  const stream = stdout as Partial<NodeJS.WriteStream> & NodeJS.WritableStream;
  if (stream.isTTY !== true) return null;
  return {
    width: () => stream.columns ?? 80,
    draw(lines) {
      const rows = Math.max(2, (stream.rows ?? 24) - 1);
      const fitting =
        lines.length <= rows
          ? lines
          : [...lines.slice(0, rows - 1), `${lines.length - rows + 1} more lines: use a larger window`];
      stream.write(`\u001B[H${fitting.map((line) => `${line}\u001B[K\n`).join('')}\u001B[J`);
    },
  };
}

async function closed(opening: Promise<Storage> | null): Promise<void> {
  const closing = opening?.then((storage) => storage.close()).catch(() => undefined);
  await Promise.race([closing, delay(CLOSE_MS, undefined, { ref: false })]);
}

import { type Command, Option } from 'commander';
import { MASTER_KEY_STREAM } from '../events/signing-key.ts';
import { type Instant, parseTimestamp } from '../runtime/instant.ts';
import { isAddress } from '../solana/addresses.ts';
import type { EventLog, RecordedEvent } from '../storage/event-log.ts';
import { type AddCommand, CliError, print, printJson } from './command.ts';
import { openServiceLog, withStorage } from './service-storage.ts';

/** The stream prefixes that each family name of the command stands for (docs/design/architecture.md#streams). */
const FAMILIES = {
  payments: ['payment-'],
  deliveries: ['delivery-'],
  keys: ['wallet-', MASTER_KEY_STREAM],
  dockets: ['docket-', 'content-'],
  all: [],
} as const satisfies Record<string, readonly string[]>;

type Family = keyof typeof FAMILIES;

interface ReplayOptions {
  readonly wallet?: string;
  readonly from?: string;
  readonly to?: string;
  readonly stream?: string;
  readonly json?: boolean;
}

export interface Replay {
  readonly family: Family;
  readonly wallet: string | null;
  readonly stream: string | null;
  readonly from: Instant | null;
  readonly to: Instant | null;
}

/** Yields the matching events in log order. */
export async function* replay(log: EventLog, asked: Replay): AsyncIterable<RecordedEvent> {
  const prefixes: readonly string[] = asked.stream ? [asked.stream] : FAMILIES[asked.family];
  const streamsOfWallet = new Set<string>();
  const batches = log.readAll(null, prefixes.length ? { by: 'streams', prefixes } : { by: 'all' });
  for await (const { events } of batches) {
    for (const event of events) {
      if (asked.stream && event.stream !== asked.stream && shortened(event.stream) !== asked.stream) continue;
      // The first event of each stream names the payer, who cannot change: the stream is named after the signed message.
      if (asked.wallet && (event.data.wallet === asked.wallet || event.stream === `wallet-${asked.wallet}`)) {
        streamsOfWallet.add(event.stream);
      }
      if (asked.wallet && !streamsOfWallet.has(event.stream)) continue;
      if (asked.from && event.metadata.recordedAt < asked.from) continue;
      if (asked.to && event.metadata.recordedAt > asked.to) continue;
      yield event;
    }
  }
}

/** Shortens a hash that names a stream. Other names stay whole, since dockets differ only in their last digits. */
const shortened = (stream: string): string => stream.replace(/[0-9a-f]{64}$/, (hash) => hash.slice(0, 16));

function instantOption(name: string, text: string | undefined): Instant | null {
  if (text === undefined) return null;
  const instant = parseTimestamp(text);
  if (!instant) {
    throw new CliError(
      `--${name} is not a timestamp: ${text}`,
      'Give ISO-8601 with an offset, for example 2026-03-01T00:00:00Z.',
    );
  }
  return instant;
}

function readAsked(family: Family, { wallet, stream, ...times }: ReplayOptions): Replay {
  if (wallet !== undefined && !isAddress(wallet)) {
    throw new CliError(`${JSON.stringify(wallet)} is not a Solana address.`, 'Give 32 bytes in base58.');
  }
  const [from, to] = [instantOption('from', times.from), instantOption('to', times.to)];
  if (from && to && from > to) throw new CliError('--from is later than --to.', 'Give the earlier time as --from.');
  return { family, wallet: wallet ?? null, stream: stream ?? null, from, to };
}

export const addAuditReplayCommand: AddCommand = (audit: Command, context) => {
  audit
    .command('replay')
    .description('Print events in the order of the log.')
    .argument('<family>', `which streams: ${Object.keys(FAMILIES).join(', ')}`)
    .option('--wallet <address>', 'only streams of this wallet')
    .option('--stream <name>', 'only this stream; accepts the short name shown without --json')
    .option('--from <time>', 'recorded at or after this time')
    .option('--to <time>', 'recorded at or before this time')
    .addOption(
      new Option(
        '--json',
        'one JSON object per line: stream, revision, position, type, recordedAt, data, id, hash and the other hashed fields',
      ),
    )
    .addHelpText(
      'after',
      `
Examples:
  $ docket audit replay payments
  $ docket audit replay payments --wallet ADDRESS --json
  $ docket audit replay dockets --from 2026-03-01T00:00:00Z`,
    )
    .action(async (word: string, options: ReplayOptions) => {
      if (!Object.hasOwn(FAMILIES, word)) {
        throw new CliError(`Unknown family of streams: ${word}.`, `Use one of ${Object.keys(FAMILIES).join(', ')}.`);
      }
      const asked = readAsked(word as Family, options);
      await withStorage(openServiceLog, context, async ({ log }) => {
        let count = 0;
        for await (const event of replay(log, asked)) {
          count += 1;
          const { stream, revision, position, type, data, id, metadata } = event;
          const { recordedAt } = metadata;
          // The whole event: checking the hashes needs every field that goes into them.
          if (options.json) printJson(context, { stream, revision, position, type, data, id, ...metadata });
          else
            print(context, `${recordedAt}  ${shortened(stream).padEnd(26)} ${String(revision).padStart(4)}  ${type}`);
        }
        if (!options.json) print(context, `${count} events`);
      });
    });
};

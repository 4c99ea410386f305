/** `docket cases`: lists the known dockets and shows the revisions of each filing. */
import type { Command } from 'commander';
import { loadDocket } from '../../commands/docket/load.ts';
import type { Court } from '../../courts/court.ts';
import { CASES, type CaseDocument, lookAnswered } from '../../dockets/case-document.ts';
import { decodeFilings, REDACTED_FILING } from '../../dockets/filing-content.ts';
import { type DocketSnapshot, UNKNOWN_HEADER } from '../../dockets/snapshot.ts';
import { isProblem } from '../../errors.ts';
import { decodeEvent } from '../../events/codec.ts';
import type { DocketEvent } from '../../events/docket.ts';
import { cases } from '../../projections/cases.ts';
import { findKnownCase } from '../../queries/case-lookup.ts';
import {
  contentNamesOf,
  type FilingRevisions,
  type FilingVersion,
  revisionsOf,
} from '../../queries/docket-revisions.ts';
import { writeOwnDocket } from '../../sources/files/own-docket.ts';
import { type AddCommand, type CliContext, CliError, EXIT, print, printJson } from '../command.ts';
import type { ImportStorage, OpenImportStorage } from '../import/import.ts';
import { CATCH_UP_HINT, noteIfIncomplete, showsEverything } from '../list-completeness.ts';
import { readLimit } from '../list-limit.ts';
import { courtNamed } from '../named-court.ts';
import { openServiceStorage, withStorage } from '../service-storage.ts';
import { type WithdrawOptions, withdraw } from './withdraw.ts';

const PAGE = 500;
const DEFAULT_LIMIT = 100;
const MAX_TEXT_SHOWN = 160;

interface ListOptions {
  readonly court?: string;
  readonly limit: string;
  readonly json?: true;
}

const HELP = `
Reads the state in DATA_DIR, or in the configured engines. The service may be running or stopped.

Examples:
  $ docket cases list --court cand
  $ docket cases show cand 3:24-cv-00042
  $ docket cases show cand 3:24-cv-00042 --revised --json
  $ docket cases export cand 3:24-cv-00042 > docket.ndjson`;

export const createCasesCommand =
  (open: OpenImportStorage): AddCommand =>
  (program, context) => {
    const group = program
      .command('cases')
      .description('List known cases; show one with the revisions of its filings; export it.')
      .addHelpText('after', HELP);
    group
      .command('list')
      .description('Known cases, by court and number.')
      .option('--court <code>', 'filter by court')
      .option('--limit <count>', 'maximum number to list; 0 for all', String(DEFAULT_LIMIT))
      .option('--json', 'one JSON object per line')
      .addHelpText('after', '\nExamples:\n  $ docket cases list\n  $ docket cases list --court nysd --limit 0 --json')
      .action((options: ListOptions) => withStorage(open, context, (storage) => list(storage, context, options)));
    onOneCase(group, 'show')
      .description('Show one case with the revisions of each filing.')
      .option('--revised', 'only filings that were revised, merged or withdrawn')
      .option('--json', 'one JSON object')
      .addHelpText(
        'after',
        '\nExamples:\n  $ docket cases show cand 3:24-cv-00042\n  $ docket cases show ca9 24-1234 --revised --json',
      )
      .action((code: string, words: string[], options: { readonly revised?: true; readonly json?: true }) =>
        withStorage(open, context, (storage) => show(storage, context, code, words.join(' '), options)),
      );
    onOneCase(group, 'withdraw')
      .description(
        'Withdraw the text of a filing: from the docket, stored answers and open callbacks. Safe to run again.',
      )
      .requiredOption('--filing <id>', 'filing_id of the filing')
      .requiredOption('--by <name>', 'who ordered it; recorded')
      .requiredOption('--reason <text>', 'why; recorded')
      .option('--json', 'one JSON object')
      .addHelpText(
        'after',
        '\nExample:\n  $ docket cases withdraw cand 3:24-cv-00042 --filing ID --by "J. Muster" --reason "order of 2 March"',
      )
      .action((code: string, words: string[], options: WithdrawOptions) =>
        withStorage(open, context, async (storage) =>
          withdraw(storage, context, (await findNamedCase(storage, code, words.join(' '))).stream, options),
        ),
      );
    onOneCase(group, 'export')
      .description('Print one case as a line of JSON that docket import reads.')
      .option('--json', 'no effect: the output is always JSON')
      .addHelpText('after', '\nExample:\n  $ docket cases export cand 3:24-cv-00042 > docket.ndjson')
      .action((code: string, words: string[]) =>
        withStorage(open, context, (storage) => exportCase(storage, context, code, words.join(' '))),
      );
  };

const onOneCase = (group: Command, name: string): Command =>
  group.command(name).argument('<court>', 'court code or alias').argument('<number...>', 'case number, in any form');

/** The command on the storage that the service uses. */
export const addCasesCommand: AddCommand = createCasesCommand((environment) =>
  openServiceStorage(environment, 'Set DATA_DIR to the data folder of the service, or import a docket first.'),
);

async function list(storage: ImportStorage, context: CliContext, options: ListOptions): Promise<void> {
  const { readStore } = storage;
  const court = options.court === undefined ? null : courtNamed(options.court);
  const limit = readLimit(options.limit);
  let count = 0;
  let after: string | null = null;
  for (;;) {
    const page: readonly { readonly id: string; readonly document: CaseDocument }[] =
      await readStore.find<CaseDocument>({
        collection: CASES,
        ...(court === null ? {} : { equals: { court: court.code } }),
        limit: PAGE,
        ...(after === null ? {} : { after: { id: after } }),
      });
    for (const { id, document } of page) {
      after = id;
      if (!document.opened) continue;
      if (limit > 0 && count === limit) {
        if (!options.json) print(context, `The first ${limit}; --limit 0 shows all.`);
        return noteIfIncomplete(context, storage, cases);
      }
      count++;
      if (options.json) printJson(context, { stream: id, ...shownCase(document) });
      else print(context, caseLine(document));
    }
    if (page.length < PAGE) break;
  }
  if (!options.json) print(context, `${count} ${count === 1 ? 'case' : 'cases'}`);
  await noteIfIncomplete(context, storage, cases);
}

const caseLine = (document: CaseDocument): string =>
  `${document.court.padEnd(14)} ${document.caseNumber.padEnd(22)} ${String(document.filingCount).padStart(6)} filings  as of ${lookAnswered(document).asOf?.slice(0, 16) ?? 'never'}  ${document.header?.caseName ?? ''}`;

const shownCase = (document: CaseDocument) => ({
  court_code: document.court,
  case_number: document.caseNumber,
  case_name: document.header?.caseName ?? null,
  filing_count: document.filingCount,
  whole: document.baseline === 'completed',
  data_as_of: lookAnswered(document).asOf,
  source: document.dataAsOf === null ? null : lookAnswered(document).source,
  latest_filing_at: document.latestFilingAt,
});

export interface FoundCase {
  readonly court: Court;
  readonly stream: string;
  readonly document: CaseDocument;
}

/** The case that a number means. @throws CliError if there is not exactly one */
export async function findNamedCase(storage: ImportStorage, code: string, number: string): Promise<FoundCase> {
  const { readStore } = storage;
  const court = courtNamed(code);
  const isWhole = () => showsEverything(storage, cases);
  const notYetShown = () =>
    new CliError(
      `Cannot tell yet whether ${court.code} ${number} is known: the read model of cases is behind the log.`,
      CATCH_UP_HINT,
      EXIT.unavailable,
    );
  const freshness = { wasBuilt: false, showsEverything: isWhole };
  const found = await findKnownCase({ readStore, freshness }, court, number);
  if (isProblem(found)) {
    if (found.problem === 'service_unavailable') throw notYetShown();
    const candidates = (found.details.candidates ?? []) as readonly string[];
    throw new CliError(
      found.problem === 'invalid_case_id'
        ? `${court.name} has no case numbers like “${number.slice(0, 128)}”.`
        : `${court.code} ${number} ${found.problem === 'ambiguous_case_id' ? 'matches more than one case' : 'is not known here'}.`,
      candidates.length > 0
        ? `Give one of ${candidates.join(', ')}.`
        : `List known cases with docket cases list --court ${court.code}, or check the number with docket courts explain ${court.code} NUMBER.`,
      EXIT.found,
    );
  }
  const document = (await readStore.load<CaseDocument>(CASES, [found.stream])).get(found.stream)?.document;
  if (!document?.opened) {
    if (!(await isWhole())) throw notYetShown();
    throw new CliError(`${court.code} ${number} is not known here.`, 'Import its docket.', EXIT.found);
  }
  return { court, stream: found.stream, document };
}

async function show(
  storage: ImportStorage,
  context: CliContext,
  code: string,
  number: string,
  options: { readonly revised?: true; readonly json?: true },
): Promise<void> {
  const { court, stream, document } = await findNamedCase(storage, code, number);
  const events = (await storage.log.read(stream)).map((event) => decodeEvent(event) as DocketEvent);
  const names = contentNamesOf(events);
  const contents = new Map(
    [...(await storage.payloads.getMany(names))].map(([name, bytes]) => [name, decodeFilings(bytes)]),
  );
  const filings = revisionsOf(events, contents).filter(
    ({ versions }) => options.revised !== true || versions.length > 1,
  );
  if (options.json) {
    printJson(context, { stream, ...shownCase(document), filings: filings.map(shownFiling) });
    return;
  }
  for (const [label, value] of [
    ['case', `${document.caseNumber}  ${document.header?.caseName ?? ''}`],
    ['court', `${court.name} (${court.code})`],
    ['filings', `${document.filingCount}${document.baseline === 'completed' ? '' : ', partly known'}`],
    ['as of', lookAnswered(document).asOf ?? 'never'],
    ['source', lookAnswered(document).source],
    ['stream', stream],
  ]) {
    print(context, `${label?.padEnd(10)}${value}`);
  }
  for (const filing of filings) for (const line of filingLines(filing)) print(context, line);
}

const shownFiling = ({ filingId, withdrawn, versions }: FilingRevisions) => ({
  filing_id: filingId,
  entry_number: versions.at(-1)?.filing.entryNumber ?? null,
  filing_type: versions.at(-1)?.filing.filingType ?? null,
  withdrawn,
  versions: versions.map(({ at, askedAt, what, changed, text }) => ({ at, asked_at: askedAt, what, changed, text })),
});

function* filingLines({ versions, withdrawn }: FilingRevisions): Generator<string> {
  const [first, ...later] = versions;
  const now = versions.at(-1);
  if (!first || !now) return;
  const { entryNumber, dateFiled, filingType } = now.filing;
  const number = entryNumber === null ? '-' : `#${entryNumber}`;
  yield `${number.padStart(7)}  ${dateFiled ?? '          '}  ${filingType.padEnd(18)} ${shownText(now, withdrawn)}`;
  let before = first;
  for (const version of later) {
    const was =
      version.what === 'revised' && version.text !== before.text ? `; was: ${shownText(before, withdrawn)}` : '';
    yield `${' '.repeat(9)}${version.at ?? 'not visible'}  ${version.what} (${version.changed.join(', ')})${was}`;
    before = version;
  }
}

function shownText({ text }: FilingVersion, withdrawn: boolean): string {
  if (text === null) return withdrawn ? '(withdrawn)' : '(removed by record)';
  return text.length <= MAX_TEXT_SHOWN ? text : `${text.slice(0, MAX_TEXT_SHOWN - 1)}…`;
}

async function exportCase(storage: ImportStorage, context: CliContext, code: string, number: string): Promise<void> {
  const { court, stream, document } = await findNamedCase(storage, code, number);
  const { state, contents } = await loadDocket(storage, stream);
  const snapshot: DocketSnapshot = {
    court,
    caseNumber: document.caseNumber,
    aliases: [],
    header: contents.details?.header ?? UNKNOWN_HEADER,
    parties: contents.details?.parties ?? [],
    crossReferences: contents.details?.crossReferences ?? [],
    // A withdrawn or removed text is never exported.
    entries: [...state.filings.values()]
      .filter(({ withdrawn }) => !withdrawn)
      .map(({ recorded }) => ({ recorded, content: contents.filings.get(recorded.filingId) ?? REDACTED_FILING }))
      .filter(({ content }) => content.redacted !== true)
      .map(({ recorded, content }) => ({
        entryNumber: recorded.entryNumber,
        dateFiled: recorded.dateFiled,
        dateEntered: recorded.dateEntered,
        filedAt: recorded.filedAt,
        enteredAt: recorded.enteredAt,
        description: content.description,
        shortDescription: content.shortDescription,
        filedBy: content.filedBy,
        documentIdentifier: content.documentIdentifier,
        documentIdentifierType: content.documentIdentifierType,
        sourceIds: content.sourceIds,
        externalUrl: content.externalUrl,
        attachments: content.attachments,
        sealed: recorded.sealed,
      })),
    complete: state.baseline === 'completed',
    askedAt: state.lastAskedAt ?? '1970-01-01T00:00:00.000000Z',
    source: 'export',
  };
  printJson(context, writeOwnDocket(snapshot));
}

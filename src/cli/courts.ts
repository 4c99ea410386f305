/** `docket courts`: finds a court, shows its facts, and explains a case number. */
import { Argument, type Command, InvalidArgumentError, Option } from 'commander';
import { parseCaseNumber } from '../courts/case-number.ts';
import type { CaseNumber, Court } from '../courts/court.ts';
import { numberInWords } from '../courts/number-in-words.ts';
import { courts, findCourt, isLive, nearestCourts } from '../courts/registry.ts';
import { ANY_CASE_NUMBER } from '../courts/status-courts.ts';
import { suggestCaseNumber } from '../courts/suggest-case-number.ts';
import { type AddCommand, type CliContext, type CliError, FoundWrong, print, printJson } from './command.ts';
import { courtNamed } from './named-court.ts';

interface JsonOption {
  readonly json?: true;
}

interface ListOptions extends JsonOption {
  readonly country?: string;
  readonly region?: string;
  readonly level?: string;
  readonly coverage?: string;
}

const MAX_SEARCH_RESULTS = 25;

export const addCourtsCommand: AddCommand = (program, context) => {
  const group = program
    .command('courts')
    .description('Find courts, see what is covered, explain a case number.')
    .addHelpText(
      'after',
      `
Examples:
  $ docket courts search "northern california"
  $ docket courts show cand
  $ docket courts explain cand "Case No. 3:24-cv-1234-RJ"
  $ docket courts list --country CA --coverage full --json`,
    );
  addSearch(group, context);
  addShow(group, context);
  addExplain(group, context);
  addList(group, context);
};

function addSearch(group: Command, context: CliContext): void {
  group
    .command('search')
    .description('Find courts by code, name, state or province.')
    .addArgument(new Argument('<text...>', 'words of the name, or a code'))
    .option('--json', 'one JSON array')
    .addHelpText('after', '\nExamples:\n  $ docket courts search tulsa\n  $ docket courts search appeals fifth circuit')
    .action((words: string[], options: JsonOption) => {
      const found = searchCourts(words.join(' '));
      if (options.json) printJson(context, found.map(shownCourt));
      if (found.length === 0) {
        throw new FoundWrong(
          `No court matches “${words.join(' ')}”.`,
          'Try fewer words, or docket courts list --region OK for all courts of a state.',
        );
      }
      if (!options.json) for (const court of found) print(context, courtLine(court));
    });
}

/** Courts whose code or alias is the text; else those whose facts contain every word; else those with a similar code. */
function searchCourts(text: string): Court[] {
  const exact = findCourt(text);
  const words = plainWords(text);
  const named = words.length === 0 ? [] : courts.filter((court) => holdsAll(court, words));
  const near = exact === null && named.length === 0 ? nearestCourts(text, MAX_SEARCH_RESULTS) : [];
  return [...new Set([...(exact === null ? [] : [exact]), ...named, ...near])].slice(0, MAX_SEARCH_RESULTS);
}

const plainWords = (text: string): string[] =>
  text
    .slice(0, 200)
    .toLowerCase()
    .split(/[^a-z0-9_]+/)
    .filter((word) => word !== '');

function holdsAll(court: Court, words: readonly string[]): boolean {
  const facts = plainWords([court.code, court.name, court.region ?? '', court.country, ...court.aliases].join(' '));
  return words.every((word) => facts.some((fact) => fact.startsWith(word) || fact.includes(`_${word}`)));
}

function addShow(group: Command, context: CliContext): void {
  group
    .command('show')
    .description('Show everything known about one court.')
    .argument('<code>', 'code or alias; letter case does not matter')
    .option('--json', 'one JSON object')
    .addHelpText('after', '\nExamples:\n  $ docket courts show cand\n  $ docket courts show cofc --json')
    .action((code: string, options: JsonOption) => {
      const court = courtNamed(code);
      if (options.json) return printJson(context, shownCourt(court));
      for (const [label, value] of courtFacts(court)) print(context, `${label.padEnd(14)}${value}`);
    });
}

function addExplain(group: Command, context: CliContext): void {
  group
    .command('explain')
    .description('Explain how a case number is read: its canonical form and what is ignored, or why it is invalid.')
    .argument('<code>', 'court code or alias')
    .argument('<number...>', 'case number, in any form')
    .option('--json', 'one JSON object')
    .addHelpText(
      'after',
      '\nExamples:\n  $ docket courts explain cand "3:24-CV-1234-RJ"\n  $ docket courts explain scotus 24a100 --json',
    )
    .action((code: string, words: string[], options: JsonOption) => {
      const court = courtNamed(code);
      const typed = words.join(' ');
      const number = parseCaseNumber(court, typed);
      if (number === null) {
        const suggestion = suggestCaseNumber(court, typed);
        if (options.json) printJson(context, { court_code: court.code, typed, canonical: null, suggestion });
        throw notANumber(court, typed, suggestion);
      }
      if (options.json) return printJson(context, { court_code: court.code, typed, ...shownNumber(number) });
      for (const [label, value] of numberFacts(number)) print(context, `${label.padEnd(14)}${value}`);
    });
}

function notANumber(court: Court, typed: string, suggestion: string | null): CliError {
  const form =
    court.example === null
      ? `It publishes no format; any number that matches ${ANY_CASE_NUMBER} is accepted.`
      : `It writes numbers like ${court.example}: ${numberInWords(court)}; pattern ${court.pattern}.`;
  return new FoundWrong(
    `${court.name} has no case numbers like “${typed.slice(0, 128)}”.`,
    suggestion === null ? form : `Did you mean ${suggestion}? ${form}`,
  );
}

function addList(group: Command, context: CliContext): void {
  group
    .command('list')
    .description('List courts; filter by country, region, level or coverage.')
    .option('--country <country>', 'US or CA', country)
    .option('--region <region>', 'state, province or territory: two letters', region)
    .addOption(
      new Option('--level <level>', 'level').choices(['supreme', 'appellate', 'trial', 'bankruptcy', 'special']),
    )
    .addOption(new Option('--coverage <coverage>', 'coverage').choices(['full', 'partial', 'planned']))
    .option('--json', 'one JSON array')
    .addHelpText(
      'after',
      '\nExamples:\n  $ docket courts list --region OK\n  $ docket courts list --country CA --level appellate\n  $ docket courts list --coverage planned --json',
    )
    .action((options: ListOptions) => {
      const listed = courts.filter(
        (court) =>
          (options.country === undefined || court.country === options.country) &&
          (options.region === undefined || court.region === options.region) &&
          (options.level === undefined || court.level === options.level) &&
          (options.coverage === undefined || court.coverage === options.coverage),
      );
      if (options.json) return printJson(context, listed.map(shownCourt));
      for (const court of listed) print(context, courtLine(court));
      print(context, `${listed.length} ${listed.length === 1 ? 'court' : 'courts'}`);
    });
}

function country(value: string): string {
  const upper = value.toUpperCase();
  if (upper !== 'US' && upper !== 'CA') throw new InvalidArgumentError('Use US or CA.');
  return upper;
}

function region(value: string): string {
  if (!/^[a-z]{2}$/i.test(value)) throw new InvalidArgumentError('A region is two letters, for example OK or QC.');
  return value.toUpperCase();
}

const courtLine = (court: Court): string =>
  `${court.code.padEnd(26)}${court.coverage.padEnd(9)}${court.name}${court.aliases.length === 0 ? '' : ` (also ${court.aliases.join(', ')})`}`;

function courtFacts(court: Court): readonly (readonly [string, string])[] {
  return [
    ['code', [court.code, ...court.aliases].join(', also ')],
    ['name', court.name],
    ['country', court.country],
    ['region', court.region ?? 'the whole country'],
    ['level', `${court.level} (${court.system})`],
    ['coverage', isLive(court) ? court.coverage : 'planned: listed, but not open to queries yet'],
    ['numbers like', court.example ?? 'no format is published: any number is accepted unchanged'],
    ['pattern', court.pattern ?? ANY_CASE_NUMBER],
    ['time zone', court.timeZone],
    ['language', court.language],
    ['system', court.caseManagementSystem ?? 'unknown'],
    ...(court.note === null ? [] : ([['note', court.note]] as const)),
  ];
}

function numberFacts(number: CaseNumber): readonly (readonly [string, string])[] {
  return [
    ['canonical', number.canonical],
    ['office', number.office ?? (number.complete ? 'numbers of this court have none' : 'not given')],
    ['kind', number.caseType ?? 'not part of the number'],
    ['set aside', number.setAside ?? 'nothing'],
    [
      'means',
      number.complete ? 'one case' : `every case of this court numbered ${number.core}, with any office or suffix`,
    ],
  ];
}

/** The names that the API uses. */
const shownCourt = (court: Court) => ({
  court_code: court.code,
  aliases: court.aliases,
  name: court.name,
  jurisdiction_country: court.country,
  region: court.region,
  level: court.level,
  system: court.system,
  status: isLive(court) ? 'live' : 'planned',
  coverage: court.coverage,
  language: court.language,
  time_zone: court.timeZone,
  case_id_format: { pattern: court.pattern ?? ANY_CASE_NUMBER, example: court.example },
  case_management_system: court.caseManagementSystem,
  note: court.note,
});

const shownNumber = (number: CaseNumber) => ({
  canonical: number.canonical,
  core: number.core,
  complete: number.complete,
  office: number.office,
  case_type: number.caseType,
  set_aside: number.setAside,
});

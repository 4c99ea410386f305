/** Reads the registry's file: one court per line, tab separated, with a header line. */
import type { Country, Court, CourtLanguage, CourtLevel, Coverage } from './court.ts';

export const REGISTRY_COLUMNS = [
  'code',
  'aliases',
  'name',
  'country',
  'region',
  'level',
  'system',
  'case_number_pattern',
  'example',
  'time_zone',
  'language',
  'coverage',
  'case_management_system',
  'note',
] as const;

/**
 * Splits the file into courts. It does not validate the facts: `registryFaults` does, in a test over the file, so that
 * the service need not do it at startup.
 *
 * @throws Error if the header is not that of this version, or a line has another number of fields.
 */
export function readRegistry(text: string): readonly Court[] {
  const [header, ...lines] = text.replaceAll('\r\n', '\n').split('\n');
  if (header !== REGISTRY_COLUMNS.join('\t')) throw new Error('The court registry does not begin with its header.');
  const courts: Court[] = [];
  lines.forEach((line, index) => {
    if (line !== '') courts.push(readCourt(line, index + 2));
  });
  return courts;
}

function readCourt(line: string, lineNumber: number): Court {
  const fields = line.split('\t');
  if (fields.length !== REGISTRY_COLUMNS.length) {
    throw new Error(`Line ${lineNumber} of the court registry has ${fields.length} fields.`);
  }
  const [code = '', aliases = '', name = '', country = '', region = '', level = '', system = '', ...more] = fields;
  const [pattern = '', example = '', timeZone = '', language = '', coverage = '', manager = '', note = ''] = more;
  return {
    code,
    aliases: aliases === '' ? [] : aliases.split(','),
    name,
    // Values of closed lists; `registryFaults` reports any other.
    country: country as Country,
    region: region || null,
    level: level as CourtLevel,
    system,
    pattern: pattern || null,
    example: example || null,
    timeZone,
    language: language as CourtLanguage,
    coverage: coverage as Coverage,
    caseManagementSystem: manager || null,
    note: note || null,
  };
}

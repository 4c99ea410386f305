/** A court and a case number as an operator types them. */
import { parseCaseNumber } from '../courts/case-number.ts';
import type { CaseNumber, Court } from '../courts/court.ts';
import { findCourt, nearestCourts } from '../courts/registry.ts';
import { CliError } from './command.ts';

/** @throws CliError with the nearest codes */
export function courtNamed(code: string): Court {
  const court = findCourt(code);
  if (court !== null) return court;
  const near = nearestCourts(code, 3).map((candidate) => candidate.code);
  throw new CliError(
    `Unknown court: ${code.slice(0, 64)}.`,
    near.length === 0 ? 'Find it by name with docket courts search.' : `Did you mean ${near.join(', ')}?`,
  );
}

/** @throws CliError */
export function caseNumberOf(court: Court, text: string): CaseNumber {
  const number = parseCaseNumber(court, text);
  if (number) return number;
  throw new CliError(
    `${text.slice(0, 64)} is not a case number of ${court.code}.`,
    court.example ? `Give one like ${court.example}.` : 'Give the number as the court writes it.',
  );
}

/** Masks stored content with newer rules. Pure. */
import type { Country } from '../courts/court.ts';
import {
  type DocketDetails,
  decodeDetails,
  decodeFilings,
  detailsBlob,
  encodeBlob,
  type FilingContent,
  filingsBlob,
} from './filing-content.ts';
import { maskedName, maskStoredText } from './mask.ts';
import { MAX_SHORT_TEXT } from './text.ts';

export interface Remasked {
  readonly content: Buffer;
  /** Filings in which something is newly hidden, in the order of the blob. */
  readonly filingIds: readonly string[];
}

/** The replacement of a docket's blob under today's rules; null if they hide nothing more in it. */
export function remaskBlob(bytes: Buffer, country: Country): Remasked | null {
  const details = decodeDetails(bytes);
  if (details) {
    const masked = maskDetails(details);
    return same(details, masked) ? null : { content: encodeBlob(detailsBlob(masked)), filingIds: [] };
  }
  const filings = decodeFilings(bytes);
  const filingIds: string[] = [];
  const masked = new Map(
    [...filings].map(([filingId, content]) => {
      const after = maskFiling(content, country);
      if (!same(content, after)) filingIds.push(filingId);
      return [filingId, after];
    }),
  );
  return filingIds.length === 0 ? null : { content: encodeBlob(filingsBlob(masked)), filingIds };
}

const same = (a: object, b: object): boolean => JSON.stringify(a) === JSON.stringify(b);

/** As `maskedName`, but without the length limit: stored text is already cut. */
const name = (text: string): string => maskedName(text, Math.max(text.length, MAX_SHORT_TEXT));
const nameOrNull = (text: string | null): string | null => (text === null ? null : name(text));

/** A filing's content under today's rules. */
export function maskFiling(content: FilingContent, country: Country): FilingContent {
  const textOrNull = (text: string | null): string | null => (text === null ? null : maskStoredText(text, country));
  return {
    ...content,
    description: maskStoredText(content.description, country),
    shortDescription: textOrNull(content.shortDescription),
    filedBy: nameOrNull(content.filedBy),
    attachments: content.attachments.map((one) => ({ ...one, description: textOrNull(one.description) })),
  };
}

/** A docket's head under today's rules. */
export function maskDetails(details: DocketDetails): DocketDetails {
  const { header } = details;
  return {
    ...details,
    header: {
      ...header,
      caseName: nameOrNull(header.caseName),
      caseNameSecondary: nameOrNull(header.caseNameSecondary),
      natureOfProceeding: nameOrNull(header.natureOfProceeding),
      cause: nameOrNull(header.cause),
      assignedJudge: nameOrNull(header.assignedJudge),
      referredJudge: nameOrNull(header.referredJudge),
    },
    parties: details.parties.map((party) => ({
      ...party,
      name: name(party.name),
      role: nameOrNull(party.role),
      attorneys: party.attorneys.map((attorney) => ({
        name: name(attorney.name),
        role: nameOrNull(attorney.role),
        firm: nameOrNull(attorney.firm),
      })),
    })),
    crossReferences: details.crossReferences.map((one) => ({ ...one, caseId: name(one.caseId) })),
  };
}

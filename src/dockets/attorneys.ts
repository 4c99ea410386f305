/** What is shown of an attorney: a role in plain words, and a firm if one is named. Never a way to contact a person. */
import { maskPersonalDetails } from './mask.ts';
import { cleanText, clip } from './text.ts';

/**
 * Used for every court: attorneys of both countries appear in either, and a firm that looks like an address is omitted.
 */
const STRICTEST = 'CA';
const MAX_ROLE = 200;
const MAX_FIRM = 150;

const KNOWN_ROLES: ReadonlyMap<string, string> = new Map([
  ['LEAD ATTORNEY', 'Lead attorney'],
  ['ATTORNEY TO BE NOTICED', 'Attorney to be noticed'],
  ['PRO HAC VICE', 'Pro hac vice'],
  ['PRO SE', 'Pro se'],
  ['TERMINATED', 'Terminated'],
]);

/** Abbreviations in appellate dockets: correspondent, lead, to be noticed, not to be noticed. */
const ABBREVIATED_ROLES: ReadonlyMap<string, string> = new Map([
  ['LD', 'Lead attorney'],
  ['NTC', 'Attorney to be noticed'],
]);

/** Roles of an attorney, cleaned and joined; null if none is stated. */
export function attorneyRole(roles: readonly string[]): string | null {
  const cleaned = roles.flatMap(cleanRole).filter((role) => role !== '');
  return cleaned.length === 0 ? null : clip([...new Set(cleaned)].join('; '), MAX_ROLE);
}

function cleanRole(raw: string): string[] {
  const role = maskPersonalDetails(cleanText(clip(raw, 500)), STRICTEST);
  const known = KNOWN_ROLES.get(role.toUpperCase());
  if (known !== undefined) return [known];
  const terminated = /^TERMINATED: (\d{2})\/(\d{2})\/(\d{4})$/i.exec(role);
  if (terminated) return [`Terminated ${terminated[3]}-${terminated[1]}-${terminated[2]}`];
  const abbreviated = /^((?:(?:COR|LD|NTC|NON)\b ?){1,4})(.{0,400})$/.exec(role);
  if (abbreviated?.[1]) {
    const parts = abbreviated[1].trim().split(' ');
    return [...parts.flatMap((part) => ABBREVIATED_ROLES.get(part) ?? []), (abbreviated[2] ?? '').trim()];
  }
  const designation = /^Designation: (.+)$/i.exec(role);
  if (designation?.[1]) return [designation[1]];
  if (/^Bar Status:/i.test(role)) return [];
  return [role];
}

const FIRM_SIGN =
  /\b(?:LLP|L\.L\.P|PLLC|P\.L\.L\.C|LLC|L\.L\.C|P\.?C|P\.?A|P\.?L\.?C|APC|APLC|LPA|Law|Legal|Firm|Attorneys?|Associates|Partners|Group|Defenders?|Department|Dept|Division|Bureau|Commission|Agency|Counsel|Solicitors?|Barristers?|Avocats|Project|Union|Foundation|Center|Clinic)\b|\bU\.?S\.? Attorney|(?<!\p{L})& /u;
/** Signs that a line locates a person, gives a contact, or shows that the person is in custody. */
const PLACE_SIGN =
  /[\d@]|\b(?:Street|Avenue|Suite|Floor|Box|Road|Prison|Penitentiary|Jail|Detention|Correctional|Inmate|Reg)\b|\bwww\.|:/i;

/**
 * The firm that a contact block begins with, or null. Nothing else of the block is ever used. The line is used only if
 * it names a firm and has no sign of a place, a number or an address.
 */
export function firmOf(contact: string): string | null {
  const first = cleanText(clip(contact, 2_000).split('\n', 1)[0] ?? '');
  if (first === '' || first.length > MAX_FIRM || PLACE_SIGN.test(first) || !FIRM_SIGN.test(first)) return null;
  return maskPersonalDetails(first, STRICTEST) === first ? first : null;
}

/** US military courts of appeals. */
import { type Grammar, padded, plainNumber, setAside, shortYear } from './grammar.ts';

const ARMED_FORCES = /^(?<year>(?:19|20)?\d{2})-(?<sequence>\d{1,4})(?: ?[/-] ?(?<service>AR|AF|NA|MC|CG|SP))?$/i;

/** Armed Forces: `24-0123/AR`; the service after the number is often omitted. */
export const armedForcesGrammar: Grammar = ({ text }) => {
  const parts = ARMED_FORCES.exec(text)?.groups;
  if (!parts) return null;
  const core = `${shortYear(parts.year ?? '')}-${padded(parts.sequence ?? '', 4)}`;
  if (parts.service === undefined) return plainNumber(core, { complete: false });
  return plainNumber(`${core}/${parts.service.toUpperCase()}`, { core });
};

interface ServiceForm {
  readonly read: RegExp;
  write(number: string): string;
}

/** A court of one service: its own short name, if it writes one, and a number of its own length. */
const SERVICE_FORMS: ReadonlyMap<string, ServiceForm> = new Map([
  ['mc', { read: /^(?:CMCR[ -]?)?(?<number>\d{2}-\d{3})(?<aside>)$/i, write: (number) => `CMCR ${number}` }],
  ['acca', { read: /^(?:ARMY[ -]?)?(?<number>\d{8})(?<aside> \(.{1,20}\))?$/i, write: (number) => `ARMY ${number}` }],
  ['afcca', { read: /^(?:ACM[ -]?)?(?<number>S?\d{5})(?<aside> \(.{1,20}\))?$/i, write: (number) => `ACM ${number}` }],
  ['nmcca', { read: /^(?:NMCCA[ -]?)?(?<number>\d{9})(?<aside> \(.{1,20}\))?$/i, write: (number) => number }],
  ['uscgcoca', { read: /^(?:CGCMG?[ -]?)?(?<number>\d{4})(?<aside> \(.{1,20}\))?$/i, write: (number) => number }],
]);

export const serviceCourtGrammar: Grammar = ({ text }, court) => {
  const form = SERVICE_FORMS.get(court.code);
  const parts = form?.read.exec(text)?.groups;
  if (!form || !parts) return null;
  return plainNumber(form.write((parts.number ?? '').toUpperCase()), { setAside: setAside(parts.aside) });
};

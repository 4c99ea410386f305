/** No personal detail is served: from the files that contain it, through import and projection, to every answer. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openWorld, type World } from './world.ts';

const digits = (length: number) =>
  fc.array(fc.integer({ min: 0, max: 9 }), { minLength: length, maxLength: length }).map((all) => all.join(''));
const joined = (separator: string, ...lengths: number[]) =>
  fc.tuple(...lengths.map(digits)).map((parts) => parts.join(separator));
const word = fc.constantFrom('Alder', 'Birch', 'Cedar', 'Dogwood', 'Elm', 'Fir', 'Gingko', 'Hazel');
const mot = fc.constantFrom('Érable', 'Bouleau', 'Sapin', 'Saule', 'Tilleul', 'Sainte-Foy');

/** A detail in its context, and the part of it that must not be served. */
interface Detail {
  readonly text: string;
  readonly secret: string;
}
const detail = (secret: fc.Arbitrary<string>, ...frames: ((secret: string) => string)[]): fc.Arbitrary<Detail> =>
  fc.tuple(secret, fc.constantFrom(...frames)).map(([own, frame]) => ({ text: frame(own), secret: own }));

const phone = fc.oneof(
  joined('-', 3, 3, 4),
  joined('.', 3, 3, 4),
  fc.tuple(digits(3), joined('-', 3, 4)).map(([a, b]) => `(${a}) ${b}`),
);
const birth = fc.date({ min: new Date('1930-01-01'), max: new Date('2015-12-31'), noInvalidDate: true });
const iso = birth.map((date) => date.toISOString().slice(0, 10));
const slashed = iso.map((date) => `${date.slice(5, 7)}/${date.slice(8)}/${date.slice(0, 4)}`);
const mail = fc.tuple(word, digits(4)).map(([name, number]) => `${name.toLowerCase()}.${number}@mail.example`);

const english = fc.oneof(
  detail(
    phone,
    (s) => `telephone ${s}`,
    (s) => `call ${s}.`,
    (s) => `Fax: ${s}`,
    (s) => `(${s})`,
  ),
  detail(
    mail,
    (s) => `e-mail ${s}`,
    (s) => `<${s}>`,
    (s) => `write to ${s}.`,
  ),
  detail(
    joined('-', 3, 2, 4),
    (s) => `SSN ${s}`,
    (s) => `Social Security No. ${s}`,
    (s) => s,
  ),
  detail(
    joined('-', 2, 7),
    (s) => `EIN ${s}`,
    (s) => `Employer Tax ID: ${s}`,
    (s) => s,
  ),
  detail(
    joined('-', 3, 3, 3),
    (s) => `A${s}`,
    (s) => `alien number ${s}`,
  ),
  detail(
    fc.oneof(iso, slashed),
    (s) => `DOB: ${s}`,
    (s) => `date of birth ${s}`,
    (s) => `born on ${s}`,
  ),
);
const french = fc.oneof(
  detail(
    phone,
    (s) => `tél. : ${s}`,
    (s) => `téléphone ${s}`,
    (s) => `télécopieur : ${s}`,
  ),
  detail(mail, (s) => `courriel : ${s}`),
  detail(
    joined(' ', 3, 3, 3),
    (s) => `NAS ${s}`,
    (s) => `numéro d’assurance sociale : ${s}`,
  ),
  detail(
    iso,
    (s) => `date de naissance : ${s}`,
    (s) => `née le ${s}`,
    (s) => `D.D.N. ${s}`,
  ),
  detail(joined('-', 4, 4), (s) => `IUC ${s}`),
);
/** Not tested in names: a case or a company may be named after its house. */
const address = fc.oneof(
  detail(
    fc.tuple(digits(3), word).map(([number, name]) => `1${number} ${name} Street`),
    (s) => `residing at ${s}, Springfield, IL 62704`,
    (s) => `${s}, Apt. 4`,
  ),
  detail(
    fc.tuple(digits(3), mot).map(([number, name]) => `1${number}, rue du ${name}`),
    (s) => `demeurant au ${s}, Montréal (Québec) H2X 1Y4`,
  ),
  detail(
    fc.tuple(digits(4)).map(([number]) => `P.O. Box 1${number}`),
    (s) => `mailed to ${s}`,
  ),
);
const anywhere = fc.oneof(english, french);
const inText = fc.oneof(english, french, address);

const framed = (one: fc.Arbitrary<Detail>) =>
  fc
    .tuple(
      fc.constantFrom('ORDER re 4 MOTION; ', 'NOTICE of returned mail, ', 'Ordonnance; ', 'RESPONSE by A. Filer (', ''),
      one,
      fc.constantFrom('', '. Signed on 3/8/2024', ') (Entered: 03/08/2024)', ', rejeté'),
    )
    .map(([before, { text, secret }, after]) => ({ text: `${before}${text}${after}`, secret }));

const docketOf = fc.record({
  entries: fc.array(fc.record({ description: framed(inText), short: framed(inText), attachment: framed(inText) }), {
    minLength: 8,
    maxLength: 20,
  }),
  names: fc.array(framed(anywhere), { minLength: 8, maxLength: 8 }),
  contact: framed(inText),
});

describe('no personal detail is served', () => {
  let world: World;
  beforeAll(async () => {
    world = await openWorld();
  });
  afterAll(() => world.close());

  it('in any answer, for any field of a file, in English or French', async () => {
    let number = 100;
    await fc.assert(
      fc.asyncProperty(
        docketOf,
        fc.constantFrom('cand', 'ca9', 'fct', 'nysb'),
        async ({ entries, names, contact }, code) => {
          number++;
          const caseId = {
            cand: `3:24-cv-00${number}`,
            ca9: `24-${number}`,
            fct: `T-${number}-24`,
            nysb: `24-10${number}`,
          }[code]!;
          const [caseName, judge, referred, cause, nature, party, attorney, role] = names.map(({ text }) => text);
          const raw = (suffix: string) => ({
            court_id: code,
            docket_number: caseId,
            case_name: caseName,
            assigned_to_str: judge,
            referred_to_str: referred,
            cause,
            nature_of_suit: nature,
            date_filed: '2024-02-01',
            parties: [
              {
                name: party,
                type: role,
                attorneys: [{ name: attorney, roles: [role], contact: `${contact.text}\n${names[0]?.text}` }],
              },
            ],
            docket_entries: entries.map(({ description, short, attachment }, index) => ({
              document_number: String(index + 1),
              date_filed: '2024-02-01',
              description: index % 3 === 2 ? '' : `${description.text}${suffix}`,
              short_description: short.text,
              attachments: [{ attachment_number: 1, description: attachment.text }],
            })),
          });
          await world.ingest(raw(''));
          const before = await world.ask(code, caseId);
          // A second import revises every text: the delta serves them too.
          await world.ingest(raw(' (amended)'));
          const answers = [
            before,
            await world.ask(code, caseId, { context: 'full', language: 'fr' }),
            await world.ask(code, caseId, { context: 'full', lastChecked: before.queriedAt }),
            // After every day of birth: the answer repeats it.
            await world.ask(code, caseId, { lastChecked: '2016-01-01T00:00:00.000000Z' }),
          ];
          const served = answers.map(({ body }) => JSON.stringify(body)).join('\n');
          expect(served).toContain('(amended)');
          const secrets = [
            ...entries.flatMap((entry) => [entry.description, entry.short, entry.attachment]),
            ...names,
            contact,
          ].map(({ secret }) => secret);
          expect(secrets.filter((secret) => served.includes(secret))).toEqual([]);
        },
      ),
      { numRuns: 40 },
    );
  }, 60_000);
});

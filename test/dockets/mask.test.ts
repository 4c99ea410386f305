import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { maskPersonalDetails as maskIn } from '../../src/dockets/mask.ts';

/** Under the rules of both countries: the cases for English texts hold in Canada too. */
const maskPersonalDetails = (text: string): string => maskIn(text, 'CA');

/** A text with a detail in it, and what must be removed. */
const HIDDEN: readonly (readonly [text: string, secret: string])[] = [
  ['RESPONSE. SSN 123-45-6789, telephone (202) 555-0143.', '123-45-6789'],
  ['RESPONSE. SSN 123-45-6789, telephone (202) 555-0143.', '555-0143'],
  ['NOTICE of change, phone: 555-0143', '555-0143'],
  ['call 415-555-0199 for access', '415-555-0199'],
  ['call +1 415 555 0199.', '555 0199'],
  ['call 1-800-555-0100 ext. 12', '555-0100'],
  ['Telephone number: 555.555.0100. Transcripts', '555.555.0100'],
  ['Fax 2025550143', '2025550143'],
  ['reach us at +44 20 7946 0958 today', '7946 0958'],
  ['(email: jane.q-public+court@mail.example.co.uk)', 'jane.q-public+court@mail.example.co.uk'],
  ['Social Security No. 123456789 was filed', '123456789'],
  ['social security number is 123 45 6789', '123 45 6789'],
  ['ITIN 912-78-1234', '912-78-1234'],
  ['Tax ID / EIN: 12-3456789', '12-3456789'],
  ['taxpayer ID 123456789', '123456789'],
  ['the debtor 12-3456789, a company', '12-3456789'],
  ['Petition for A098-765-432 filed', '098-765-432'],
  ['Petitioner (A# 098765432)', '098765432'],
  ['Petitioner, A 98 765 432', '98 765 432'],
  ['Alien number 098-765-432', '098-765-432'],
  ['DOB: 03/04/1980; resides', '03/04/1980'],
  ['date of birth March 4, 1980', 'March 4, 1980'],
  ['minor born on 1980-03-04', '1980-03-04'],
  ['née le 4 mars 1980 à Laval', '4 mars 1980'],
  ['Mail returned from 12 Secret Street, Hiddenville, CA 94100', 'Secret Street'],
  ['Mail returned from 12 Secret Street, Hiddenville, CA 94100', '94100'],
  ['hearing at 100 Otis St, Asheville, NC 28801 before', '100 Otis St'],
  ['moved to 4500 N. Old Mill Rd. Apt. 12B', 'Old Mill'],
  ['moved to 4500 N. Old Mill Rd. Apt. 12B', '12B'],
  ['350 W 44th St, Suite 9', '44th St'],
  ['send to P.O. Box 1234, Anytown, TX 75001', '1234'],
  ['residing in Springfield, IL 62704-1234.', '62704'],
  ['avocat, Montréal, QC H2X 1Y4', 'H2X 1Y4'],
  ['moved to 55 King Street West, Toronto, ON M5H 1B6', 'West'],
  ['born 04/1980 in Springfield', '04/1980'],
  ['Avis de changement de téléphone : 514 555-0143', '555-0143'],
  ['tél. : (514) 555-0143, télécopieur : 514.555.0144', '555.0144'],
  ['courriel : jean.tremblay@exemple.qc.ca', 'tremblay@exemple'],
  ['demeurant au 1234, rue Sainte-Catherine Ouest, Montréal (Québec) H2X 1Y4', 'Sainte-Catherine'],
  ['demeurant au 1234, rue Sainte-Catherine Ouest, Montréal (Québec) H2X 1Y4', 'H2X'],
  ['12 boulevard René-Lévesque Est, bureau 300, Québec QC G1R 2B5', 'bureau 300'],
  ['résidant au 45 chemin de la Côte-des-Neiges', 'Neiges'],
  ['signifié au 12, avenue du Parc, app. 4', 'app. 4'],
  ['au 1250, 3e Avenue', '3e Avenue'],
  ['C.P. 1234, succursale Centre-ville', '1234'],
  ['Toronto (Ontario) M5H 1B6', 'M5H'],
  ['NAS 123 456 789', '456 789'],
  ['numéro d’assurance sociale : 123-456-789', '456-789'],
  ['né en 1980', '1980'],
  ['née le 1er août 1979', 'août 1979'],
  ['D.D.N. : 04/03/1980', '04/03/1980'],
  ['date de naissance : 1980-03-04', '1980-03-04'],
  ['IUC 1234-5678', '1234-5678'],
  ['A-Number: 205118733 detained', '205118733'],
  ['A-Number: A205-118-733 detained', '118-733'],
  ['reach the reporter at 3125550143 by noon', '3125550143'],
  ['17 Alder Street, Suite 13 Chicago, IL 60603 312-555-0143', '555-0143'],
  ['re 8399 S. Alder Vista, Yuma, Arizona 85364 filed', 'Alder'],
  ['no. 12 Bramble Cove, Little Rock, Arkansas 72205', 'Bramble'],
  ['Passport No. C03847712 returned', 'C03847712'],
  ['account no. 1234567890123', '1234567890123'],
  ["driver's license D1234567", 'D1234567'],
  ["Driver's license number NV 1402938475", '1402938475'],
  ['PSC 41 Box 2207, APO AE 09464', '2207'],
  ['RR 2 Box 114, Alder, WV 26408', '114'],
  ["numéro d'entreprise 123456789 RC0001", '123456789'],
];

const UNTOUCHED: readonly string[] = [
  'ORDER in 3:24-cv-01234 and 1:18-cr-03298-JAH-1 granting 12 MOTION to Compel. Signed on 6/28/2019.',
  'Related to 22-8513, 17-15589, No. 16-1540, MDL No. 2168, 08-01789 and 8-09-78585.',
  'CLERK’S ORDER [1961779] filed considering case opening document [1961713-2] [22-8513]',
  '[Receipt No.70210350000186797347] of order [1961779-3].',
  'Filing fee: $ 402, receipt number 0971-12345678. Amended to $1,234,567.89 of $ 25,000 unsecured.',
  'under 28 U.S.C. § 1331, 42 U.S.C. 1983, 18 U.S.C. 922(g)(1), 15:1 Antitrust Litigation, Rule 5(c)(3)',
  'PAYMENT OF DOCKETING FEE, USCA receipt # A02-2142-ACMS, FILED.',
  'Supreme Court Case number: 16-1540 Filed on: 06/26/2017; No. 16A1191; 24A100',
  're 4 MOTION to Compel Google Drive; 33 Order Setting Hearing; 7 Sealed Document Street Map',
  'Objection To Claim Of Imperial Bank, Clm. # 5 - $ 40,338.25. (Entered: 06/07/2000)',
  'Reset for 4/23/2020 10:30 AM in Courtroom 13B before Judge John A. Houston.',
  'COMPLAINT against 45 Elm Street LLC filed by 1234 Broadway Associates.',
  '500-17-123456-241, CV-24-00712345-0000, CP-51-CR-0001234-2024, 01-24-00123-CV, 650123/2024, WR-82,851-01',
  'Page Numbers: 1-72. Released 2022-03-14. Volume 12, 100 F.3d 200 (2d Cir. 1998). ECF Nos. 164, 176, 178',
  'pay $200 assessment; Cts. 35-48, 49 dismissed; 60 Mos. on Ct. 1',
  'Ordonnance du 26 avril 2024 accordant la requête no 12; pièce P-4, art. 51 C.p.c., 500-17-123456-241',
  'Jugement rendu en 2024 selon la Route 20 du décret; rôle 45, place du demandeur; page 3, allée et venue',
  'document id 037013432498, 009028908546, a3da328e-2562-ee11-be6e-001dd804e087',
  'Receipt number A18166144; Meeting ID 160 555 0143, passcode 2085550143; invoice 3125550143, check no. 2125550143',
  'On account of 2019 taxes; account ending in 4412; passport surrendered, file 22-0119; driver license, Count 2, 90 days',
  'Exhibit A 100 200 300; 10 Mile Creek and 9 Mile Road study groups, 12 District Court orders; Plan Number 3 In Place Of Plan Number 2',
];

describe('personal details (docs/design/dockets.md#masking)', () => {
  it.each(HIDDEN)('are hidden in %j', (text, secret) => {
    expect(maskPersonalDetails(text)).not.toContain(secret);
    expect(maskPersonalDetails(text)).toContain('removed]');
  });

  it.each(UNTOUCHED)('are not found in %j', (text) => {
    expect(maskPersonalDetails(text)).toBe(text);
  });

  it('in the form of a French address are recognized only in Canadian courts', () => {
    for (const text of ["131 Ch 7 Trustee's Motion", 'F.R.C.P. 4(f)', 'au 45 chemin de la Rive']) {
      expect(maskIn(text, 'US')).toBe(text);
    }
    expect(maskIn('au 45 chemin de la Rive', 'CA')).toBe('au [address removed]');
    expect(maskIn('F.R.C.P. 4(f)', 'CA')).toBe('F.R.C.P. 4(f)');
  });

  it('are removed without the text around them', () => {
    expect(maskPersonalDetails('ORDER re 4 MOTION, SSN 123-45-6789, granted.')).toBe(
      'ORDER re 4 MOTION, SSN [social security number removed], granted.',
    );
    expect(maskPersonalDetails('x@y.example, Mail Returned')).toBe('[e-mail address removed], Mail Returned');
  });

  const digits = (length: number) =>
    fc.array(fc.integer({ min: 0, max: 9 }), { minLength: length, maxLength: length }).map((all) => all.join(''));
  const around = fc.constantFrom('', 'ORDER ', '(', 're 12 MOTION, ', 'Signed on 3/8/2024; ');
  const behind = fc.constantFrom('', '.', ' (Entered: 03/08/2024)', ', granted', ')');

  it('such as telephone, social security or taxpayer numbers and mail addresses are never served', () => {
    const detail = fc.oneof(
      fc.tuple(digits(3), digits(3), digits(4)).map(([a, b, c]) => `${a}-${b}-${c}`),
      fc.tuple(digits(3), digits(3), digits(4)).map(([a, b, c]) => `(${a}) ${b}-${c}`),
      fc.tuple(digits(3), digits(2), digits(4)).map(([a, b, c]) => `${a}-${b}-${c}`),
      fc.tuple(digits(2), digits(7)).map(([a, b]) => `${a}-${b}`),
      fc.tuple(digits(3), digits(3), digits(3)).map(([a, b, c]) => `A${a}-${b}-${c}`),
      fc.emailAddress().filter((mail) => /^[\w.+-]+@[\w.-]+$/.test(mail)),
    );
    fc.assert(
      fc.property(around, detail, behind, (before, secret, after) => {
        expect(maskPersonalDetails(`${before}${secret}${after}`)).not.toContain(secret);
      }),
    );
  });

  it('do not include docket references, dates and amounts', () => {
    const reference = fc.oneof(
      fc
        .tuple(fc.integer({ min: 1, max: 9 }), digits(2), fc.constantFrom('cv', 'cr', 'md', 'mj'), digits(5))
        .map(([office, year, type, number]) => `${office}:${year}-${type}-${number}`),
      fc.tuple(digits(2), digits(5)).map(([year, number]) => `${year}-${number}`),
      fc.date({ min: new Date('1990-01-01'), max: new Date('2040-01-01'), noInvalidDate: true }).map((date) => {
        const [year, month, day] = date.toISOString().slice(0, 10).split('-');
        return `${month}/${day}/${year}`;
      }),
      fc.integer({ min: 0, max: 99_999_999 }).map((amount) => `$ ${amount.toLocaleString('en-US')}`),
      fc.integer({ min: 1, max: 9_999 }).map((entry) => `re ${entry} MOTION`),
    );
    fc.assert(
      fc.property(fc.array(reference, { minLength: 1, maxLength: 5 }), (references) => {
        const text = `ORDER ${references.join(', ')} granted`;
        expect(maskPersonalDetails(text)).toBe(text);
      }),
    );
  });

  it('are masked in any text, and not twice', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
        const once = maskPersonalDetails(text);
        expect(maskPersonalDetails(once)).toBe(once);
      }),
    );
  });

  it('are found in time proportional to the length of the text, regardless of its content', () => {
    const hostile = [
      'a',
      '1',
      '1-',
      '(',
      '12 Ab ',
      '12 Ab St ',
      '11111 ',
      '1 1/2 N ',
      'A ',
      'A A1A 1A1 ',
      'a.',
      '@a',
      '+1 ',
      'born ',
      'passport ',
      'driver license A1-',
      'account 1-1-',
      'IBAN AA11 ',
      'Suite 1 ',
      'RR 1 ',
      '12 de la ',
      'Ab Ab, ',
      '12 Ab Ab Ab Ab Ab Ab Ab Ab Ab Ab, CA ',
      '12 rue de la ',
      '1, rue Ab Ab ',
      '1 1re rue ',
      "d'",
      'né le ',
      'Ab (Québec) ',
      'Ab Cd, ',
      '123-45-',
      'tel 1 ',
      '[address removed] ',
    ];
    for (const part of hostile) {
      // A text with quadratic time would need 64 times the time for 8 times the length.
      const [short, long] = [8_192, 65_536].map((length) => fastest(part.repeat(Math.ceil(length / part.length))));
      expect(long! / Math.max(short!, 500), JSON.stringify(part)).toBeLessThan(32);
    }
  });
});

/** Processor time of the fastest of three runs, in microseconds. */
function fastest(text: string): number {
  return Math.min(
    ...[1, 2, 3].map(() => {
      const started = process.cpuUsage();
      maskPersonalDetails(text);
      const { user, system } = process.cpuUsage(started);
      return user + system;
    }),
  );
}

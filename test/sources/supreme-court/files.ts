/** Invented files of cases, in the Supreme Court's form. */
import type { CourtFile, Proceeding } from './supreme-court.ts';

export const documentUrl = (number: string, document: number, stamp: string, file: string): string =>
  `http://www.supremecourt.gov/DocketPDF/${number.slice(0, 2)}/${number}/${document}/${stamp}_${encodeURIComponent(file)}`;

export const proceeding = (date: string, text: string, links?: Proceeding['Links']): Proceeding => ({
  Date: date,
  Text: text,
  ...(links && { Links: links }),
});

export const paper = (
  number: string,
  document: number,
  description = 'Main Document',
  stamp = '20260310142755215',
) => ({
  Description: description,
  File: `${description}.pdf`,
  DocumentUrl: documentUrl(number, document, stamp, `${description}.pdf`),
});

const CONTACT = {
  PrisonerId: null,
  Phone: '(312) 555-0142',
  Address: '77 Wistful Lane\r\nSuite 12',
  City: 'Springfield',
  State: 'IL',
  Zip: '60000',
  Email: 'WREN@CHAMBERS.EXAMPLE',
};

/** A petition with eight entries, of which two have the same text on the same day. */
export const petition = (number = '25-447'): CourtFile => ({
  CaseNumber: `${number} `,
  bCapitalCase: false,
  sJsonCreationDate: '06/18/2026',
  sJsonTerm: '2025',
  sJsonCaseNumber: '00447',
  sJsonCaseType: 'Paid',
  RelatedCaseNumber: [{ RelatedType: 'Vide', DisplayCaseNumber: '25-448 ' }],
  PetitionerTitle: 'Orla Fennimore, Petitioner',
  RespondentTitle: 'Cobble &amp; Sons, Inc.',
  DocketedDate: 'March 12, 2026',
  Links: 'Linked with 25A114',
  LowerCourt: 'United States Court of Appeals for the Seventh Circuit',
  LowerCourtCaseNumbers: '(24-1901, 1902)',
  LowerCourtDecision: 'October 8, 2025 <br>Rule 12.4',
  ProceedingsandOrder: [
    proceeding(
      'Jan 26 2026',
      'Application (25A114) to extend the time to file a petition, submitted to Justice Example.',
    ),
    proceeding('Mar 10 2026', 'Petition for a writ of certiorari filed. (Response due April 13, 2026)', [
      paper(number, 901771, 'Petition'),
      paper(number, 901771, 'Appendix', '20260310142849175'),
    ]),
    proceeding('Apr 13 2026', 'Waiver of right of respondent Cobble &amp; Sons, Inc. to respond filed.', [
      paper(number, 902044),
    ]),
    proceeding('Apr 22 2026', 'DISTRIBUTED for Conference of 5/8/2026.'),
    proceeding('May 08 2026', 'Response Requested. (Due June 8, 2026)'),
    proceeding('May 11 2026', 'Rescheduled.'),
    proceeding('May 11 2026', 'Rescheduled.'),
    proceeding('Jun 08 2026', 'Brief of respondent in opposition filed. <i>VIDED</i>.', [paper(number, 903310)]),
  ],
  AttorneyHeaderPetitioner: 'Attorneys for Petitioner',
  Petitioner: [
    {
      Attorney: 'Wren  Alder',
      IsCounselofRecord: true,
      Title: 'Alder &amp; Finch LLP',
      ...CONTACT,
      PartyName: 'Orla Fennimore',
    },
    {
      Attorney: 'Ivo Marsh',
      IsCounselofRecord: false,
      Title: 'Attorney at Law',
      ...CONTACT,
      PartyName: 'Orla Fennimore ',
    },
  ],
  Respondent: [
    { Attorney: 'Tamsin Roe', IsCounselofRecord: true, Title: null, ...CONTACT, PartyName: 'Cobble &amp; Sons, Inc.' },
  ],
});

/** An application in a capital case, by the prisoner himself. */
export const capitalApplication = (): CourtFile => ({
  CaseNumber: '25A911 *** CAPITAL CASE ***',
  bCapitalCase: true,
  sJsonCreationDate: '01/27/2026',
  sJsonTerm: '2025',
  sJsonCaseNumber: '00911',
  sJsonCaseType: null,
  RelatedCaseNumber: [],
  PetitionerTitle: 'In Re Silas Quarrie, Applicant',
  DocketedDate: 'January 27, 2026',
  LowerCourt: 'Supreme Court of Florida',
  LowerCourtCaseNumbers: '(SC2025-9901)',
  ProceedingsandOrder: [
    proceeding('Jan 26 2026', 'Application (25A911) for a stay of execution, submitted to Justice Example.', [
      paper('25A911', 900118),
    ]),
  ],
  Petitioner: [
    {
      Attorney: 'Silas Quarrie',
      IsCounselofRecord: false,
      Title: null,
      PrisonerId: '771204',
      Phone: null,
      Address: 'Invented Institution\r\nP.O. Box 1',
      City: 'Springfield',
      State: 'FL',
      Zip: '32000',
      Email: null,
      PartyName: 'Silas Quarrie',
    },
  ],
});

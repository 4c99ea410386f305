/**
 * Given rows of CourtListener in which people wrote their numbers and mail addresses into names, when a look keeps them
 * for a later day, then nothing that identifies or locates a person is kept.
 */
import { describe, expect, it } from 'vitest';
import { keptDocket, keptRow } from '../../../src/sources/courtlistener/kept-rows.ts';

const [PHONE, MAIL, NUMBER] = ['312-555-0142', 'o.mullen@example.org', '078-05-1120'];
const PERSONAL = `Telephone ${PHONE}, ${MAIL}, SSN ${NUMBER}`;
const name = `Orla Mullen ${PERSONAL}`;

const expectMasked = (kept: object): void => {
  const text = JSON.stringify(kept);
  expect(text).toContain('Orla Mullen');
  for (const part of [PHONE, MAIL, NUMBER]) expect(text).not.toContain(part);
};

describe('what a look keeps of', () => {
  it('a docket has its names without personal details', () => {
    const row = { id: 7, docket_number: '1:26-cv-02417', case_name: name, case_name_full: name, assigned_to_str: name };
    expectMasked(keptDocket(row));
    expect(keptDocket(row)).toMatchObject({ id: 7, docket_number: '1:26-cv-02417' });
  });
  it('a party, and of an attorney, has neither details in the name nor an address', () => {
    const of = { docket_id: 7, docket: 'https://x.example/dockets/7/', name: 'Plaintiff' };
    expectMasked(keptRow('parties', { id: 1, name, extra_info: PERSONAL, party_types: [of], attorneys: [] }, '7'));
    const attorney = { id: 2, name, contact_raw: `Mullen LLP\n${PERSONAL}`, phone: PHONE, email: MAIL };
    expectMasked(keptRow('attorneys', { ...attorney, parties_represented: [of] }, '7'));
  });
});

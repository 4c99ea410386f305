/** Given a stored answer, when a filing is withdrawn, then nothing of its text is left in it, whatever its bytes are. */
import { describe, expect, it } from 'vitest';
import { withoutFilings } from '../../src/dockets/withdrawn-answer.ts';

const ID = '38593a55-d55e-5864-9a4f-4fada76da00c';
const OTHER = 'b0df6c3c-5580-5dd5-8387-f77b0f72c75d';
const left = (bytes: string): string | null => withoutFilings(Buffer.from(bytes), new Set([ID]))?.toString() ?? null;

describe('an answer without a withdrawn filing', () => {
  it('keeps the other filings, and says which one is withdrawn', () => {
    const filing = (id: string) => ({ filing_id: id, entry_number: 1, description: 'a secret' });
    const answer = { meta: { request_id: 'r' }, filings: [filing(ID), filing(OTHER)] };
    const redacted = JSON.parse(left(JSON.stringify(answer)) ?? '');
    expect(redacted).toEqual({
      meta: { request_id: 'r', withdrawn_filings: [ID] },
      filings: [{ filing_id: ID, entry_number: 1, description: '' }, filing(OTHER)],
    });
    expect(left(JSON.stringify(redacted))).toBeNull();
  });

  it('keeps nothing of bytes that are no JSON, if they name the filing', () => {
    const redacted = left(`<filing id="${ID}">a secret</filing>`);
    expect(JSON.parse(redacted ?? '')).toEqual({ meta: { withdrawn_filings: [ID] } });
    expect(left(redacted ?? '')).toBeNull();
    expect(left('<filing>another</filing>')).toBeNull();
  });
});

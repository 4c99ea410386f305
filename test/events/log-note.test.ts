/**
 * Given a head of a log and a key, when it is written as a signed note, then Go's `golang.org/x/mod/sumdb/note` (which
 * made these vectors) opens it; and a note that was changed anywhere does not verify.
 */
import { describe, expect, it } from 'vitest';
import {
  headKeyOf,
  isNoteKey,
  parseSignedNote,
  signedNote,
  verifierKeyOf,
  verifyHeadSignature,
} from '../../src/events/log-note.ts';

const LOG = '6f1f7a52-0c3f-4b0e-9a54-1d6a2f5e8c11';
const OTHER_LOG = '6f1f7a52-0c3f-4b0e-9a54-1d6a2f5e8c12';
const HEAD = { size: 7, root: '4813494d137e1631bba301d5acab6e7bb7aa74ce1185d456565ef51d737677b2' };
const NOTE = `docket-log/${LOG}
7
SBNJTRN+FjG7owHVrKtue7eqdM4RhdRWVl71HXN2d7I=

— docket-log/${LOG} 6ANq/vI+ehAeRNuAdo/2NOhr2OJKJJSC27ex8D6M65AH/+UGmsUfbvsBGzsFUd7T7ieRheigsJON6o+N49qJ+v0c8A4=
`;

const key = headKeyOf(Uint8Array.from({ length: 32 }, (_, index) => index));
const otherKey = headKeyOf(new Uint8Array(32));
const signed = { ...HEAD, signature: key.signHead(HEAD, LOG) };

describe('a signed note', () => {
  it('is the note, and names the key, that the Go program wrote', () => {
    expect(signedNote(signed, LOG, key.publicKey)).toBe(NOTE);
    expect(verifierKeyOf(LOG, key.publicKey)).toBe(
      `docket-log/${LOG}+e8036afe+AQOhB7/zzhC+HXDdGOdLwJln5NYwm6UNXx3chmQSVTG4`,
    );
  });

  it('is read back, and its signature holds for its log and its key only', () => {
    const parsed = parseSignedNote(NOTE);
    expect(parsed).toEqual({ logId: LOG, ...signed, keyHash: 'e8036afe' });
    if (!parsed) return;
    expect(verifyHeadSignature(parsed, LOG, key.publicKey)).toBe(true);
    expect(verifyHeadSignature(parsed, OTHER_LOG, key.publicKey)).toBe(false);
    expect(verifyHeadSignature(parsed, LOG, otherKey.publicKey)).toBe(false);
    expect(verifyHeadSignature({ ...parsed, size: 8 }, LOG, key.publicKey)).toBe(false);
    expect(verifyHeadSignature({ ...parsed, signature: 'AA==' }, LOG, key.publicKey)).toBe(false);
    expect(verifyHeadSignature(parsed, LOG, 'AA==')).toBe(false);
    expect([key, otherKey].map(({ publicKey }) => isNoteKey(parsed, publicKey))).toEqual([true, false]);
  });

  it('may carry the signatures of witnesses beside ours', () => {
    const witness = '— witness.example/1 AAAAAAAA\n';
    const [text, ours] = NOTE.split('\n\n') as [string, string];
    expect(parseSignedNote(`${text}\n\n${witness}${ours}`)).toEqual(parseSignedNote(NOTE));
    expect(parseSignedNote(`${text}\n\n${ours}${witness}`)).toEqual(parseSignedNote(NOTE));
    expect(parseSignedNote(`${text}\n\n${witness}`)).toBeNull();
  });

  it.each([
    ['no signature', NOTE.split('—')[0]],
    ['another first line', NOTE.replace('docket-log/', 'other-log/')],
    ['a size with a leading zero', NOTE.replace('\n7\n', '\n07\n')],
    ['a size of zero', NOTE.replace('\n7\n', '\n0\n')],
    ['a size beyond exact integers', NOTE.replace('\n7\n', '\n9999999999999999\n')],
    ['a root whose base64 has loose bits', NOTE.replace('d7I=', 'd7J=')],
    ['an extension line', NOTE.replace('\n\n', '\nmore\n\n')],
    ['a signature that is cut', NOTE.replace('0c8A4=', '0c8A==')],
    ['other line ends', NOTE.replaceAll('\n', '\r\n')],
    ['text before it', ` ${NOTE}`],
    ['nothing', ''],
  ])('is refused with %s', (_, text) => {
    expect(parseSignedNote(text ?? '')).toBeNull();
  });
});

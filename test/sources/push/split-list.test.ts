/** Given a JSON list in pieces of any size, when it is split, then each item comes whole, and bad ones alone are bad. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type SplitValue, splitList } from '../../../src/sources/push/split-list.ts';

async function split(text: string, size = 7): Promise<SplitValue[]> {
  const bytes = Buffer.from(text);
  async function* pieces() {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  }
  const found: SplitValue[] = [];
  for await (const value of splitList(pieces())) found.push(value);
  return found;
}
const texts = (found: readonly SplitValue[]) => found.map((one) => ('why' in one ? one.why : one.bytes.toString()));

describe('a list', () => {
  it('is split into its items, whatever is in them and however it arrives', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.jsonValue(), { minLength: 1, maxLength: 8 }),
        fc.integer({ min: 1, max: 40 }),
        fc.constantFrom(0, 2),
        async (list, size, indent) => {
          const found = await split(`\n ${JSON.stringify(list, null, indent)} \n`, size);
          expect(found.map((one) => ('bytes' in one ? JSON.parse(one.bytes.toString()) : one))).toEqual(
            JSON.parse(JSON.stringify(list)),
          );
          expect(found.map(({ index }) => index)).toEqual(list.map((_, index) => index));
        },
      ),
    ));

  it('with a bad item has the others whole', async () => {
    expect(texts(await split('[{"a":1}, nonsense, {"b":"]},"}]'))).toEqual(['{"a":1}', ' nonsense', ' {"b":"]},"}']);
  });

  it.each([
    ['[', 'is cut off: the list has no end'],
    ['[]', 'is an empty list'],
  ])('%s is reported', async (text, why) => expect(texts(await split(text))).toEqual([why]));

  it('that is cut off, or followed by more, gives what came before', async () => {
    expect(texts(await split('[1,{"a":'))).toEqual(['1', 'is cut off: the list has no end']);
    expect(texts(await split('[1]\n[2]'))).toEqual(['1', expect.stringMatching(/followed by more text/)]);
  });
});

describe('another value', () => {
  it('is passed on whole, after its byte order mark', async () => {
    expect(texts(await split('\uFEFF {"a":[1,2]}\n', 1))).toEqual(['{"a":[1,2]}\n']);
    expect(texts(await split(''))).toEqual(['']);
  });
});

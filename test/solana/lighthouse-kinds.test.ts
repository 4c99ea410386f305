/** The table of guards against the list that the program's own authors generate for its clients. */
import { createRequire } from 'node:module';
import bs58 from 'bs58';
import { describe, expect, it } from 'vitest';
import { LIGHTHOUSE_PROGRAM } from '../../src/solana/addresses.ts';
import { LIGHTHOUSE_KINDS, readInstruction } from '../../src/solana/verify-transaction-instructions.ts';

interface LighthouseSdk {
  /** An enumeration of TypeScript: names by number, and numbers by name. */
  readonly LighthouseInstruction: Readonly<Record<string, string | number>>;
  readonly LIGHTHOUSE_PROGRAM_ADDRESS: string;
  getAssertTokenAccountInstructionDataEncoder(): Encoder;
  getAssertAccountInfoInstructionDataEncoder(): Encoder;
  getAssertTokenAccountMultiInstructionDataEncoder(): ListEncoder;
  getAssertAccountInfoMultiInstructionDataEncoder(): ListEncoder;
}

type Assertion = Readonly<Record<string, unknown>>;
interface Encoder {
  encode(args: { readonly logLevel: number; readonly assertion: Assertion }): Uint8Array;
}
interface ListEncoder {
  encode(args: { readonly logLevel: number; readonly assertions: readonly Assertion[] }): Uint8Array;
}
const sdk = createRequire(import.meta.url)('lighthouse-sdk') as LighthouseSdk;

describe('the kinds of guard instructions', () => {
  it('are those of the program, by the same numbers', () => {
    const numbered = Object.entries(sdk.LighthouseInstruction).filter(([, value]) => typeof value === 'number');
    expect(Object.fromEntries(numbered)).toEqual(
      Object.fromEntries(LIGHTHOUSE_KINDS.map(({ name }, number) => [name, number])),
    );
    expect(LIGHTHOUSE_PROGRAM).toBe(sdk.LIGHTHOUSE_PROGRAM_ADDRESS);
  });
  it('are allowed only where they assert about an account of a wallet', () => {
    const allowed = LIGHTHOUSE_KINDS.filter(({ use }) => use === 'guard').map(({ name }) => name);
    for (const name of allowed) expect(name).toMatch(/^Assert(Account|TokenAccount)/);
    expect(allowed).not.toContain('AssertSysvarClock');
  });
});

describe('a guard of a wallet that has never paid', () => {
  const operators = ['=', '≠', '>', '<', '≥', '≤', 'contains', 'does not contain'];
  const system = '11111111111111111111111111111111';
  const other = LIGHTHOUSE_PROGRAM;
  const read = (data: Uint8Array) =>
    readInstruction({
      programId: bs58Decode(LIGHTHOUSE_PROGRAM),
      accounts: [Buffer.alloc(32, 1)],
      data: Buffer.from(data),
    });
  const LEVEL = { logLevel: 4 };
  /** Alone, and in lists: of one, twice, and with one that is steady. */
  const readings = (one: Encoder, list: ListEncoder, steady: Assertion, assertion: Assertion) =>
    [
      one.encode({ ...LEVEL, assertion }),
      ...[[assertion], [assertion, assertion], [steady, assertion], [assertion, steady]].map((assertions) =>
        list.encode({ ...LEVEL, assertions }),
      ),
    ].map(read);
  const onTokens = (assertion: Assertion) =>
    readings(
      sdk.getAssertTokenAccountInstructionDataEncoder(),
      sdk.getAssertTokenAccountMultiInstructionDataEncoder(),
      { __kind: 'TokenAccountOwnerIsDerived' },
      assertion,
    );
  const onWallet = (assertion: Assertion) =>
    readings(
      sdk.getAssertAccountInfoInstructionDataEncoder(),
      sdk.getAssertAccountInfoMultiInstructionDataEncoder(),
      { __kind: 'KnownOwner', value: 0, operator: 0 },
      assertion,
    );
  const all = (othersCanBreak: boolean) =>
    Array.from({ length: 5 }, () => expect.objectContaining({ kind: 'guard', othersCanBreak }));

  it.each(operators.map((name, operator) => [name, operator] as const))(
    'bounds the tokens from below, or others can break it: %s',
    (name, operator) => {
      expect(onTokens({ __kind: 'Amount', value: 990_000n, operator })).toEqual(all(!['>', '≥'].includes(name)));
    },
  );

  it('may assert what nothing but a signature of the wallet changes', () => {
    for (const operator of [0, 1]) {
      expect(onTokens({ __kind: 'Mint', value: other, operator })).toEqual(all(false));
      expect(onTokens({ __kind: 'Owner', value: other, operator })).toEqual(all(false));
      expect(onTokens({ __kind: 'State', value: 1, operator })).toEqual(all(false));
      expect(onWallet({ __kind: 'IsSigner', value: true, operator })).toEqual(all(false));
      expect(onWallet({ __kind: 'IsWritable', value: true, operator })).toEqual(all(false));
    }
    expect(onTokens({ __kind: 'TokenAccountOwnerIsDerived' })).toEqual(all(false));
    expect(onWallet({ __kind: 'KnownOwner', value: 0, operator: 0 })).toEqual(all(false));
    expect(onWallet({ __kind: 'Owner', value: system, operator: 0 })).toEqual(all(false));
  });

  it('is breakable where a delegate, a close authority, a nonce authority or the owning program changes it', () => {
    for (const value of [null, other]) {
      expect(onTokens({ __kind: 'Delegate', value, operator: 0 })).toEqual(all(true));
      expect(onTokens({ __kind: 'CloseAuthority', value, operator: 0 })).toEqual(all(true));
    }
    expect(onTokens({ __kind: 'DelegatedAmount', value: 0n, operator: 0 })).toEqual(all(true));
    for (const operator of [0, 1, 2, 3, 4, 5]) {
      expect(onWallet({ __kind: 'Lamports', value: 1n, operator })).toEqual(all(true));
      expect(onWallet({ __kind: 'DataLength', value: 0n, operator })).toEqual(all(true));
    }
    expect(onWallet({ __kind: 'Owner', value: other, operator: 0 })).toEqual(all(true));
    expect(onWallet({ __kind: 'Owner', value: system, operator: 1 })).toEqual(all(true));
    expect(onWallet({ __kind: 'KnownOwner', value: 1, operator: 0 })).toEqual(all(true));
    expect(onWallet({ __kind: 'KnownOwner', value: 0, operator: 1 })).toEqual(all(true));
  });

  it('is read in the form that Solflare adds', () => {
    expect(read(Buffer.from('060401030000', 'hex'))).toMatchObject({ kind: 'guard', othersCanBreak: false });
  });

  it('counts as breakable if it is not understood: data, deltas, unknown assertions, truncated or too long', () => {
    for (const kind of [2, 3, 4]) expect(read(Uint8Array.of(kind, 0, 0, 0))).toMatchObject({ othersCanBreak: true });
    for (const hex of [
      '09',
      '0900',
      '090009',
      '090002',
      '05000800',
      '0500030000ff',
      '060401',
      '06040203 0000',
      '06ff80030000',
    ])
      expect(read(Buffer.from(hex.replace(' ', ''), 'hex')), hex).toMatchObject({ othersCanBreak: true });
  });
});

const bs58Decode = (text: string): Buffer => Buffer.from(bs58.decode(text));

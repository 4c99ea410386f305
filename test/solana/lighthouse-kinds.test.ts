/** The table of guards against the list that the program's own authors generate for its clients. */
import { createRequire } from 'node:module';
import { describe, expect, it } from 'vitest';
import { LIGHTHOUSE_PROGRAM } from '../../src/solana/addresses.ts';
import { LIGHTHOUSE_KINDS } from '../../src/solana/verify-transaction-instructions.ts';

interface LighthouseSdk {
  /** An enumeration of TypeScript: names by number, and numbers by name. */
  readonly LighthouseInstruction: Readonly<Record<string, string | number>>;
  readonly LIGHTHOUSE_PROGRAM_ADDRESS: string;
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

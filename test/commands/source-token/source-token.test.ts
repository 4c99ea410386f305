/** Given the tokens of a source, when an operator issues or revokes one, then the log has the act, and never a token. */
import { describe, expect, it } from 'vitest';
import { MOST_TOKENS, type SourceAct, sourceToken } from '../../../src/commands/source-token/source-token.ts';
import { isSourceToken, newSourceToken, sourceTokenHash } from '../../../src/commands/source-token/token.ts';
import { SourceTokenIssued, SourceTokenRevoked } from '../../../src/events/operator.ts';
import { given } from '../../given-when-then.ts';

const ACT = { by: 'Ann Lee', reason: 'agreed' };
const hash = (digit: string): string => digit.repeat(64);
const issued = (digit: string, courts: string[] | null = null): SourceAct =>
  SourceTokenIssued.of({ source: 'county', tokenHash: hash(digit), courts, ...ACT });
const revoked = (digit: string): SourceAct =>
  SourceTokenRevoked.of({ source: 'county', tokenHash: hash(digit), ...ACT });
const issue = (digit: string) => ({ type: 'Issue', issued: issued(digit).data }) as never;
const revoke = (tokenId: string | null) => ({ type: 'Revoke', source: 'county', tokenId, ...ACT }) as const;

describe('a source', () => {
  it('gets a token for all courts, or for some', () => {
    given(sourceToken).when(issue('a')).then(issued('a'));
    const limited = issued('b', ['cand', 'ca9']);
    given(sourceToken, issued('a'))
      .when({ type: 'Issue', issued: limited.data } as never)
      .then(limited);
  });

  it('has several tokens, so that one can replace another, but not any number', () => {
    const full = [...'abcdef'].slice(0, MOST_TOKENS).map((digit) => issued(digit));
    given(sourceToken, ...full)
      .when(issue('0'))
      .thenRejected('too_many_tokens');
    given(sourceToken, ...full, revoked('a'))
      .when(issue('0'))
      .then(issued('0'));
  });

  it('loses one token or all, and one that it does not have is no act', () => {
    const both = [issued('a'), issued('b')];
    given(sourceToken, ...both)
      .when(revoke(null))
      .then(revoked('a'), revoked('b'));
    given(sourceToken, ...both)
      .when(revoke('bbbbbbbb'))
      .then(revoked('b'));
    given(sourceToken, ...both)
      .when(revoke('cccccccc'))
      .then();
    given(sourceToken, ...both, revoked('a'))
      .when(revoke(null))
      .then(revoked('b'));
  });
});

describe('a token', () => {
  it('is random, recognisable, and only its hash is comparable', () => {
    const [one, other] = [newSourceToken(), newSourceToken()];
    expect(one).toMatch(/^dkt_push_[A-Za-z0-9_-]{43}$/);
    expect(one).not.toBe(other);
    expect([isSourceToken(one), isSourceToken(`${one}x`), isSourceToken('dkt_push_short')]).toEqual([
      true,
      false,
      false,
    ]);
    expect(sourceTokenHash(one)).toMatch(/^[0-9a-f]{64}$/);
  });
});

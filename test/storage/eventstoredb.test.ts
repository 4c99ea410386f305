/** The parts of the adapter that need no server. The rest is in the integration suites. */
import { AccessDeniedError, StreamDeletedError, UnavailableError } from '@eventstore/db-client';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  InvalidConnectionString,
  maskConnectionString,
  readConnectionString,
} from '../../src/storage/eventstoredb/connection-string.ts';
import {
  finalAppendError,
  finalError,
  isDisconnection,
  NoAnswer,
  SubscriptionDropped,
  unreachable,
} from '../../src/storage/eventstoredb/failures.ts';
import { serverFilter } from '../../src/storage/eventstoredb/filters.ts';
import { positionText, readFrom, START_OF_LOG } from '../../src/storage/eventstoredb/positions.ts';
import { backOff, within } from '../../src/storage/eventstoredb/waiting.ts';
import { freshStream, notes } from './samples.ts';

describe('connection strings of EventStoreDB', () => {
  it('name one node, several, or a cluster to discover', () => {
    expect(readConnectionString('esdb://localhost')).toMatchObject({
      hosts: [{ address: 'localhost', port: 2113 }],
      discover: false,
      tls: true,
      credentials: null,
    });
    expect(readConnectionString('esdb://a:1,b:2,c/?tls=false').hosts).toEqual([
      { address: 'a', port: 1 },
      { address: 'b', port: 2 },
      { address: 'c', port: 2113 },
    ]);
    expect(readConnectionString('esdb+discover://cluster.example:2114')).toMatchObject({ discover: true });
  });

  it('may name KurrentDB, which is the same store by its newer name', () => {
    for (const rest of ['://u:p@a:1,b:2?tls=false', '+discover://cluster.example:2114']) {
      expect(readConnectionString(`kurrentdb${rest}`)).toEqual(readConnectionString(`esdb${rest}`));
    }
    expect(maskConnectionString('kurrentdb+discover://u:p@c')).toBe('kurrentdb+discover://(masked)@c:2113?tls=true');
    expect(() => readConnectionString('kurrentdb+discover://a,b')).toThrow('exactly one cluster name');
  });

  it('carry credentials, percent-encoded, and the options of the client', () => {
    const settings = readConnectionString(
      'esdb://ops%40home:p%3Ass%2Fw%3F@h?TLS=true&tlsCAFile=ca.pem&userCertFile=c.pem&userKeyFile=k.pem&keepAliveInterval=20000&gossipTimeout=3&nodePreference=leader&connectionName=dockets',
    );
    expect(settings.credentials).toEqual({ username: 'ops@home', password: 'p:ss/w?' });
    expect(settings).toMatchObject({ keepAliveInterval: 20_000, gossipTimeout: 3, connectionName: 'dockets' });
    expect(settings.certificates.authority).toMatch(/\/ca\.pem$/);
  });

  it.each([
    ['another protocol', 'http://geheim:geheim@h'],
    ['no host', 'esdb://'],
    ['an invalid port', 'esdb://h:99999'],
    ['a user without a password', 'esdb://geheim@h'],
    ['a colon in the password, where the client would cut it', 'esdb://u:geheim:geheim@h'],
    ['an option that the client would print with everything else', 'esdb://u:geheim@h?geheim=1'],
    ['appends that hide their conflicts', 'esdb://u:geheim@h?throwOnAppendFailure=false'],
    ['certificates that are not checked', 'esdb://u:geheim@h?tlsVerifyCert=false'],
    ['a node that may lag', 'esdb://u:geheim@h?nodePreference=follower'],
    ['half of a certificate', 'esdb://u:geheim@h?userCertFile=geheim'],
    ['two clusters', 'esdb+discover://a,b'],
    ['pings for which a node would close the connection', 'esdb://u:geheim@h?keepAliveInterval=100'],
    ['a broken escape', 'esdb://u:geheim%zz@h'],
  ])('with %s are rejected, and nothing of them is repeated', (_, text) => {
    const refused = (() => {
      try {
        return readConnectionString(text);
      } catch (error) {
        return error;
      }
    })();
    expect(refused).toBeInstanceOf(InvalidConnectionString);
    expect((refused as Error).message).not.toContain('geheim');
  });

  it('never break in any other way, nor show a password', () => {
    fc.assert(
      fc.property(fc.string(), fc.string({ minLength: 8 }), (noise, password) => {
        const text = `esdb://user:${encodeURIComponent(password)}@host?tls=true`;
        const shown = maskConnectionString(text);
        expect(shown).toBe('esdb://(masked)@host:2113?tls=true');
        try {
          readConnectionString(`esdb://${noise}`);
        } catch (error) {
          expect(error).toBeInstanceOf(InvalidConnectionString);
        }
      }),
    );
  });
});

describe('positions of EventStoreDB', () => {
  it('sort as text as they do in the log', () => {
    const long = fc.bigInt({ min: 0n, max: 2n ** 63n - 1n });
    fc.assert(
      fc.property(long, long, long, long, (commit, prepare, otherCommit, otherPrepare) => {
        const [a, b] = [
          { commit, prepare },
          { commit: otherCommit, prepare: otherPrepare },
        ];
        const before = commit < otherCommit || (commit === otherCommit && prepare < otherPrepare);
        expect(positionText(a) < positionText(b)).toBe(before);
        if (commit + prepare > 0n) expect(readFrom(positionText(a))).toEqual(a);
      }),
    );
  });

  it('begin at the start, and do not belong to another engine', () => {
    expect(readFrom(START_OF_LOG)).toBe('start');
    for (const text of ['', '00000000000000000007', '1/1', `${START_OF_LOG} `]) {
      expect(() => readFrom(text)).toThrow(RangeError);
    }
  });
});

describe('filters of EventStoreDB', () => {
  const expression = (filter: Parameters<typeof serverFilter>[0]): RegExp => {
    const made = serverFilter(filter, () => undefined);
    if (!('regex' in made)) throw new Error('no regular expression');
    return new RegExp(made.regex);
  };

  it('match whole names exactly', () => {
    const types = expression({ by: 'types', types: ['PaymentSettled', 'a.b'] });
    expect(types.test('PaymentSettled')).toBe(true);
    expect(types.test('PaymentSettledLate')).toBe(false);
    expect(types.test('a.b')).toBe(true);
    expect(types.test('axb')).toBe(false);
  });

  it('match nothing if nothing is wanted, and nothing of the node itself', () => {
    const nothing = [expression({ by: 'types', types: [] }), expression({ by: 'streams', prefixes: [] })];
    for (const filter of nothing) expect(filter.test('PaymentSettled')).toBe(false);
    expect(expression({ by: 'all' }).test('$metadata')).toBe(false);
    expect(expression({ by: 'all' }).test('PaymentSettled')).toBe(true);
  });
});

describe('failures of EventStoreDB', () => {
  it('are final only if no repetition would help', () => {
    expect(finalError(new AccessDeniedError(), 'read $all')).toMatchObject({ code: 'storage_denied' });
    for (const passing of [new UnavailableError(), new NoAnswer('x'), new Error('Server Is Not Ready')]) {
      expect(finalError(passing, 'read $all')).toBeNull();
    }
    const failure = unreachable('reading', new Error('connect ECONNREFUSED'));
    expect(failure).toMatchObject({ code: 'storage_unavailable', hint: expect.stringContaining('unchanged') });
  });

  it('are certain to have written nothing only if a first attempt was rejected', () => {
    const append = notes(freshStream(), ['a']);
    for (const refused of [new AccessDeniedError(), StreamDeletedError.fromStreamName('gone')]) {
      expect(finalAppendError(refused, append, true)).toMatchObject({ nothingWritten: true });
      expect(finalAppendError(refused, append, false)).toMatchObject({ nothingWritten: false });
      expect(finalError(refused, 'read streams')).toMatchObject({ nothingWritten: false });
    }
    expect(unreachable('appending', new UnavailableError()).nothingWritten).toBe(false);
  });

  it('ask for a new connection if the old one is to blame', () => {
    expect(isDisconnection(Object.assign(new Error('14 UNAVAILABLE'), { code: 14 }))).toBe(true);
    expect(isDisconnection(new NoAnswer('x'))).toBe(true);
    expect(isDisconnection(new Error('Failed to discover after 10 attempts.'))).toBe(true);
    expect(isDisconnection(new SubscriptionDropped('the subscription ended without an error'))).toBe(false);
  });
});

describe('waiting', () => {
  it('grows, is bounded, and differs by chance', () => {
    const pauses = { first: 50, longest: 4000 };
    for (let attempt = 0; attempt < 100; attempt++) {
      const full = Math.min(4000, 50 * 2 ** attempt);
      const wait = backOff(attempt, pauses);
      expect(wait).toBeGreaterThanOrEqual(full / 2);
      expect(wait).toBeLessThanOrEqual(full);
    }
    expect(new Set(Array.from({ length: 20 }, () => backOff(3, pauses))).size).toBeGreaterThan(1);
  });

  it('ends at its limit, and keeps what comes in time', async () => {
    await expect(within(10, 'a call', new Promise(() => undefined))).rejects.toBeInstanceOf(NoAnswer);
    expect(await within(1000, 'a call', Promise.resolve(7))).toBe(7);
  });
});

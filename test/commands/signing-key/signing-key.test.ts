import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  madeKey,
  ROTATION_WINDOW,
  type SigningKeyCommand,
  signingKeys,
  validKeysAt,
  type WalletKeys,
} from '../../../src/commands/signing-key/signing-key.ts';
import { encodeEvent } from '../../../src/events/codec.ts';
import {
  SignInProved,
  SigningKeyCreated,
  type SigningKeyEvent,
  SigningKeyRotated,
} from '../../../src/events/signing-key.ts';
import { type Micros, plus, toInstant, toMicros } from '../../../src/runtime/instant.ts';
import { given } from '../../given-when-then.ts';

const NOON = '2026-05-01T12:00:00.000000Z';
const noon = toMicros(NOON);
const MINUTE: Micros = 60_000_000;

const ensure = (keyId: string, at = noon): SigningKeyCommand => ({ type: 'Ensure', keyId, masterVersion: 1, at });
const rotate = (keyId: string, at = noon): SigningKeyCommand => ({ type: 'Rotate', keyId, masterVersion: 1, at });
const created = (keyId: string, at = noon) =>
  SigningKeyCreated.of({ keyId, masterVersion: 1, createdAt: toInstant(at) });
const rotated = (keyId: string, previousKeyId: string, at = noon) =>
  SigningKeyRotated.of({
    keyId,
    masterVersion: 1,
    createdAt: toInstant(at),
    previousKeyId,
    previousValidUntil: plus(toInstant(at), 30 * MINUTE),
  });

describe('signing keys (docs/design/interface.md#3.2)', () => {
  it('are made by the first call', () => {
    given(signingKeys).when(ensure('K1')).then(created('K1'));
  });

  it('require proofs from the rotation that requested them on, despite later rotations', () => {
    const demand: SigningKeyCommand = { type: 'Rotate', keyId: 'K2', masterVersion: 1, at: noon, requireSignIn: true };
    const demanding = SigningKeyRotated.of({ ...rotated('K2', 'K1').data, signInRequired: true });
    given(signingKeys)
      .when(demand)
      .then(SigningKeyCreated.of({ ...created('K2').data, signInRequired: true }));
    given(signingKeys, created('K1')).when(demand).then(demanding);
    const proofsAfter = (...events: SigningKeyEvent[]) =>
      events.reduce(signingKeys.evolve, signingKeys.initialState).proofs;
    expect(proofsAfter(created('K1'))).toBeNull();
    expect(proofsAfter(created('K1'), demanding)).toEqual([]);
    expect(proofsAfter(created('K1'), demanding, rotated('K3', 'K2'))).toEqual([]);
  });

  it('are made once, however often they are asked for', () => {
    given(signingKeys, created('K1')).when(ensure('K2')).then();
    given(signingKeys, created('K1'), rotated('K2', 'K1')).when(ensure('K3')).then();
  });

  it('stay valid for 30 minutes when they are replaced', () => {
    given(signingKeys, created('K1'))
      .when(rotate('K2', noon + MINUTE))
      .then(rotated('K2', 'K1', noon + MINUTE));
  });

  it('replace the key just made, so that there never is a third', () => {
    given(signingKeys, created('K1'), rotated('K2', 'K1', noon + MINUTE))
      .when(rotate('K3', noon + 2 * MINUTE))
      .then(rotated('K3', 'K2', noon + 2 * MINUTE));
  });

  it('replace nothing where a wallet rotates before it ever had one', () => {
    given(signingKeys).when(rotate('K1')).then(created('K1'));
  });

  it.each([
    ['at once', [created('K0'), rotated('K1', 'K0')]],
    ['after a later rotation', [created('K0'), rotated('K1', 'K0'), rotated('K2', 'K1')]],
    ['of a first key', [created('K1')]],
    ['of a first key after a later rotation', [created('K1'), rotated('K2', 'K1')]],
  ])('are not made again by a rotation that is repeated %s', (_, history) => {
    given(signingKeys, ...history)
      .when(rotate('K1', noon + MINUTE))
      .then();
  });

  it('name in their events nothing but ids, times and a version', () => {
    for (const event of [created('K1'), rotated('K2', 'K1')]) {
      expect(JSON.stringify(encodeEvent(event).data)).not.toMatch(/secret|[0-9a-f]{64}/);
    }
    expect(() => encodeEvent({ ...created('K1'), data: { ...created('K1').data, secret: 'x' } })).toThrow();
  });
});

describe('the keys that a receiver has to accept', () => {
  const stateOf = (...events: SigningKeyEvent[]): WalletKeys => given(signingKeys, ...events).state;
  const idsAt = (state: WalletKeys, now: Micros) => {
    const valid = validKeysAt(state, now);
    return valid && [valid.current.keyId, valid.previous?.keyId ?? null];
  };

  it('are none before the first call', () => {
    expect(validKeysAt(stateOf(), noon)).toBeNull();
    expect(validKeysAt(stateOf(created('K1')), noon)).toEqual({
      current: { keyId: 'K1', createdAt: NOON, masterVersion: 1 },
      previous: null,
    });
  });

  it('are two up to the last microsecond of the window, and one from its end on', () => {
    const state = stateOf(created('K1', noon - MINUTE), rotated('K2', 'K1'));
    const end = noon + 30 * MINUTE;
    expect(idsAt(state, noon)).toEqual(['K2', 'K1']);
    expect(idsAt(state, end - 1)).toEqual(['K2', 'K1']);
    expect(idsAt(state, end)).toEqual(['K2', null]);
    expect(validKeysAt(state, noon)?.previous).toEqual({
      keyId: 'K1',
      createdAt: toInstant(noon - MINUTE),
      masterVersion: 1,
      validUntil: '2026-05-01T12:30:00.000000Z',
    });
  });

  it('end at once for a key that two rotations have replaced', () => {
    const state = stateOf(created('K1'), rotated('K2', 'K1'), rotated('K3', 'K2', noon + MINUTE));
    expect(idsAt(state, noon + MINUTE)).toEqual(['K3', 'K2']);
    expect(madeKey(state, 'K1')).toMatchObject({ keyId: 'K1', replaced: null });
    expect(madeKey(state, 'K2')).toMatchObject({ replaced: { keyId: 'K1' } });
    expect(madeKey(state, 'K4')).toBeNull();
  });
});

describe('any history of commands', () => {
  const histories = fc.array(
    fc.record({
      type: fc.constantFrom<'Ensure' | 'Rotate'>('Ensure', 'Rotate'),
      keyId: fc.integer({ min: 0, max: 12 }).map((number) => `K${number}`),
      masterVersion: fc.integer({ min: 1, max: 3 }),
      at: fc.integer({ min: noon, max: noon + 120 * MINUTE }),
    }),
    { maxLength: 30 },
  );
  const fold = (commands: readonly SigningKeyCommand[]): WalletKeys =>
    commands.reduce<WalletKeys>((state, command) => {
      const events = signingKeys.decide(state, command) as readonly SigningKeyEvent[];
      expect(events.length).toBeLessThanOrEqual(1);
      return events.reduce(signingKeys.evolve, state);
    }, signingKeys.initialState);

  it('makes each key once, each but the first in place of the one before, for exactly the window', () => {
    fc.assert(
      fc.property(histories, (commands) => {
        const { keys } = fold(commands);
        expect(new Set(keys.map(({ keyId }) => keyId)).size).toBe(keys.length);
        keys.forEach(({ replaced, createdAt }, index) => {
          expect(replaced?.keyId).toBe(keys[index - 1]?.keyId);
          if (replaced) expect(toMicros(replaced.validUntil) - toMicros(createdAt)).toBe(ROTATION_WINDOW);
        });
        const rotations = new Set(commands.filter(({ type }) => type === 'Rotate').map(({ keyId }) => keyId));
        for (const keyId of rotations) expect(keys.some((key) => key.keyId === keyId)).toBe(true);
      }),
    );
  });

  it('is not changed by repeated commands', () => {
    fc.assert(
      fc.property(histories, (commands) => {
        expect(fold([...commands, ...commands])).toEqual(fold(commands));
      }),
    );
  });

  it('never leaves more than two keys valid, and the previous one for less than the window', () => {
    fc.assert(
      fc.property(histories, fc.integer({ min: noon, max: noon + 200 * MINUTE }), (commands, now) => {
        const state = fold(commands);
        const valid = validKeysAt(state, now);
        expect(valid === null).toBe(state.keys.length === 0);
        if (!valid) return;
        expect(valid.current.keyId).toBe(state.keys.at(-1)?.keyId);
        const madeAt = toMicros(valid.current.createdAt);
        expect(valid.previous !== null).toBe(state.keys.length > 1 && now < madeAt + ROTATION_WINDOW);
      }),
    );
  });
});

describe('a used proof', () => {
  const proof = 'a'.repeat(64);
  const [first, second] = ['b'.repeat(64), 'c'.repeat(64)];
  const proved = (one: string, by: string, at: Micros) =>
    SignInProved.of({ proof: one, payment: by, provedAt: toInstant(at), validUntil: plus(NOON, 5 * MINUTE) });

  it('is refused by a node whose clock is behind, though one with the right clock has used another since', () => {
    given(signingKeys, proved(proof, first, noon), proved('d'.repeat(64), second, noon + 20 * MINUTE))
      .when({ type: 'Prove', proof, payment: second, validUntil: plus(NOON, 5 * MINUTE), at: noon + MINUTE })
      .thenRejected('proof_used');
  });
});

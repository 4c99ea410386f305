import fc from 'fast-check';
import { expect, it } from 'vitest';
import { SlotMemory } from '../../../src/solana/local/slot-memory.ts';

it('keeps exactly what was noted since a slot, for any number and order of noted keys', () => {
  const steps = fc.array(
    fc.record({ passed: fc.nat({ max: 2 }), key: fc.constantFrom(...'abcdefgh'), note: fc.boolean() }),
  );
  fc.assert(
    fc.property(steps, fc.integer({ min: 1, max: 6 }), (taken, life) => {
      const memory = new SlotMemory<number>();
      const model = new Map<string, number>();
      let slot = 0;
      for (const { passed, key, note } of taken) {
        slot += passed;
        memory.forgetBefore(slot - life);
        for (const [each, noted] of model) if (noted < slot - life) model.delete(each);
        if (note) memory.note(key, slot, slot);
        else expect(memory.forget(key)).toBe(model.has(key));
        if (note) model.set(key, slot);
        else model.delete(key);
        expect(memory.size).toBe(model.size);
        for (const each of 'abcdefgh') {
          expect(memory.get(each)).toBe(model.get(each));
          expect(memory.has(each)).toBe(model.has(each));
        }
      }
    }),
  );
});

it('keeps nothing just because a key is noted in each slot', () => {
  const memory = new SlotMemory<null>();
  for (let slot = 0; slot < 1_000; slot++) {
    memory.forgetBefore(slot - 150);
    memory.note('again and again', slot, null);
    memory.note(`once, in ${slot}`, slot, null);
  }
  expect(memory.size).toBe(1 + 151);
});

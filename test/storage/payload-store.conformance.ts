/** What every payload store must do, on any engine. */
import { randomBytes } from 'node:crypto';
import { brotliDecompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Clock, type Micros, toInstant } from '../../src/runtime/instant.ts';
import { CorruptPayload, type PayloadKind, type PayloadStore } from '../../src/storage/payload-store.ts';

export interface OpenedPayloadStore {
  readonly payloads: PayloadStore;
  another(): Promise<PayloadStore>;
  /** Changes one stored byte without the store knowing. */
  corrupt(name: string): Promise<void>;
  close(): Promise<void>;
}

const UNKNOWN = 'f'.repeat(64);

export function payloadStoreConformance(name: string, open: (clock: Clock) => Promise<OpenedPayloadStore>): void {
  describe(`${name}: payload store`, () => {
    let now: Micros = Date.UTC(2026, 0, 1) * 1000;
    let opened: OpenedPayloadStore;
    let payloads: PayloadStore;
    beforeAll(async () => {
      opened = await open({ now: () => now });
      payloads = opened.payloads;
    });
    afterAll(() => opened.close());

    const put = (text: string, kind: PayloadKind = 'docket') => payloads.put(kind, Buffer.from(text));
    const text = async (blob: string) => (await payloads.get(blob))?.toString() ?? null;

    it.each([
      ['nothing', Buffer.alloc(0)],
      ['one byte', Buffer.of(0)],
      ['a short text', Buffer.from('MOTION to Dismiss')],
      ['bytes that do not compress', randomBytes(200_000)],
      ['a long text', Buffer.from('ORDER granting motion. '.repeat(20_000))],
    ])('returns %s', async (_, content) => {
      const blob = await payloads.put('docket', content);
      expect(blob).toMatch(/^[0-9a-f]{64}$/);
      expect((await payloads.get(blob))?.equals(content)).toBe(true);
    });

    it('names the same content differently each time, so that a name confirms no guess', async () => {
      expect(await put('same')).not.toBe(await put('same'));
    });

    it('stores sealed content, once however often, and nothing before that', async () => {
      const sealed = await payloads.seal('target', Buffer.from('sealed'));
      expect(sealed).toMatchObject({ kind: 'target', storedAt: toInstant(now) });
      expect(await text(sealed.name)).toBeNull();
      await Promise.all([payloads.store(sealed), payloads.store(sealed)]);
      await payloads.store(sealed);
      expect(await text(sealed.name)).toBe('sealed');
      expect((await payloads.seal('target', Buffer.from('sealed'))).name).not.toBe(sealed.name);
    });

    it('returns content as it is stored: compressed if that is smaller, or its replacement', async () => {
      const long = 'ORDER granting motion. '.repeat(20_000);
      const [blob, short] = [await put(long), await put('short')];
      const encoded = await payloads.getEncoded(blob);
      expect(encoded).toMatchObject({ name: blob, coding: 'br' });
      expect(brotliDecompressSync(encoded?.bytes ?? Buffer.alloc(0)).toString()).toBe(long);
      expect(await payloads.getEncoded(short)).toEqual({
        name: short,
        coding: 'identity',
        bytes: Buffer.from('short'),
      });
      await payloads.remove(blob, short);
      expect(await payloads.getEncoded(blob)).toMatchObject({ name: short, bytes: Buffer.from('short') });
      await payloads.remove(short);
      expect(await payloads.getEncoded(blob)).toBeNull();
    });

    it('does not know other names', async () => {
      expect(await payloads.get(UNKNOWN)).toBeNull();
      expect(await payloads.getEncoded(UNKNOWN)).toBeNull();
    });

    it('shows what was put to every client', async () => {
      const other = await opened.another();
      expect((await other.get(await put('shared')))?.toString()).toBe('shared');
      await other.close();
    });

    it('returns many at once and omits missing ones', async () => {
      const names = await Promise.all(Array.from({ length: 50 }, (_, index) => put(`text ${index}`)));
      const found = await payloads.getMany([...names, UNKNOWN, names[0]!]);
      expect([...found.values()].map(String).sort()).toEqual(names.map((_, index) => `text ${index}`).sort());
      expect(found.has(UNKNOWN)).toBe(false);
      expect((await payloads.getMany([])).size).toBe(0);
    });

    it('detects when stored bytes have changed', async () => {
      const blob = await put('the truth, and a little more of it');
      await opened.corrupt(blob);
      await expect(payloads.get(blob)).rejects.toBeInstanceOf(CorruptPayload);
      await expect(payloads.get(blob)).rejects.toMatchObject({ code: 'corrupt_payload', blob });
      await expect(payloads.getMany([blob])).rejects.toBeInstanceOf(CorruptPayload);
    });

    describe('removing', () => {
      it('leaves nothing, however often it is done', async () => {
        const blob = await put('secret');
        await payloads.remove(blob);
        expect(await payloads.get(blob)).toBeNull();
        await payloads.remove(blob);
        await payloads.remove(UNKNOWN);
        expect(await payloads.get(UNKNOWN)).toBeNull();
      });

      it('with a replacement returns its content, and says that it is one', async () => {
        const blob = await put('the name of a child');
        const replacement = await put('[redacted]');
        await payloads.remove(blob, replacement);
        await payloads.remove(blob, replacement);
        expect(await text(blob)).toBe('[redacted]');
        expect((await payloads.getMany([blob])).get(blob)?.toString()).toBe('[redacted]');
        const resolved = await payloads.resolve([blob, replacement, UNKNOWN]);
        expect(resolved.get(blob)).toEqual({ content: Buffer.from('[redacted]'), replaced: true });
        expect(resolved.get(replacement)?.replaced).toBe(false);
        expect(resolved.has(UNKNOWN)).toBe(false);
      });

      it('follows a replacement that was replaced itself', async () => {
        const [first, second, third] = [await put('1'), await put('2'), await put('3')];
        await payloads.remove(first, second);
        await payloads.remove(second, third);
        expect(await text(first)).toBe('3');
        await payloads.remove(third);
        expect(await payloads.get(first)).toBeNull();
      });

      it('does not follow a cycle', async () => {
        const [first, second] = [await put('1'), await put('2')];
        await payloads.remove(first, second);
        await payloads.remove(second, first);
        expect(await payloads.get(first)).toBeNull();
        await expect(payloads.remove(first, first)).rejects.toBeInstanceOf(RangeError);
      });
    });

    describe('listing', () => {
      const listed = async (kind: PayloadKind, olderThan: Micros) => {
        const found = [];
        for await (const payload of payloads.list(kind, toInstant(olderThan))) found.push(payload);
        return found;
      };

      it('returns one kind, only older content, oldest first, without what was removed', async () => {
        now += 1_000_000;
        const start = now;
        const answers: string[] = [];
        for (let index = 0; index < 5; index++) {
          answers.push(await put(`answer ${index}`, 'answer'));
          await put('target', 'target');
          now += 1000;
        }
        await payloads.remove(answers[1]!);
        await payloads.remove(answers[2]!, answers[0]);
        expect(await listed('answer', start + 4000)).toEqual([
          { name: answers[0], kind: 'answer', storedAt: toInstant(start) },
          { name: answers[3], kind: 'answer', storedAt: toInstant(start + 3000) },
        ]);
        expect(await listed('answer', start)).toEqual([]);
        expect(await listed('envelope', now)).toEqual([]);
      });

      it('returns each of many once, also of those stored at the same instant, while they are removed', async () => {
        now += 1_000_000;
        const names = new Set<string>();
        for (let round = 0; round < 12; round++) {
          const round100 = await Promise.all(Array.from({ length: 100 }, () => put('x', 'envelope')));
          for (const blob of round100) names.add(blob);
        }
        const seen: string[] = [];
        for await (const payload of payloads.list('envelope', toInstant(now + 1))) {
          seen.push(payload.name);
          if (seen.length % 100 === 0) await payloads.remove(payload.name);
        }
        expect(seen).toHaveLength(names.size);
        expect(new Set(seen)).toEqual(names);
      });
    });

    it('answers a check', async () => {
      await payloads.check();
    });
  });
}

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { problem } from '../../src/errors.ts';
import { answerBatch, MAX_BATCH_BYTES, type WrittenAnswer } from '../../src/queries/batch-answer.ts';
import { MAX_RESULT_BYTES } from '../../src/queries/case-answer.ts';

const never = new AbortController().signal;
const KIB = 1024;

/** The answer of a query that would fill this many bytes, if it could. */
const answerOf =
  (asked: number[] = []) =>
  async (size: number, maxBytes: number): Promise<WrittenAnswer> => {
    asked.push(maxBytes);
    const bytes = Math.min(size, maxBytes);
    return { text: String(size), bytes, truncated: bytes < size };
  };

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
const bytesOf = async (sizes: readonly number[]) =>
  (await answerBatch(sizes, answerOf(), never)).map((answer) => ('bytes' in answer ? answer.bytes : -1));

describe('the answers of a batch', () => {
  it('come in the order of the queries, however long each one needs', async () => {
    const pauses = Array.from({ length: 50 }, (_, index) => (index * 7) % 11);
    const answers = await answerBatch(
      pauses,
      async (pause, maxBytes) => {
        await new Promise((resolve) => setTimeout(resolve, pause));
        return pause === 3 ? problem('case_not_found') : answerOf()(pause, maxBytes);
      },
      never,
    );
    expect(answers.map((answer) => ('text' in answer ? answer.text : answer.problem))).toEqual(
      pauses.map((pause) => (pause === 3 ? 'case_not_found' : String(pause))),
    );
  });

  it('are computed a few at a time', async () => {
    let [running, most] = [0, 0];
    await answerBatch(
      Array(50).fill(1),
      async (size, maxBytes) => {
        most = Math.max(most, ++running);
        await new Promise((resolve) => setImmediate(resolve));
        running--;
        return answerOf()(size, maxBytes);
      },
      never,
    );
    expect(most).toBe(8);
  });

  it('are complete up to six of the largest', async () => {
    expect(await bytesOf(Array(6).fill(MAX_RESULT_BYTES))).toEqual(Array(6).fill(MAX_RESULT_BYTES));
  });

  it('fit together for fifty large dockets; one large among small ones is as large as alone', async () => {
    const large = await bytesOf(Array(50).fill(10 * MAX_RESULT_BYTES));
    expect(sum(large)).toBeLessThanOrEqual(MAX_BATCH_BYTES);
    expect(Math.min(...large)).toBeGreaterThan(240 * KIB);

    const mixed = [...Array(25).fill(10 * KIB), 10 * MAX_RESULT_BYTES, ...Array(24).fill(10 * KIB)];
    expect((await bytesOf(mixed))[25]).toBe(MAX_RESULT_BYTES);
  });

  it('never exceed their limit, and truncate none that fits its share', async () => {
    const size = fc.oneof(fc.integer({ min: 1, max: 20 * KIB }), fc.integer({ min: 1, max: 3 * MAX_RESULT_BYTES }));
    await fc.assert(
      fc.asyncProperty(fc.array(size, { minLength: 1, maxLength: 50 }), async (sizes) => {
        const bytes = await bytesOf(sizes);
        expect(sum(bytes)).toBeLessThanOrEqual(MAX_BATCH_BYTES);
        const share = Math.min(MAX_RESULT_BYTES, Math.floor(MAX_BATCH_BYTES / sizes.length));
        for (const [index, wanted] of sizes.entries()) {
          expect(bytes[index]).toBeGreaterThanOrEqual(Math.min(wanted, share));
          expect(bytes[index]).toBeLessThanOrEqual(MAX_RESULT_BYTES);
        }
      }),
    );
  });

  it('keep a truncated answer if the second read fails', async () => {
    const asked = new Map<string, number>();
    const answers = await answerBatch(
      ['large', ...Array(49).fill('small')],
      async (query, maxBytes) => {
        asked.set(query, (asked.get(query) ?? 0) + 1);
        if (query === 'large' && (asked.get(query) ?? 0) > 1) return problem('court_unavailable');
        const bytes = query === 'large' ? maxBytes : KIB;
        return { text: query, bytes, truncated: query === 'large' };
      },
      never,
    );
    expect(asked.get('large')).toBe(2);
    expect(answers[0]).toMatchObject({ text: 'large', truncated: true });
  });

  it('start no further query once one has failed to read', async () => {
    let begun = 0;
    const answered = answerBatch(
      Array(50).fill(1),
      async (size, maxBytes) => {
        if (++begun === 3) throw new Error('the disk is gone');
        await new Promise((resolve) => setImmediate(resolve));
        return answerOf()(size, maxBytes);
      },
      never,
    );
    await expect(answered).rejects.toThrow('the disk is gone');
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(begun).toBe(8);
  });

  it('start no further query after the deadline', async () => {
    const controller = new AbortController();
    const asked: number[] = [];
    const reason = problem('query_timeout');
    const answered = answerBatch(
      Array(50).fill(1),
      async (size, maxBytes) => {
        controller.abort(reason);
        return answerOf(asked)(size, maxBytes);
      },
      controller.signal,
    );
    await expect(answered).rejects.toBe(reason);
    expect(asked.length).toBeLessThanOrEqual(8);
  });
});

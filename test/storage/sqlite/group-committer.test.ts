import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../../src/storage/sqlite/commit-together.ts';
import { GroupCommitter } from '../../../src/storage/sqlite/group-committer.ts';

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

/** Commits nothing, waits a while, and remembers its groups. */
function recording(outcomeOf: (work: string) => Outcome = (value) => ({ value })) {
  const groups: string[][] = [];
  let committing = 0;
  const committer = new GroupCommitter<string>({
    commit: async (group) => {
      expect(committing++).toBe(0);
      groups.push([...group]);
      await new Promise((resolve) => setTimeout(resolve, 5));
      committing--;
      return group.map(outcomeOf);
    },
  });
  return { committer, groups, isCommitting: () => committing > 0 };
}

describe('a group committer', () => {
  it('commits together what comes in the same turn or in the next, in the order of arrival', async () => {
    const { committer, groups } = recording();
    const first = ['a', 'b'].map((work) => committer.submit(work));
    await nextTurn();
    const second = ['c', 'd'].map((work) => committer.submit(work));
    expect(await Promise.all([...first, ...second])).toEqual(['a', 'b', 'c', 'd']);
    expect(groups).toEqual([['a', 'b', 'c', 'd']]);
  });

  it('commits a second group after the first', async () => {
    const { committer, groups, isCommitting } = recording();
    const first = committer.submit('a');
    while (!isCommitting()) await nextTurn();
    const second = ['b', 'c'].map((work) => committer.submit(work));
    await Promise.all([first, ...second]);
    expect(groups).toEqual([['a'], ['b', 'c']]);
  });

  it('does not wait forever for writers that never stop coming', async () => {
    const { committer, groups } = recording();
    let stop = false;
    const writing: Promise<unknown>[] = [];
    const writer = (async () => {
      for (let turn = 0; !stop; turn++) {
        writing.push(committer.submit(String(turn)));
        await nextTurn();
      }
    })();
    await committer.submit('one of many');
    stop = true;
    await writer;
    await Promise.all(writing);
    expect(groups.length).toBeGreaterThan(1);
    expect(Math.max(...groups.map(({ length }) => length))).toBeLessThanOrEqual(256);
  });

  it('gives each writer its own outcome', async () => {
    const failure = new Error('its own');
    const { committer } = recording((work) => (work === 'b' ? { error: failure } : { value: work }));
    const outcomes = await Promise.allSettled(['a', 'b', 'c'].map((work) => committer.submit(work)));
    expect(outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : outcome.reason))).toEqual([
      'a',
      failure,
      'c',
    ]);
  });

  it('fails a whole group that could not be committed, and continues', async () => {
    let broken = true;
    const committer = new GroupCommitter<string>({
      commit: async (group) => {
        if (broken) throw new Error('gone');
        return group.map((value) => ({ value }));
      },
    });
    await expect(committer.submit('a')).rejects.toThrow('gone');
    broken = false;
    expect(await committer.submit('a')).toBe('a');
  });

  it('runs a task between groups, never during one', async () => {
    const { committer, isCommitting } = recording();
    const first = committer.submit('a');
    while (!isCommitting()) await nextTurn();
    const seen: boolean[] = [];
    const between = committer.between(() => seen.push(isCommitting()));
    const second = committer.submit('b');
    await Promise.all([first, between, second]);
    await committer.between(() => seen.push(isCommitting()));
    expect(seen).toEqual([false, false]);
    const fails = committer.between(() => {
      throw new Error('a task');
    });
    await expect(fails).rejects.toThrow('a task');
  });

  it('has written everything once it is flushed', async () => {
    const { committer, groups } = recording();
    await committer.flush();
    for (const work of ['a', 'b']) void committer.submit(work);
    await committer.flush();
    expect(groups.flat()).toEqual(['a', 'b']);
  });
});

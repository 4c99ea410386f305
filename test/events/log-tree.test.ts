/**
 * Given a log's events as leaves, when the tree grows, then its roots and proofs are those of RFC 6962. The roots of
 * the known leaves are the published vectors of certificate transparency.
 */
import { hash } from 'node:crypto';
import { expect, it } from 'vitest';
import {
  consistencyRanges,
  EMPTY_ROOT,
  inclusionRanges,
  isConsistent,
  type LeafRange,
  LogTree,
  leafOf,
  rootByInclusion,
} from '../../src/events/log-tree.ts';

const VECTORS = [
  ['', '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d'],
  ['00', 'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125'],
  ['10', 'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77'],
  ['2021', 'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7'],
  ['3031', '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4'],
  ['40414243', '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef'],
  ['5051525354555657', 'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c'],
  ['606162636465666768696a6b6c6d6e6f', '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328'],
] as const;

/** RFC 6962, section 2.1. */
const leafHash = (content: Buffer): Buffer => hash('sha256', Buffer.concat([Buffer.of(0), content]), 'buffer');

const LARGEST = 40;
const leaves = Array.from({ length: LARGEST }, (_, index) =>
  leafOf({ stream: `docket-${index % 3}`, revision: Math.floor(index / 3), hash: 'ab'.repeat(32) }),
);
const treeOf = ({ from, to }: LeafRange): LogTree => {
  const tree = new LogTree();
  for (const leaf of leaves.slice(from, to)) tree.add(leaf);
  return tree;
};
const rootOf = (range: LeafRange): Buffer => treeOf(range).root();
const roots = Array.from({ length: LARGEST + 1 }, (_, to) => rootOf({ from: 0, to }));
const upTo = (size: number) => ({ size, root: rootOf({ from: 0, to: size }) });

it('has the published roots', () => {
  const tree = new LogTree();
  expect(tree.root()).toEqual(EMPTY_ROOT);
  for (const [content, root] of VECTORS) {
    tree.add(leafHash(Buffer.from(content, 'hex')));
    expect(tree.root().toString('hex')).toBe(root);
  }
});

it('continues from its peaks as if it had never stopped', () => {
  for (let size = 0; size < LARGEST; size++) {
    const tree = treeOf({ from: 0, to: size });
    const again = LogTree.of(size, tree.peaks);
    for (const leaf of leaves.slice(size)) again.add(leaf);
    expect(again.root()).toEqual(upTo(LARGEST).root);
  }
  expect(() => LogTree.of(3, [leaves[0] as Buffer])).toThrow(RangeError);
});

it('adds many leaves as if they came one by one', () => {
  for (let size = 0; size <= LARGEST; size++) {
    for (let to = size; to <= LARGEST; to++) {
      const tree = treeOf({ from: 0, to: size });
      tree.addAll(Buffer.concat(leaves.slice(size, to)));
      expect({ size: tree.size, root: tree.root() }).toEqual({ size: to, root: roots[to] });
    }
  }
  expect(() => new LogTree().addAll(Buffer.alloc(33))).toThrow(RangeError);
});

it('proves each leaf in each tree, and no other leaf, place or root', () => {
  for (let size = 1; size <= LARGEST; size++) {
    for (let index = 0; index < size; index++) {
      const path = inclusionRanges(index, size).map(rootOf);
      const leaf = leaves[index] as Buffer;
      expect(rootByInclusion(leaf, index, size, path)).toEqual(upTo(size).root);
      expect(rootByInclusion(leafHash(Buffer.from('x')), index, size, path)).not.toEqual(upTo(size).root);
      expect(rootByInclusion(leaf, index, size, [...path, leaf])).toBeNull();
      if (size > 1) expect(rootByInclusion(leaf, (index + 1) % size, size, path)).not.toEqual(upTo(size).root);
    }
  }
});

it('proves each tree as the beginning of each larger one, and no other', () => {
  for (let size = 1; size <= LARGEST; size++) {
    for (let before = 1; before <= size; before++) {
      const path = consistencyRanges(before, size).map(rootOf);
      expect(isConsistent(upTo(before), upTo(size), path)).toBe(true);
      expect(isConsistent({ size: before, root: leaves[0] as Buffer }, upTo(size), path)).toBe(before === 1);
      expect(isConsistent(upTo(before), { size, root: EMPTY_ROOT }, path)).toBe(false);
      if (path.length > 0) expect(isConsistent(upTo(before), upTo(size), path.slice(1))).toBe(false);
    }
  }
});

it('refuses a path in which hashes have other lengths, though their bytes together would lead to the root', () => {
  const [one, two, three] = leaves.slice(0, 3) as [Buffer, Buffer, Buffer];
  const root = new LogTree();
  for (const leaf of [one, two]) root.add(leaf);
  const cut = Buffer.concat([one, two]);
  expect(rootByInclusion(one, 0, 2, [two])).toEqual(root.root());
  expect(rootByInclusion(cut.subarray(0, 33), 0, 2, [cut.subarray(33)])).toBeNull();
  root.add(three);
  const before = { size: 2, root: cut.subarray(0, 33) };
  expect(isConsistent(before, { size: 3, root: root.root() }, [three])).toBe(false);
});

/**
 * Heads that were recorded long after the events that they cover, as after an upgrade of a long log. Their trees are no
 * longer in memory when they come, so the log's hashes are read once more for them (docs/design/audit.md#verification).
 */
import { LOG_HEAD_STREAM } from '../../events/log-head.ts';
import { LogTree, leafOf } from '../../events/log-tree.ts';
import type { Position } from '../../storage/event-log.ts';
import type { RawEvent, RawEventLog } from '../../storage/raw-events.ts';
import type { Breach } from '../judging.ts';
import type { Scratch } from './scratch.ts';
import { storedHash } from './stored-json.ts';

/** The leaf of an event whose hash cannot be read. */
export const NO_LEAF = '0'.repeat(64);

/** @param hash null if it cannot be read: then the next head does not match, which follows from that fault */
const leafOr = ({ stream, revision }: Pick<RawEvent, 'stream' | 'revision'>, hash: string | null): Buffer =>
  hash === null ? Buffer.from(NO_LEAF, 'hex') : leafOf({ stream, revision, hash });

export interface LateHead {
  readonly size: number;
  readonly root: string;
  readonly revision: number;
  readonly position: Position;
  /** The breach that explains why it does not match; null if there is none. */
  readonly damage: string | null;
}

export class LateHeads {
  readonly #insert;
  readonly #all;
  readonly #clear;

  constructor({ database }: Scratch) {
    this.#insert = database.prepare(
      'INSERT INTO late_heads (size, root, revision, position, damage) VALUES (?, ?, ?, ?, ?)',
    );
    this.#all = database.prepare<[], LateHead>('SELECT * FROM late_heads ORDER BY size, revision');
    this.#clear = database.prepare('DELETE FROM late_heads');
  }

  add({ size, root, revision, position, damage }: LateHead): void {
    this.#insert.run(size, root, revision, position, damage);
  }

  /** Compares all of them with the log and forgets them. @throws StorageFailure if the log cannot be read */
  async check(log: Pick<RawEventLog, 'read'>, upTo: Position, found: (breach: Breach, follows: string | null) => void) {
    const heads = this.#all.all();
    if (heads.length === 0) return;
    const tree = new LogTree();
    let next = 0;
    for await (const { events } of log.read(null, upTo)) {
      for (const event of events) {
        tree.add(leafOr(event, storedHash(event.metadata)));
        for (let head = heads[next]; head?.size === tree.size; head = heads[++next]) {
          const root = tree.root().toString('hex');
          if (root === head.root) continue;
          const expected = `root ${head.root} of ${head.size} events`;
          const { revision, position } = head;
          const breach = { rule: 'head_root_matches', stream: LOG_HEAD_STREAM, revision, position } as const;
          found({ ...breach, expected, found: root }, head.damage);
        }
      }
      if (next === heads.length) break;
    }
    this.#clear.run();
  }
}

/**
 * Keeps the facts that events state, and judges all facts of a key together once the log was read. Facts are written in
 * the order of the log into buckets of keys; one bucket at a time is read back, so that memory does not grow with the
 * log.
 */
import type { Json } from '../../events/event.ts';
import type { Instant } from '../../runtime/instant.ts';
import type { Breach, Fact, FactRules } from '../judging.ts';
import type { RuleName } from '../rules/catalogue.ts';
import type { Breaches } from './breaches.ts';
import { type Scratch, spreadOf, storedRow } from './scratch.ts';
import { END_OF_TIME } from './streams.ts';
import type { Taints } from './taints.ts';

const BUCKETS = 512;
/** Characters of a bucket that wait in memory until they are written together. */
const PORTION = 4 * 1024;
/** The facts of a key with more than this are not collected but read once more from their bucket. */
const MOST_COLLECTED = 10_000;

const FOLLOWS = 'an event that is broken or missing in a stream that these facts are about';

type Stored = readonly [
  key: string,
  says: string,
  value: Json,
  stream: string,
  revision: number,
  position: string,
  at: Instant,
];

export class Facts {
  readonly #rules: ReadonlyMap<string, readonly FactRules[]>;
  readonly #breaches: Breaches;
  readonly #taints: Taints;
  readonly #waiting: string[] = Array.from({ length: BUCKETS }, () => '');
  readonly #insert;
  readonly #read;
  readonly #markJudged;
  readonly #toJudge;
  readonly #openKeys;
  readonly #openKey;
  readonly #closeKey;

  constructor({ database }: Scratch, rules: readonly FactRules[], breaches: Breaches, taints: Taints) {
    const kinds = new Set(rules.map(({ kind }) => kind));
    this.#rules = new Map([...kinds].map((kind) => [kind, rules.filter((rule) => rule.kind === kind)]));
    this.#breaches = breaches;
    this.#taints = taints;
    this.#insert = database.prepare('INSERT INTO facts (bucket, judged, facts) VALUES (?, 0, ?)');
    this.#read = database.prepare<[number], { judged: number; facts: string }>(
      'SELECT judged, facts FROM facts WHERE bucket = ? ORDER BY id',
    );
    this.#markJudged = database.prepare('UPDATE facts SET judged = 1 WHERE bucket = ? AND judged = 0');
    this.#toJudge = database
      .prepare<[], number>('SELECT bucket FROM facts WHERE judged = 0 UNION SELECT bucket FROM open_keys ORDER BY 1')
      .pluck();
    this.#openKeys = database.prepare<[number], string>('SELECT key FROM open_keys WHERE bucket = ?').pluck();
    this.#openKey = database.prepare('INSERT OR IGNORE INTO open_keys (bucket, key) VALUES (?, ?)');
    this.#closeKey = database.prepare('DELETE FROM open_keys WHERE bucket = ? AND key = ?');
  }

  /** @throws Error for a key of a kind that no rule judges */
  add({ key, says, value, stream, revision, position, at }: Fact): void {
    if (!this.#rules.has(kindOf(key))) throw new Error(`no rule judges facts of the kind ${kindOf(key)}`);
    const bucket = spreadOf(key) % BUCKETS;
    const text = `${this.#waiting[bucket]}${JSON.stringify([key, says, value, stream, revision, position, at])}\n`;
    if (text.length < PORTION) {
      this.#waiting[bucket] = text;
      return;
    }
    this.#insert.run(bucket, text);
    this.#waiting[bucket] = '';
  }

  /** Writes what waits in memory. */
  store(): void {
    for (const [bucket, text] of this.#waiting.entries()) {
      if (text === '') continue;
      this.#insert.run(bucket, text);
      this.#waiting[bucket] = '';
    }
  }

  /**
   * Judges the keys with new facts, and those that were open. To be called after `store`.
   * @param done called after each bucket, of which nothing is then left to do
   */
  judge(until: Instant, done: (judged: number, of: number) => void): void {
    const buckets = this.#toJudge.all();
    for (const [index, bucket] of buckets.entries()) {
      this.#judgeBucket(bucket, until);
      this.#markJudged.run(bucket);
      done(index + 1, buckets.length);
    }
  }

  #judgeBucket(bucket: number, until: Instant): void {
    const asked = this.#keysToJudge(bucket);
    const collected = new Map<string, Fact[] | null>();
    for (const fact of this.#factsIn(bucket)) {
      const { key } = fact;
      if (asked !== null && !asked.has(key)) continue;
      const facts = collected.get(key);
      if (facts === undefined) collected.set(key, [fact]);
      else if (facts !== null && facts.push(fact) > MOST_COLLECTED) collected.set(key, null);
    }
    for (const [key, facts] of collected) {
      this.#judgeKey(
        bucket,
        key,
        facts === null ? () => this.#factsOf(bucket, key) : () => facts,
        until,
        asked !== null,
      );
    }
  }

  /** Null: all keys of the bucket, since none was judged before. */
  #keysToJudge(bucket: number): ReadonlySet<string> | null {
    const asked = new Set(this.#openKeys.all(bucket));
    let judgedBefore = false;
    for (const { judged, facts } of this.#read.iterate(bucket)) {
      if (judged === 1) judgedBefore = true;
      // Nothing to choose from as long as everything is new, as in a first run.
      else if (judgedBefore) for (const { key } of factsIn(facts)) asked.add(key);
    }
    return judgedBefore ? asked : null;
  }

  #judgeKey(bucket: number, key: string, facts: () => Iterable<Fact>, until: Instant, again: boolean): void {
    const source = `key ${key}`;
    if (again) this.#breaches.forget(source);
    const last = this.#found(key, facts(), END_OF_TIME);
    // What holds even when every deadline has passed holds now.
    const now = last.breaches.length === 0 ? last : this.#found(key, facts(), until);
    if (now.breaches.length < last.breaches.length) this.#openKey.run(bucket, key);
    else if (again) this.#closeKey.run(bucket, key);
    const follows = now.breaches.length > 0 && this.#dependsOnBroken(key, facts()) ? FOLLOWS : null;
    for (const breach of now.breaches) this.#breaches.add(breach, source, follows);
    for (const rule of now.unprovable) this.#breaches.addUnprovable(rule, 1, source);
  }

  #found(key: string, facts: Iterable<Fact>, until: Instant) {
    const breaches: Breach[] = [];
    const unprovable: RuleName[] = [];
    const rules = this.#rules.get(kindOf(key)) ?? [];
    // Each of several rules of a kind reads the facts from the beginning.
    const shared = rules.length > 1 ? [...facts] : facts;
    for (const rule of rules) {
      rule.judge(
        shared,
        until,
        (breach) => breaches.push(breach),
        (name) => unprovable.push(name),
      );
    }
    return { breaches, unprovable };
  }

  #dependsOnBroken(key: string, facts: Iterable<Fact>): boolean {
    if (this.#taints.isIn(key)) return true;
    for (const fact of facts) if (this.#taints.isIn(JSON.stringify(fact))) return true;
    return false;
  }

  *#factsIn(bucket: number): Iterable<Fact> {
    for (const { facts } of this.#read.iterate(bucket)) yield* factsIn(facts);
  }

  *#factsOf(bucket: number, key: string): Iterable<Fact> {
    for (const fact of this.#factsIn(bucket)) if (fact.key === key) yield fact;
  }
}

function* factsIn(text: string): Iterable<Fact> {
  for (let from = 0; from < text.length; ) {
    const end = text.indexOf('\n', from);
    const [key, says, value, stream, revision, position, at] = storedRow<Stored>(text.slice(from, end));
    yield { key, says, value, stream, revision, position, at };
    from = end + 1;
  }
}

const kindOf = (key: string): string => key.slice(0, key.indexOf(':'));

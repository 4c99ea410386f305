/**
 * Checks an exported event log, or a proof of some of its events, without the service. Standard library only.
 *
 *   node verify.ts FILE [--head NOTE]... [--key KEY]...   Node 22.18 or later; on Node 20: npx tsx verify.ts
 *   node verify.ts check vectors                          checks the published test vectors
 *
 * FILE is from `docket audit export log` or `docket audit prove`; `-` reads standard input. NOTE is a file with a head
 * that was kept earlier, KEY a verifier key that was kept earlier. Exit code: 0 it holds, 1 a breach, 2 unreadable input.
 */
import { createHash, createPublicKey, verify } from 'node:crypto';
import { createReadStream, readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

type Json = string | number | boolean | null | Json[] | { [member: string]: Json };
type JsonObject = { [member: string]: Json };

/** What does not hold. `stream` and `revision` are null if it concerns the file as a whole. */
export interface Breach {
  readonly rule: string;
  readonly stream: string | null;
  readonly revision: number | null;
  readonly expected: string;
  readonly found: string;
}
type Report = (breach: Breach) => void;

/** What was kept earlier, and is trusted instead of the file. */
export interface Kept {
  readonly heads: readonly Note[];
  readonly keys: readonly VerifierKey[];
}

/** The input is neither a log nor a proof of the documented format, so nothing can be said about it. */
export class Unreadable extends Error {}

const MOST_BYTES = 16 * 1024 * 1024;
const MOST_DEPTH = 64;

// --- JSON -------------------------------------------------------------------------------------------------------------

/** Parses JSON that means the same to every program: no duplicate members, no number beyond a double, not too deep. */
export function parseJson(text: string, where: string): Json {
  let value: Json;
  try {
    value = JSON.parse(text);
    // What is written back unchanged has no duplicate member, and no number that was rounded.
    if (JSON.stringify(value) === text) return value;
  } catch {
    throw new Unreadable(`${where} is not JSON`);
  }
  rejectAmbiguous(text, where);
  return value;
}

const NUMBER = /[-+.\deE]+/y;

/** @param text valid JSON */
function rejectAmbiguous(text: string, where: string): void {
  const open: (Set<string> | null)[] = [];
  for (let at = 0; at < text.length; at++) {
    const character = text[at] as string;
    if (character === '{' || character === '[') open.push(character === '{' ? new Set() : null);
    else if (character === '}' || character === ']') open.pop();
    else if (character === '"') {
      const start = at++;
      while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
      let next = at + 1;
      while (' \t\r\n'.includes(text[next] ?? '-')) next++;
      if (text[next] !== ':') continue;
      const members = open.at(-1);
      const name = JSON.parse(text.slice(start, at + 1));
      if (members?.has(name)) throw new Unreadable(`${where} has a member twice`);
      members?.add(name);
    } else if (/[-\d]/.test(character)) {
      NUMBER.lastIndex = at;
      const [number = ''] = NUMBER.exec(text) ?? [];
      if (!Number.isFinite(Number(number))) throw new Unreadable(`${where} has a number that no double holds`);
      at += number.length - 1;
    }
  }
}

/** RFC 8785. A lone surrogate is escaped, as the service does. */
export function canonical(value: Json, where: string, depth = 0): string {
  if (depth > MOST_DEPTH) throw new Unreadable(`${where} is nested too deeply`);
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item, where, depth + 1)).join(',')}]`;
  // JavaScript compares by UTF-16 code units, as the RFC demands.
  const members = Object.keys(value).sort();
  return `{${members.map((name) => `${JSON.stringify(name)}:${canonical(value[name] as Json, where, depth + 1)}`).join(',')}}`;
}

// --- Shapes -----------------------------------------------------------------------------------------------------------

const HASH = /^[0-9a-f]{64}$/;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

type Check = (value: Json) => boolean;
const isText: Check = (value) => typeof value === 'string';
const isHash: Check = (value) => typeof value === 'string' && HASH.test(value);
const isCount: Check = (value) => Number.isSafeInteger(value) && (value as number) >= 0;
const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isHashes: Check = (value) => Array.isArray(value) && value.every(isHash);
const orNull =
  (check: Check): Check =>
  (value) =>
    value === null || check(value);

/** An object with exactly these members. */
function shaped(value: Json | undefined, shape: { readonly [member: string]: Check }, where: string): JsonObject {
  if (!isObject(value)) throw new Unreadable(`${where} is not an object`);
  for (const [name, check] of Object.entries(shape)) {
    if (!Object.hasOwn(value, name)) throw new Unreadable(`${where} has no ${name}`);
    if (!check(value[name] as Json)) throw new Unreadable(`${where} has an unusable ${name}`);
  }
  const unknown = Object.keys(value).find((name) => !Object.hasOwn(shape, name));
  if (unknown !== undefined) throw new Unreadable(`${where} has the unknown member ${shown(unknown)}`);
  return value;
}

interface Event {
  readonly stream: string;
  readonly revision: number;
  readonly position: string;
  readonly id: string;
  readonly type: string;
  readonly data: JsonObject;
  readonly metadata: JsonObject;
  readonly hash: string;
}

const EVENT: { readonly [member: string]: Check } = {
  stream: isText,
  revision: isCount,
  position: isText,
  id: isText,
  type: isText,
  data: isObject,
  metadata: isObject,
  hash: isHash,
};

// --- Hashes and the tree (RFC 6962, section 2.1) ----------------------------------------------------------------------

const sha256 = (...parts: readonly (string | Uint8Array)[]): Buffer => {
  const sum = createHash('sha256');
  for (const part of parts) sum.update(part);
  return sum.digest();
};

/** The hash that an event must have after the one before it in its stream. */
const linkOf = (previous: string, { stream, revision, id, type, data, metadata }: Event, where: string): string =>
  sha256(canonical([previous, stream, revision, id, type, data, metadata], where)).toString('hex');

const leafOf = ({ stream, revision, hash }: Event): Buffer =>
  sha256(Uint8Array.of(0), canonical([stream, revision, hash], 'a leaf'));
const nodeOf = (left: Uint8Array, right: Uint8Array): Buffer => sha256(Uint8Array.of(1), left, right);

/** The complete subtrees of a tree, the smallest first. Trees of different sizes share what they have in common. */
type Peaks = { readonly hash: Buffer; readonly leaves: number; readonly next: Peaks } | null;

function grown(peaks: Peaks, leaf: Buffer): Peaks {
  let [hash, leaves, next] = [leaf, 1, peaks];
  while (next?.leaves === leaves) {
    hash = nodeOf(next.hash, hash);
    leaves *= 2;
    next = next.next;
  }
  return { hash, leaves, next };
}

function rootOf(peaks: Peaks): Buffer {
  if (peaks === null) return sha256('');
  let root = peaks.hash;
  for (let peak = peaks.next; peak; peak = peak.next) root = nodeOf(peak.hash, root);
  return root;
}

/** The largest power of two below n, for n > 1. */
function splitOf(n: number): number {
  let split = 1;
  while (split * 2 < n) split *= 2;
  return split;
}

/** The root that a leaf and its path lead to; null if the path has another length than the tree demands. */
function rootByPath(leaf: Buffer, index: number, size: number, path: readonly Buffer[]): Buffer | null {
  const isLeft: boolean[] = [];
  let [from, to] = [0, size];
  while (to - from > 1) {
    const middle = from + splitOf(to - from);
    isLeft.push(index < middle);
    if (index < middle) to = middle;
    else from = middle;
  }
  if (index >= size || isLeft.length !== path.length) return null;
  isLeft.reverse();
  return path.reduce((node, sibling, step) => (isLeft[step] ? nodeOf(node, sibling) : nodeOf(sibling, node)), leaf);
}

interface Head {
  readonly size: number;
  readonly root: Buffer;
}

/** Whether the tree of `before` is the beginning of the tree of `after`. */
function isBeginning(before: Head, after: Head, path: readonly Buffer[]): boolean {
  if (before.size < 1 || before.size > after.size) return false;
  // From the root down to the last complete subtree of the old tree: whether the sibling is new, that is on the right.
  const isNew: boolean[] = [];
  let [from, to] = [0, after.size];
  while (to !== before.size) {
    const middle = from + splitOf(to - from);
    isNew.push(before.size <= middle);
    if (before.size <= middle) to = middle;
    else from = middle;
  }
  isNew.reverse();
  // If that subtree is the whole old tree, the path omits it.
  const nodes = from === 0 ? [before.root, ...path] : [...path];
  const first = nodes.shift();
  if (first === undefined || nodes.length !== isNew.length) return false;
  let [old, whole] = [first, first];
  for (const [step, node] of nodes.entries()) {
    if (isNew[step]) whole = nodeOf(whole, node);
    else [old, whole] = [nodeOf(node, old), nodeOf(node, whole)];
  }
  return old.equals(before.root) && whole.equals(after.root);
}

// --- Heads as signed notes (c2sp.org/signed-note, c2sp.org/tlog-checkpoint) --------------------------------------------

const ORIGIN = 'docket-log/';
const NOTE =
  /^docket-log\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\n([1-9]\d{0,15})\n([A-Za-z0-9+/]{43}=)\n\n((?:— [^\s+]+ [A-Za-z0-9+/]+={0,2}\n){1,16})$/;
const ED25519 = Uint8Array.of(1);
const SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');

export interface Note extends Head {
  readonly logId: string;
  /** Says which key to try. */
  readonly keyHash: string;
  readonly signature: Buffer;
}

export interface VerifierKey {
  readonly logId: string;
  readonly key: Buffer;
}

/** The bytes of canonical base64 of this length; null for any other text. */
function bytesOf(text: Json | undefined, length: number): Buffer | null {
  if (typeof text !== 'string') return null;
  const bytes = Buffer.from(text, 'base64');
  return bytes.length === length && bytes.toString('base64') === text ? bytes : null;
}

export function parseNote(text: string, where: string): Note {
  const [, logId = '', size = '', root64, signatures = ''] = NOTE.exec(text) ?? [];
  const ours = signatures.split('\n').find((line) => line.startsWith(`— ${ORIGIN}${logId} `));
  const root = bytesOf(root64, 32);
  const signed = bytesOf(ours?.slice(ours.lastIndexOf(' ') + 1), 68);
  if (!root || !signed || !Number.isSafeInteger(Number(size))) throw new Unreadable(`${where} is not a signed head`);
  return { logId, size: Number(size), root, keyHash: signed.toString('hex', 0, 4), signature: signed.subarray(4) };
}

const keyHashOf = ({ logId, key }: VerifierKey): string =>
  sha256(`${ORIGIN}${logId}\n`, ED25519, key).toString('hex', 0, 4);

export function parseKey(text: string, where: string): VerifierKey {
  const [, logId = '', hash, key64] =
    /^docket-log\/([0-9a-f-]{36})\+([0-9a-f]{8})\+([A-Za-z0-9+/]+=*)$/.exec(text) ?? [];
  const typed = bytesOf(key64, 33);
  const key = { logId, key: typed?.subarray(1) ?? Buffer.alloc(0) };
  if (!UUID.test(logId) || typed?.[0] !== 1 || keyHashOf(key) !== hash) {
    throw new Unreadable(`${where} is not a verifier key`);
  }
  return key;
}

const verifierKeyText = (key: VerifierKey): string =>
  `${ORIGIN}${key.logId}+${keyHashOf(key)}+${Buffer.concat([ED25519, key.key]).toString('base64')}`;

function isSigned({ size, root }: Head, { logId, key }: VerifierKey, signature: Uint8Array): boolean {
  const text = `${ORIGIN}${logId}\n${size}\n${root.toString('base64')}\n`;
  try {
    const spki = createPublicKey({ key: Buffer.concat([SPKI_PREFIX, key]), format: 'der', type: 'spki' });
    return verify(null, Buffer.from(text), spki, signature);
  } catch {
    return false;
  }
}

const isNoteSigned = (note: Note, key: VerifierKey): boolean =>
  note.logId === key.logId && note.keyHash === keyHashOf(key) && isSigned(note, key, note.signature);

/** What a transaction that anchors a head must say on the chain. */
const anchorLine = (logId: string | null, { size, root }: Head, transaction: string): string =>
  `anchored: transaction ${shown(transaction)} must have the memo "docket-log ${logId} ${size} ${root.toString('base64')}"`;

const isSameKey = (a: VerifierKey, b: VerifierKey): boolean => a.logId === b.logId && a.key.equals(b.key);

// --- An exported log --------------------------------------------------------------------------------------------------

/** A head is checked if at most so many events were recorded between its last one and itself. */
const WINDOW = 65_536;

interface Newest {
  readonly revision: number;
  readonly hash: string;
  /** Place in its append, from 0; -1 if the next event begins another; null if it is not known. */
  readonly index: number | null;
}

const ID_NAMESPACE = Buffer.from('5a3a1c626ef74f8e9c370d2d2f2b7c11', 'hex');

/** The id of an event (UUIDv5): of the command, the stream, the revision before the append, and the place in it. */
function idOf(command: string, { stream, revision }: Event, index: number): string {
  const name = `${command}\n${stream}\n${revision - 1 - index}\n${index}`;
  const bytes = createHash('sha1').update(ID_NAMESPACE).update(name).digest().subarray(0, 16);
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x50;
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** Checks a log event by event. Keeps one hash for each stream and each head, and the last roots. */
export class LogCheck {
  readonly #kept: Kept;
  readonly #report: Report;
  readonly #streams = new Map<string, Newest>();
  readonly #keys = new Map<number, VerifierKey>();
  readonly #heads = new Map<number, string>();
  readonly #recent: Peaks[] = [];
  /** How many of the first events are not about heads, for the sizes of the recent roots. */
  readonly #others: number[] = [0];
  #otherCount = 0;
  /** How many of them the newest head covers. */
  #othersCovered = 0;
  #peaks: Peaks = null;
  #position = '';
  #headerLogId: string | null = null;
  #logId: string | null = null;
  #newestHead: {
    readonly size: number;
    readonly root: string;
    readonly signature: string;
    readonly key: VerifierKey | null;
  } | null = null;
  #anchor: { readonly size: number; readonly root: string; readonly transaction: string } | null = null;
  #rootsDiffer = false;
  size = 0;

  constructor(kept: Kept, report: Report) {
    this.#kept = kept;
    this.#report = report;
    this.#recent[0] = null;
  }

  get root(): string {
    return rootOf(this.#peaks).toString('hex');
  }

  /** What holds if nothing was reported. */
  summary(): string {
    const counts = [
      counted(this.size, 'event'),
      counted(this.#streams.size, 'stream'),
      counted(this.#heads.size, 'head'),
    ];
    const lines = [`ok ${counts.join(', ')}: hashes, revisions, heads and signatures hold; root ${this.root}`];
    const uncovered = this.#otherCount - this.#othersCovered;
    if (this.size > 0 && this.#heads.size === 0) lines.push(NO_HEADS);
    else if (uncovered > 0) lines.push(`WARNING: ${counted(uncovered, 'event')} after the newest head: ${UNCOVERED}`);
    const key = this.#newestHead?.key;
    if (key)
      lines.push(`the first ${counted(this.#newestHead?.size ?? 0, 'event')} are signed by ${verifierKeyText(key)}`);
    if (key && this.#kept.keys.length === 0) lines.push(TRUSTED);
    const anchor = this.#anchor;
    if (anchor)
      lines.push(anchorLine(this.#logId, { ...anchor, root: Buffer.from(anchor.root, 'hex') }, anchor.transaction));
    return lines.join('\n');
  }

  header(value: Json): void {
    const shape = {
      format: isText,
      version: isCount,
      log_id: orNull(isText),
      exported_at: isText,
      head: orNull(isText),
    };
    const header = shaped(value, shape, 'line 1');
    if (header.version !== 1) throw new Unreadable(`version ${header.version} of the format is unknown`);
    this.#headerLogId = header.log_id as string | null;
  }

  event(value: Json, where: string): void {
    const event = shaped(value, EVENT, where) as unknown as Event;
    const { stream, revision, position, hash } = event;
    const breach = this.#at(event);
    const previous = this.#streams.get(stream) ?? { revision: -1, hash: '', index: -1 };
    if (revision !== previous.revision + 1) {
      breach('revisions_contiguous', `revision ${previous.revision + 1}`, `revision ${revision}`);
    }
    const link = linkOf(previous.hash, event, where);
    // After a gap the hash before it is unknown, and the gap is the breach.
    if (link !== hash && revision === previous.revision + 1) breach('hash_matches', link, hash);
    if (!(position > this.#position)) breach('positions_contiguous', `a position after ${this.#position}`, position);
    const index = revision === previous.revision + 1 ? this.#indexOf(event, previous.index) : null;
    this.#streams.set(stream, { revision, hash, index });
    this.#position = position;
    if (stream === 'log-identity' && event.type === 'LogFounded') this.#founded(event);
    if (stream === 'log-head') this.#headEvent(event);
    this.#peaks = grown(this.#peaks, leafOf(event));
    this.size += 1;
    this.#recent[this.size % WINDOW] = this.#peaks;
    if (stream !== 'log-head') this.#otherCount += 1;
    this.#others[this.size % WINDOW] = this.#otherCount;
    for (const kept of this.#kept.heads) if (kept.size === this.size) this.#compareKept(kept);
  }

  #at =
    ({ stream, revision }: { readonly stream: string | null; readonly revision: number | null }) =>
    (rule: string, expected: string, found: string): void =>
      this.#report({ rule, stream, revision, expected, found });

  readonly #whole = this.#at({ stream: null, revision: null });
  readonly #aboutKept = this.#at({ stream: 'log-head', revision: null });

  /** The event's place in its append, which only its id proves; null if it is not known. */
  #indexOf(event: Event, previous: number | null): number | null {
    const command = event.metadata.commandId;
    // Earlier versions did not record it.
    if (typeof command !== 'string') return -1;
    const index = [0, (previous ?? -1) + 1].find((place) => idOf(command, event, place) === event.id);
    if (index !== undefined) return index;
    if (previous !== null) this.#at(event)('event_id_recomputable', idOf(command, event, 0), event.id);
    return null;
  }

  #founded(event: Event): void {
    const { logId } = event.data;
    if (typeof logId === 'string' && UUID.test(logId)) this.#logId ??= logId;
    else this.#at(event)('schema_fits', 'a UUID as logId', 'other data');
  }

  #headEvent(event: Event): void {
    const breach = this.#at(event);
    const { data, type } = event;
    const fits = (shape: { readonly [member: string]: Check }): boolean => {
      const isFit = Object.entries(shape).every(
        ([name, check]) => Object.hasOwn(data, name) && check(data[name] as Json),
      );
      if (!isFit) breach('schema_fits', `a ${type} of the documented form`, 'other data');
      return isFit;
    };
    if (type === 'LogHeadKeyIntroduced') {
      if (fits({ masterVersion: isCount, publicKey: (value) => bytesOf(value, 32) !== null })) this.#introduced(event);
    } else if (type === 'LogHeadRecorded') {
      if (fits({ size: isCount, root: isHash, masterVersion: isCount, signature: isText })) this.#recorded(event);
    } else if (type === 'LogHeadAnchored' && fits({ size: isCount, root: isHash, transaction: isText })) {
      const root = this.#heads.get(data.size as number) ?? 'no head of this size';
      if (root !== data.root) breach('anchor_names_head', root, data.root as string);
      else this.#anchor = data as { size: number; root: string; transaction: string };
    }
  }

  #introduced(event: Event): void {
    const breach = this.#at(event);
    const { masterVersion, publicKey } = event.data as { masterVersion: number; publicKey: string };
    const key = { logId: this.#logId ?? '', key: Buffer.from(publicKey, 'base64') };
    const known = this.#keys.get(masterVersion);
    if (known && !known.key.equals(key.key)) {
      breach('head_key_known', `one key of version ${masterVersion}: ${known.key.toString('base64')}`, publicKey);
    }
    const { keys } = this.#kept;
    if (keys.length > 0 && !keys.some((kept) => isSameKey(kept, key))) {
      breach('head_key_kept', 'a key given with --key', verifierKeyText(key));
    }
    this.#keys.set(masterVersion, key);
  }

  #recorded(event: Event): void {
    const breach = this.#at(event);
    const { size, root, masterVersion, signature } = event.data as {
      size: number;
      root: string;
      masterVersion: number;
      signature: string;
    };
    if (size <= (this.#newestHead?.size ?? 0)) {
      breach('head_size_rises', `more than ${this.#newestHead?.size ?? 0} events`, `${size} events`);
    }
    // Whatever differs at one head differs at each later one.
    const expected = this.#rootsDiffer ? root : this.#rootAt(size);
    if (expected !== root) {
      this.#rootsDiffer = true;
      breach('head_root_matches', expected, root);
    }
    const key = this.#keys.get(masterVersion);
    const signed = bytesOf(signature, 64);
    if (!key) breach('head_key_known', 'a key that was introduced before', `version ${masterVersion}`);
    else if (!signed || !isSigned({ size, root: Buffer.from(root, 'hex') }, key, signed)) {
      breach('head_signature_valid', `a signature by the key of version ${masterVersion}`, signature);
    }
    this.#heads.set(size, root);
    this.#othersCovered = this.#others[size % WINDOW] ?? 0;
    this.#newestHead = { size, root, signature, key: key ?? null };
  }

  #rootAt(size: number): string {
    if (size > this.size) return `at most ${this.size} events`;
    if (this.size - size >= WINDOW) return `a head at most ${WINDOW} events old`;
    return rootOf(this.#recent[size % WINDOW] as Peaks).toString('hex');
  }

  #compareKept(kept: Note): void {
    const expected = kept.root.toString('hex');
    const root = this.root;
    if (root !== expected) this.#aboutKept('head_kept_matches', `root ${expected} of ${kept.size} events`, root);
  }

  /** @param value the last line; undefined if there is none */
  end(value: Json | undefined): void {
    for (const kept of this.#kept.heads) {
      if (kept.size > this.size) {
        this.#aboutKept('head_kept_matches', `at least ${kept.size} events`, `${this.size} events`);
      }
      const keys = this.#kept.keys.length > 0 ? this.#kept.keys : [...this.#keys.values()];
      if (kept.logId !== this.#logId || !keys.some((key) => isNoteSigned(kept, key))) {
        this.#aboutKept(
          'head_kept_signed',
          `a kept head of log ${this.#logId ?? 'none'} signed by a known key`,
          `log ${kept.logId}`,
        );
      }
    }
    if (this.#headerLogId !== this.#logId) {
      this.#whole('export_complete', `log ${this.#logId ?? 'none'}`, `log ${this.#headerLogId ?? 'none'}`);
    }
    if (value === undefined) {
      this.#whole('export_complete', 'a last line with the number of events', 'none: the file was cut');
      return;
    }
    const { events, root, signed_head: head } = shaped(value, END, 'the last line');
    if (events !== this.size) this.#whole('export_complete', `${events} events`, `${this.size} events`);
    if (root !== this.root) this.#whole('export_complete', `root ${root}`, `root ${this.root}`);
    const claimed = head === null ? null : shaped(head, { note: isText, key: isText }, 'signed_head');
    const note = claimed && parseNote(claimed.note as string, 'signed_head');
    const key = claimed && parseKey(claimed.key as string, 'the key of signed_head');
    const newest = this.#newestHead;
    const isSame =
      note && key && newest
        ? note.size === newest.size &&
          note.root.toString('hex') === newest.root &&
          note.logId === this.#logId &&
          note.signature.toString('base64') === newest.signature &&
          note.keyHash === keyHashOf(key) &&
          (newest.key === null || isSameKey(newest.key, key))
        : newest === null && note === null;
    if (!isSame) {
      this.#whole(
        'export_complete',
        `the newest head, of ${newest?.size ?? 0} events`,
        `one of ${note?.size ?? 0} events`,
      );
    }
  }
}

const END = {
  end: (value: Json) => value === 'docket-log',
  events: isCount,
  root: isHash,
  signed_head: orNull(isObject),
};

const TRUSTED = 'The key is what the file says. Compare it with one that you kept: --key';

const NO_HEADS =
  'WARNING: no heads: nothing proves that no stream was removed, added or moved. Compare a head that you kept: --head';
const UNCOVERED = 'nothing proves that no stream was removed, added or moved there';

// --- A proof ----------------------------------------------------------------------------------------------------------

const PROOF = {
  format: (value: Json) => value === 'docket-proof',
  version: (value: Json) => value === 1,
  log_id: (value: Json) => typeof value === 'string' && UUID.test(value),
  kind: (value: Json) => value === 'event' || value === 'request',
  events: (value: Json) => Array.isArray(value) && value.length > 0,
  head: isObject,
  anchor: orNull(isObject),
};
const PROVEN = { ...EVENT, index: isCount, previous_hash: isText, path: isHashes };
const ANCHOR = {
  size: isCount,
  root: isHash,
  consistency: isHashes,
  transaction: isText,
  slot: isCount,
  block_time: orNull(isText),
};

const nodesOf = (hashes: Json | undefined): readonly Buffer[] =>
  (hashes as string[]).map((hash) => Buffer.from(hash, 'hex'));

/** Reports what does not hold, and returns what is proven otherwise. */
export function checkProof(value: Json, kept: Kept, report: Report): string {
  const proof = shaped(value, PROOF, 'the proof');
  const signedHead = shaped(proof.head, { note: isText, key: isText }, 'head');
  const note = parseNote(signedHead.note as string, 'the note of head');
  const key = parseKey(signedHead.key as string, 'the key of head');
  const whole = (rule: string, expected: string, found: string): void =>
    report({ rule, stream: null, revision: null, expected, found });

  const events = (proof.events as Json[]).map((event, step) => shaped(event, PROVEN, `event ${step}`));
  if (proof.kind === 'event' && events.length !== 1) throw new Unreadable('the proof of one event has several');
  checkProven(events, proof.kind === 'request', note, report);

  if (note.logId !== proof.log_id || !isNoteSigned(note, key)) {
    whole(
      'head_signature_valid',
      `a head of log ${proof.log_id} signed by the key beside it`,
      `a head of log ${note.logId}`,
    );
  }
  if (kept.keys.length > 0 && !kept.keys.some((known) => isSameKey(known, key))) {
    whole('head_key_kept', 'a key given with --key', verifierKeyText(key));
  }
  const anchor = proof.anchor === null ? null : shaped(proof.anchor, ANCHOR, 'anchor');
  const anchored = anchor && { size: anchor.size as number, root: Buffer.from(anchor.root as string, 'hex') };
  if (anchor && anchored && !isBeginning(note, anchored, nodesOf(anchor.consistency))) {
    whole('anchor_consistent', `a tree that begins with the head's ${note.size} events`, `root ${anchor.root}`);
  }
  for (const head of kept.heads) {
    const same = [note, anchored].find((claimed) => claimed?.size === head.size);
    if (!same)
      throw new Unreadable(
        `--head is of ${head.size} events and the proof's head of ${note.size}: only an exported log relates them`,
      );
    if (head.logId !== note.logId || !head.root.equals(same.root)) {
      report({
        rule: 'head_kept_matches',
        stream: 'log-head',
        revision: null,
        expected: `root ${head.root.toString('hex')}`,
        found: `root ${same.root.toString('hex')}`,
      });
    }
  }
  const { stream } = events[0] as unknown as Event;
  const lines = [
    `ok ${counted(events.length, 'event')} of ${shown(stream)}: in the first ${note.size} events of log ${note.logId}`,
    `root ${note.root.toString('hex')}, signed by ${verifierKeyText(key)}`,
  ];
  if (kept.keys.length === 0) lines.push(TRUSTED);
  if (anchor && anchored) lines.push(anchorLine(note.logId, anchored, anchor.transaction as string));
  return lines.join('\n');
}

function checkProven(events: readonly JsonObject[], isWhole: boolean, head: Note, report: Report): void {
  for (const [step, proven] of events.entries()) {
    const event = proven as unknown as Event & { index: number; previous_hash: string };
    const { stream, revision, hash, index, previous_hash: previous } = event;
    const breach = (rule: string, expected: string, found: string): void =>
      report({ rule, stream, revision, expected, found });
    const before = events[step - 1] as unknown as typeof event | undefined;
    const first = (events[0] as unknown as Event).stream;
    if (isWhole && (revision !== step || stream !== first)) {
      breach('revisions_contiguous', `${shown(first)} ${step}`, `${shown(stream)} ${revision}`);
    }
    if (previous !== '' && !HASH.test(previous)) throw new Unreadable(`event ${step} has an unusable previous_hash`);
    const expected = before ? before.hash : revision === 0 ? '' : previous;
    const link = linkOf(expected, event, `event ${step}`);
    if (previous !== expected) breach('hash_matches', `previous hash ${expected}`, previous);
    else if (link !== hash) breach('hash_matches', link, hash);
    if (before && index <= before.index) breach('inclusion_proven', `an index after ${before.index}`, String(index));
    const root = rootByPath(leafOf(event), index, head.size, nodesOf(proven.path));
    if (!root?.equals(head.root)) {
      breach(
        'inclusion_proven',
        `root ${head.root.toString('hex')}`,
        root ? `root ${root.toString('hex')}` : 'no path',
      );
    }
  }
}

// --- Input and output -------------------------------------------------------------------------------------------------

/** A text from the file, safe for a terminal. */
export const shown = (text: string): string =>
  /^[!-~]{1,200}$/.test(text)
    ? text
    : JSON.stringify(text.slice(0, 200)).replace(
        /[^ -~]/g,
        (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
      );

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

const breachLine = ({ rule, stream, revision, expected, found }: Breach): string =>
  `breach ${rule} ${stream === null ? '-' : shown(stream)} ${revision ?? '-'}: expected ${shown(expected)}, found ${shown(found)}`;

/** Lines of UTF-8 without their ends. */
async function* linesOf(input: AsyncIterable<Uint8Array>): AsyncIterable<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  const decoded = (bytes: Uint8Array): string => {
    try {
      return decoder.decode(bytes);
    } catch {
      throw new Unreadable('the input is not UTF-8');
    }
  };
  let parts: Uint8Array[] = [];
  let length = 0;
  for await (let chunk of input) {
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10)) {
      yield decoded(Buffer.concat([...parts, chunk.subarray(0, end)]));
      parts = [];
      length = 0;
      chunk = chunk.subarray(end + 1);
    }
    parts.push(chunk);
    length += chunk.length;
    if (length > MOST_BYTES) throw new Unreadable(`a line has over ${MOST_BYTES} bytes`);
  }
  if (length > 0) yield decoded(Buffer.concat(parts));
}

function isLogHeader(line: string): boolean {
  try {
    const value = JSON.parse(line);
    return isObject(value) && value.format === 'docket-log';
  } catch {
    return false;
  }
}

/** Checks a file of either kind and returns what holds if nothing was reported. @throws Unreadable */
export async function check(input: AsyncIterable<Uint8Array>, kept: Kept, report: Report): Promise<string> {
  const lines = linesOf(input)[Symbol.asyncIterator]();
  const first = await lines.next();
  if (first.done) throw new Unreadable('the input is empty');
  if (!isLogHeader(first.value)) {
    let text = first.value;
    for (let next = await lines.next(); !next.done; next = await lines.next()) {
      text += `\n${next.value}`;
      if (text.length > MOST_BYTES) throw new Unreadable('the input is neither an exported log nor a proof');
    }
    return checkProof(parseJson(text, 'the proof'), kept, report);
  }
  const log = new LogCheck(kept, report);
  log.header(parseJson(first.value, 'line 1'));
  let end: Json | undefined;
  let number = 1;
  for (let next = await lines.next(); !next.done; next = await lines.next()) {
    const where = `line ${++number}`;
    if (end !== undefined) throw new Unreadable(`${where} follows the last line`);
    const value = parseJson(next.value, where);
    if (isObject(value) && Object.hasOwn(value, 'end')) end = value;
    else log.event(value, where);
  }
  log.end(end);
  return log.summary();
}

interface Vector {
  readonly file: string;
  readonly head?: string;
  readonly key?: string;
  readonly exit: number;
  readonly breaches: readonly {
    readonly rule: string;
    readonly stream: string | null;
    readonly revision: number | null;
  }[];
}

/** Checks the published vectors; returns how many give another result than expected. */
async function checkVectors(folder: string): Promise<number> {
  const { vectors } = JSON.parse(readFileSync(join(folder, 'expected.json'), 'utf8')) as { vectors: Vector[] };
  let wrong = 0;
  for (const { file, head, key, ...expected } of vectors) {
    const found: Breach[] = [];
    let exit = 0;
    try {
      const kept = {
        heads: head === undefined ? [] : [noteIn(join(folder, head))],
        keys: key === undefined ? [] : [parseKey(key, 'key')],
      };
      await check(createReadStream(join(folder, file)), kept, (breach) => found.push(breach));
      exit = found.length > 0 ? 1 : 0;
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
      exit = 2;
    }
    const breaches = exit === 2 ? [] : found.map(({ rule, stream, revision }) => ({ rule, stream, revision }));
    const isRight =
      JSON.stringify({ exit, breaches }) === JSON.stringify({ exit: expected.exit, breaches: expected.breaches });
    if (!isRight) wrong += 1;
    process.stdout.write(
      `${isRight ? 'ok' : 'WRONG'} ${file}: ${exit} ${breaches.map(({ rule }) => rule).join(' ')}\n`,
    );
  }
  return wrong;
}

const USAGE = 'usage: verify.ts FILE [--head NOTE]... [--key KEY]...   or: verify.ts check FOLDER\n';

/** An editor may have changed the ends of lines. */
const noteIn = (path: string): Note =>
  parseNote(`${readFileSync(path, 'utf8').replaceAll('\r\n', '\n').trimEnd()}\n`, shown(path));

function readKept(options: readonly string[]): Kept {
  const heads: Note[] = [];
  const keys: VerifierKey[] = [];
  for (let at = 0; at < options.length; at += 2) {
    const [name, value] = options.slice(at, at + 2);
    if (value === undefined) throw new Unreadable(USAGE.trimEnd());
    if (name === '--head') heads.push(noteIn(value));
    else if (name === '--key') keys.push(parseKey(value, '--key'));
    else throw new Unreadable(USAGE.trimEnd());
  }
  return { heads, keys };
}

async function main([file, ...options]: readonly string[]): Promise<number> {
  if (file === undefined || file.startsWith('--')) throw new Unreadable(USAGE.trimEnd());
  if (file === 'check') return (await checkVectors(options[0] ?? 'vectors')) > 0 ? 1 : 0;
  const kept = readKept(options);
  let breaches = 0;
  const result = await check(file === '-' ? process.stdin : createReadStream(file), kept, (breach) => {
    breaches += 1;
    process.stdout.write(`${breachLine(breach)}\n`);
  });
  process.stdout.write(
    breaches === 0 ? `${result}\n` : `${counted(breaches, 'breach').replace('breachs', 'breaches')}\n`,
  );
  return breaches === 0 ? 0 : 1;
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(realpathSync(process.argv[1])).href) {
  // The reader left, as in `verify.ts log.ndjson | head`.
  process.stdout.on('error', () => process.exit(1));
  main(process.argv.slice(2)).then(
    (code) => {
      process.exitCode = code;
    },
    (error: NodeJS.ErrnoException) => {
      // A file that cannot be opened is as unreadable as one that is not JSON.
      if (!(error instanceof Unreadable) && error.syscall === undefined) throw error;
      process.stderr.write(`unreadable: ${error.message}\n`);
      process.exitCode = 2;
    },
  );
}

/** Writes the content of a copy: as it was, or replaced if a list or the copied log itself has withdrawn it. */
import { ContentRedacted, contentStream } from '../events/content.ts';
import { type Clock, toInstant } from '../runtime/instant.ts';
import { NO_STREAM, type RecordedEvent } from '../storage/event-log.ts';
import { openPayload } from '../storage/payload-blob.ts';
import type { BlobName } from '../storage/payload-store.ts';
import { prepareAppend } from '../storage/prepare-append.ts';
import type { Storage } from '../storage/storage.ts';
import type { PayloadLine } from './entries.ts';
import { blobsNamedBy } from './named-content.ts';
import type { CopyOrigin } from './origin.ts';
import { type RedactionList, redacted, together, type WantedRedaction } from './redactions.ts';
import type { Names, Scratch } from './scratch.ts';

/** Redacting a redaction is rare, and a cycle is a fault. */
const MOST_REPLACEMENTS = 32;
const NAMES_AT_ONCE = 1000;

interface Standing {
  readonly wanted: WantedRedaction;
  /** The event that names the content. */
  source: Pick<RecordedEvent, 'stream' | 'revision'> | null;
  /** Whether the copy holds content under this name, or under the name of a replacement. */
  isHeld: boolean;
}

export class RedactedContent {
  static readonly ACTOR = 'restore';
  readonly #target: Storage;
  readonly #list: ReadonlyMap<BlobName, Standing>;
  /** For each blob that is not written as it is: the content of the list that it holds, by the list's name. */
  readonly #withheld: ReadonlyMap<BlobName, Standing>;
  /** The successive replacements of each content that the copied log itself has withdrawn, as JSON. */
  readonly #recorded: Names;
  /** Content that the copied log has withdrawn without a replacement. */
  readonly #removed: Names;

  private constructor(
    scratch: Scratch,
    target: Storage,
    list: ReadonlyMap<BlobName, Standing>,
    withheld: ReadonlyMap<BlobName, Standing>,
  ) {
    this.#recorded = scratch.names();
    this.#removed = scratch.names();
    this.#target = target;
    this.#list = list;
    this.#withheld = withheld;
  }

  /** @param scratch to be closed once nothing of the result is used */
  static async of(
    scratch: Scratch,
    target: Storage,
    origin: CopyOrigin,
    { listed }: RedactionList,
  ): Promise<RedactedContent> {
    const list = new Map<BlobName, Standing>();
    const known = listed.length === 0 ? new Set() : await recordedIn(origin, new Set(listed.map(({ name }) => name)));
    for (const { revision, ...one } of listed) {
      if (revision !== null && known.has(redactionKey(one.name, revision))) continue;
      const wanted = list.get(one.name)?.wanted;
      list.set(one.name, { wanted: wanted ? together(wanted, one) : one, source: null, isHeld: false });
    }
    return new RedactedContent(scratch, target, list, list.size === 0 ? list : await chainsOf(scratch, origin, list));
  }

  /** Names whose content was withheld. */
  get redacted(): readonly BlobName[] {
    return [...this.#list].filter(([, { source, isHeld }]) => source !== null && isHeld).map(([name]) => name);
  }

  /** Names that the copy does not hold, or no longer. */
  get unknown(): readonly BlobName[] {
    return [...this.#list].filter(([, { source, isHeld }]) => source === null || !isHeld).map(([name]) => name);
  }

  async write(line: PayloadLine): Promise<void> {
    const { payloads } = this.#target;
    const { as, name } = line;
    const withheld = this.#withheld.get(name);
    if (withheld) {
      if (as === 'stored') await this.#replace(withheld, line);
    } else if (as === 'stored') {
      await payloads.store({
        name,
        kind: line.kind,
        storedAt: line.storedAt,
        bytes: Buffer.from(line.bytes, 'base64'),
      });
    } else if (as === 'replaced') {
      await payloads.remove(name, line.replacement);
    }
  }

  /** Whether a content of the origin is rightly not in the copy. */
  isRemoved(name: BlobName): boolean {
    return this.#withheld.has(name) || this.#removed.has(name);
  }

  /** Takes note of an event of the copy. */
  note(event: RecordedEvent): void {
    if (event.type === ContentRedacted.type) this.#noteRemoval(event);
    if (this.#list.size === 0) return;
    for (const name of blobsNamedBy(event)) {
      const standing = this.#list.get(name);
      if (standing) standing.source ??= { stream: event.stream, revision: event.revision };
    }
  }

  #noteRemoval({ data: { name, replacement } }: RecordedEvent): void {
    if (!isName(name) || (replacement !== null && !isName(replacement))) return;
    const replacements = [...replacementsIn(this.#recorded.about(name)), replacement];
    this.#recorded.set(name, JSON.stringify(replacements));
    if (replacement !== null) return;
    for (const one of [name, ...replacements]) if (one !== null) this.#removed.add(one);
  }

  /** Completes removals that the log records but the original store had not made yet; then records those of the list. */
  async record(clock: Clock): Promise<void> {
    for (const page of this.#recorded.pages(NAMES_AT_ONCE)) {
      for (const { name, about } of page) await this.#complete(name, replacementsIn(about));
    }
    for (const [name, { source, isHeld, wanted }] of this.#list) {
      if (source === null || !isHeld) continue;
      const { log, copies } = this.#target;
      const stream = contentStream(name);
      const events = await log.read(stream);
      const replacement = (await copies.standings([name])).get(name) ?? null;
      const last = events.at(-1);
      const commandId = `restore-${name}-${replacement ?? 'none'}`;
      // By an earlier run of this restore.
      if (last?.metadata.commandId === commandId) continue;
      const { filingIds, reason, by } = wanted;
      await log.append(
        prepareAppend({
          stream,
          head: last ? { revision: last.revision, hash: last.metadata.hash } : NO_STREAM,
          events: [ContentRedacted.of({ name, replacement, ...source, filingIds: [...filingIds], reason, by })],
          context: {
            commandId,
            requestId: null,
            correlationId: commandId,
            causationId: null,
            actor: RedactedContent.ACTOR,
          },
          recordedAt: toInstant(clock.now()),
        }),
      );
    }
  }

  async #complete(name: BlobName, replacements: readonly (BlobName | null)[]): Promise<void> {
    const { copies, payloads } = this.#target;
    const last = replacements.at(-1) ?? null;
    const replaced = [name, ...replacements.slice(0, -1)].filter(
      (one): one is BlobName => one !== null && one !== last,
    );
    const standings = await copies.standings(last === null ? replaced : [...replaced, last]);
    // Without the replacement, this may be the only copy.
    if (last !== null && !standings.has(last)) return;
    for (const one of replaced) if (standings.get(one) === null) await payloads.remove(one, last ?? undefined);
  }

  /** Every blob that leads to this content then leads to what remains of it. */
  async #replace(
    { wanted }: Standing,
    { name, kind, storedAt, bytes }: Extract<PayloadLine, { readonly as: 'stored' }>,
  ) {
    const { payloads, copies } = this.#target;
    const holders = [...this.#withheld]
      .filter(([, standing]) => standing.wanted.name === wanted.name)
      .map(([one]) => one);
    if ((await copies.standings([name])).has(name)) return;
    const left = redacted(kind, await openPayload(name, Buffer.from(bytes, 'base64')), wanted);
    if (left === null) return;
    const sealed = { ...(await payloads.seal(kind, left)), storedAt };
    await payloads.store(sealed);
    // This one last: it shows that the others are complete.
    for (const holder of [...holders.filter((one) => one !== name), name]) await payloads.remove(holder, sealed.name);
  }
}

const isName = (value: unknown): value is BlobName => typeof value === 'string' && /^[0-9a-f]{64}$/.test(value);

const redactionKey = (name: unknown, revision: number): string => `${name} ${revision}`;

const replacementsIn = (about: string | null | undefined): readonly (BlobName | null)[] =>
  about ? (JSON.parse(about) as (BlobName | null)[]) : [];

/** Withdrawals of these names that the copied log has recorded itself. */
async function recordedIn(origin: CopyOrigin, names: ReadonlySet<unknown>): Promise<ReadonlySet<string>> {
  const known = new Set<string>();
  for await (const events of origin.events()) {
    for (const { type, data, revision } of events) {
      if (type === ContentRedacted.type && names.has(data.name)) known.add(redactionKey(data.name, revision));
    }
  }
  return known;
}

/** Each name of the list, and the replacements that it leads to in the copy. */
async function chainsOf(
  scratch: Scratch,
  origin: CopyOrigin,
  list: ReadonlyMap<BlobName, Standing>,
): Promise<ReadonlyMap<BlobName, Standing>> {
  const leads = scratch.names();
  const stored = scratch.names();
  for await (const lines of origin.content()) {
    for (const line of lines) {
      if (line.as === 'replaced') leads.set(line.name, line.replacement);
      if (line.as === 'stored') stored.add(line.name);
    }
  }
  const withheld = new Map<BlobName, Standing>();
  for (const [name, standing] of list) {
    let holder: BlobName | null = name;
    for (let hops = 0; holder !== null && hops <= MOST_REPLACEMENTS; hops++) {
      withheld.set(holder, standing);
      standing.isHeld ||= stored.has(holder);
      holder = leads.about(holder) ?? null;
    }
  }
  return withheld;
}

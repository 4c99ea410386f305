/** Content that an event replaces and that is then removed from the payload store. */
import { ContentRedacted, contentStream } from '../../events/content.ts';
import type { EventOf } from '../../events/event.ts';
import type { Clock } from '../../runtime/instant.ts';
import type { CommandContext, EventLog } from '../../storage/event-log.ts';
import type { BlobName, PayloadKind, PayloadStore } from '../../storage/payload-store.ts';
import type { Decider } from '../decider.ts';
import { isWritten, load, record } from '../handle.ts';

/** The successive replacements of one content; null for a removal without a replacement. */
export type Replacements = readonly (BlobName | null)[];

export type Redaction = EventOf<typeof ContentRedacted>['data'];

export interface Redact {
  readonly type: 'Redact';
  readonly redaction: Redaction;
}

/** The stream of one content, which may be replaced several times. */
export const redactions: Decider<Replacements, Redact, EventOf<typeof ContentRedacted>> = {
  initialState: [],
  decide: (_replacements, { redaction }) => [ContentRedacted.of(redaction)],
  evolve: (replacements, { data }) => [...replacements, data.replacement],
};

/**
 * Removes content that recorded redactions replaced: the original, and every replacement but the last. All of them
 * refer to the last replacement in one step. An existing reference is never changed, so a node with an older view of
 * the log does no harm.
 * @returns whether there was anything to remove
 */
export async function finishRedaction(
  payloads: PayloadStore,
  name: BlobName,
  replacements: Replacements,
): Promise<boolean> {
  const last = replacements.at(-1);
  if (last === undefined) return false;
  const replaced = [name, ...replacements.slice(0, -1)].filter((one): one is BlobName => one !== null && one !== last);
  const found = await payloads.resolve(replaced);
  const own = replaced.filter((one) => found.get(one)?.replaced === false);
  // After a restore without the replacement, this may be the only copy.
  if (own.length === 0 || (last !== null && (await payloads.get(last)) === null)) return false;
  for (const one of own) await payloads.remove(one, last ?? undefined);
  return true;
}

export interface RemovalPorts {
  readonly log: EventLog;
  readonly payloads: PayloadStore;
  readonly clock: Clock;
}

/**
 * Removes content without a replacement, and records it first: content that is gone before its `keepUntil` is always
 * gone by record. Content that was replaced before goes with every replacement. Safe to kill in between and to repeat.
 * @returns whether this call recorded the removal
 * @throws the errors of the storage
 */
export async function removeByRecord(
  { log, payloads, clock }: RemovalPorts,
  redaction: Omit<Redaction, 'replacement'>,
  context: CommandContext,
): Promise<boolean> {
  const stream = contentStream(redaction.name);
  for (let recorded = false; ; ) {
    const known = await load(log, redactions, stream);
    if (known.state.at(-1) !== null) {
      const command = { type: 'Redact', redaction: { ...redaction, replacement: null } } as const;
      recorded = isWritten(await record({ log, clock }, { decider: redactions, stream, command, context, known }));
      // If another process was first, it may have recorded a replacement, which has to go too.
      if (!recorded) continue;
    }
    const replacements = known.state.filter((one) => one !== null);
    for (const one of [...replacements, redaction.name]) await payloads.remove(one);
    return recorded;
  }
}

/**
 * Replaces content, and records it before the old bytes go.
 * @param redact what is left of the present content; null if it need not change
 * @returns whether there was anything to replace
 * @throws the errors of the storage
 */
export async function replaceByRecord(
  ports: RemovalPorts,
  redaction: Omit<Redaction, 'replacement'>,
  { kind, redact }: { readonly kind: PayloadKind; redact(bytes: Buffer): Buffer | null },
  contextOf: (replacement: BlobName) => CommandContext,
): Promise<boolean> {
  const { log, payloads, clock } = ports;
  const { name } = redaction;
  const stream = contentStream(name);
  for (;;) {
    const known = await load(log, redactions, stream);
    const finished = await finishRedaction(payloads, name, known.state);
    const found = (await payloads.resolve([name])).get(name);
    const left = found && redact(found.content);
    if (!left) return finished;
    const replacement = await payloads.put(kind, left);
    const command = { type: 'Redact', redaction: { ...redaction, replacement } } as const;
    const context = contextOf(replacement);
    if (!isWritten(await record({ log, clock }, { decider: redactions, stream, command, context, known }))) {
      // Another writer was first: nothing names ours.
      await payloads.remove(replacement);
      continue;
    }
    await finishRedaction(payloads, name, (await load(log, redactions, stream)).state);
    return true;
  }
}

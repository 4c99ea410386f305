/** Content of a docket: its own, and what of it was sold. */
import { parseCaseNumber } from '../../courts/case-number.ts';
import { findCourt } from '../../courts/registry.ts';
import { type ForgottenCase, withoutCase } from '../../dockets/forgotten-answer.ts';
import { decodeEvent } from '../../events/codec.ts';
import { AliasClaimed, type DocketAliasEvent, type DocketEvent } from '../../events/docket.ts';
import type { Instant } from '../../runtime/instant.ts';
import type { EventLog } from '../../storage/event-log.ts';
import { resolveIntact } from '../../storage/intact-payloads.ts';
import type { BlobName } from '../../storage/payload-store.ts';
import { answersIn, envelopeOf, type ForgetPorts, type Forgettable, forgettable } from './forgettable.ts';

export interface DocketToForget {
  readonly stream: string;
  /** Its code. */
  readonly court: string;
  /** Every number that means it, complete or without its office. */
  readonly numbers: readonly string[];
  readonly forgotten: ForgottenCase;
}

/** Reads who it is from the log. A number without its office that other dockets share is none of its own. */
export async function docketToForget(log: EventLog, stream: string): Promise<DocketToForget> {
  const numbers = new Set<string>();
  const cores = new Set<string>();
  const shared = new Set<string>();
  const court = stream.split('-', 2)[1] ?? '';
  for await (const { events } of log.readAll(null, { by: 'types', types: [AliasClaimed.type] })) {
    for (const claimed of events) {
      const { data } = decodeEvent(claimed) as DocketAliasEvent;
      if (data.court !== court) continue;
      if (data.stream !== stream) {
        if (data.core !== null) shared.add(data.core);
        continue;
      }
      numbers.add(data.number);
      if (data.core !== null) cores.add(data.core);
    }
  }
  const own = new Set([...numbers, ...[...cores].filter((core) => !shared.has(core))]);
  const filingIds = new Set((await log.read(stream)).flatMap((event) => filingsOf(decodeEvent(event) as DocketEvent)));
  const means = (courtCode: string, number: string): boolean => {
    const known = findCourt(courtCode);
    if (known?.code !== court) return false;
    const parsed = parseCaseNumber(known, number);
    return own.has(parsed?.canonical ?? number);
  };
  return { stream, court, numbers: [...numbers], forgotten: { means, filingIds, numbers: [...own] } };
}

function filingsOf({ type, data }: DocketEvent): readonly string[] {
  if (type === 'FilingsRecorded') return data.filings.map(({ filingId }) => filingId);
  return type === 'FilingRevised' ? [data.filing.filingId] : [];
}

/** Texts, names and document ids of the docket itself. */
export async function* contentsOfDocket({ log }: ForgetPorts, { stream }: DocketToForget): AsyncIterable<Forgettable> {
  for (const source of await log.read(stream)) {
    const event = decodeEvent(source) as DocketEvent;
    if (!('content' in event.data)) continue;
    yield { ...forgettable('docket', event.data.content, source), filingIds: filingsOf(event) };
  }
}

/** Stored answers and callbacks that hold the docket. An answer's event names no case, so every stored one is read. */
export async function* salesOfDocket(
  { log, payloads, signal }: ForgetPorts,
  { forgotten }: DocketToForget,
  now: Instant,
): AsyncIterable<Forgettable> {
  for await (const { source, data } of answersIn({ log, signal }, null)) {
    const left = data.answer === null || data.keepUntil <= now ? undefined : await leftOf(data.answer);
    if (data.answer !== null && left !== undefined) {
      yield { ...forgettable('answer', data.answer, source), ...(left === null ? {} : { redact }) };
    }
    for (const { deliveryId } of data.callbacks) {
      const envelope = await envelopeOf(log, deliveryId);
      if (envelope && (await leftOf(envelope.name)) !== undefined) {
        yield forgettable('envelope', envelope.name, envelope.source);
      }
    }
  }

  function redact(bytes: Buffer): Buffer | null {
    const remainder = withoutCase(bytes, forgotten);
    return remainder.holds ? remainder.left : null;
  }

  /** Undefined if nothing of the docket is in it. Damaged bytes cannot be read by anyone, and stay. */
  async function leftOf(name: BlobName): Promise<Buffer | null | undefined> {
    const content = (await resolveIntact(payloads, [name])).found.get(name)?.content;
    if (!content) return undefined;
    const remainder = withoutCase(content, forgotten);
    return remainder.holds ? remainder.left : undefined;
  }
}

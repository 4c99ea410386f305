/** Content of a docket: its own, and what of it was sold. */
import { parseCaseNumber } from '../../courts/case-number.ts';
import { findCourt } from '../../courts/registry.ts';
import { type ForgottenCase, withoutCase } from '../../dockets/forgotten-answer.ts';
import { decodeEvent } from '../../events/codec.ts';
import { AliasClaimed, type DocketAliasEvent, type DocketEvent, filingsIn } from '../../events/docket.ts';
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
  const filingIds = new Set((await log.read(stream)).flatMap((event) => filingsIn(decodeEvent(event) as DocketEvent)));
  const means = (courtCode: string, number: string): boolean => {
    const known = findCourt(courtCode);
    if (known?.code !== court) return false;
    const parsed = parseCaseNumber(known, number);
    return own.has(parsed?.canonical ?? number);
  };
  return { stream, court, numbers: [...numbers], forgotten: { means, filingIds, numbers: [...own] } };
}

/** Texts, names and document ids of the docket itself. */
export async function* contentsOfDocket({ log }: ForgetPorts, { stream }: DocketToForget): AsyncIterable<Forgettable> {
  for (const source of await log.read(stream)) {
    const event = decodeEvent(source) as DocketEvent;
    if (!('content' in event.data)) continue;
    yield { ...forgettable('docket', event.data.content, source), filingIds: filingsIn(event) };
  }
}

/**
 * Stored answers and callbacks that hold the docket. Every one that is stored is read, because the events of earlier
 * versions name no case, and an answer may mention other dockets than those it is about. Damaged ones go by what their
 * events say: their bytes may come back from a backup.
 */
export async function* salesOfDocket(
  { log, payloads, signal }: ForgetPorts,
  { stream, forgotten }: DocketToForget,
  now: Instant,
): AsyncIterable<Forgettable> {
  for await (const { source, data } of answersIn({ log, signal }, null)) {
    const isAbout = data.cases?.includes(stream) ?? data.answeredCases > 0;
    const left = data.answer === null || data.keepUntil <= now ? undefined : await leftOf(data.answer, isAbout);
    if (data.answer !== null && left !== undefined) {
      yield { ...forgettable('answer', data.answer, source), ...(left === null ? {} : { redact }) };
    }
    for (const { deliveryId, result } of data.callbacks) {
      const envelope = await envelopeOf(log, deliveryId);
      if (!envelope) continue;
      const isKnown = result === null && data.cases !== undefined;
      const isSent = isKnown ? isAbout : (isPushed(envelope.data) ?? isAbout);
      if ((await leftOf(envelope.name, isSent)) !== undefined) {
        yield forgettable('envelope', envelope.name, envelope.source);
      }
    }
  }

  function redact(bytes: Buffer): Buffer | null {
    const remainder = withoutCase(bytes, forgotten);
    return remainder.holds ? remainder.left : null;
  }

  /** Whether a callback is about the docket; null if its event does not say. */
  function isPushed({ courtCode, caseNumber, caseId }: Pushed): boolean | null {
    const number = caseNumber ?? caseId;
    return courtCode === null || number === null ? null : forgotten.means(courtCode, number);
  }

  /** Undefined if nothing of the docket is in it. Of damaged bytes nothing can be kept. */
  async function leftOf(name: BlobName, isAbout: boolean): Promise<Buffer | null | undefined> {
    const { found, damaged } = await resolveIntact(payloads, [name]);
    if (damaged.has(name)) return isAbout ? null : undefined;
    const content = found.get(name)?.content;
    if (!content) return undefined;
    const remainder = withoutCase(content, forgotten);
    return remainder.holds ? remainder.left : undefined;
  }
}

interface Pushed {
  readonly courtCode: string | null;
  readonly caseNumber: string | null;
  readonly caseId: string | null;
}

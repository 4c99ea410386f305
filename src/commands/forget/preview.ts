/** What an order to forget would remove now, without removing anything. */
import { decodeEvent } from '../../events/codec.ts';
import type { DeliveryEvent } from '../../events/delivery.ts';
import type { RemovedCounts } from '../../events/forget.ts';
import { type Clock, toInstant } from '../../runtime/instant.ts';
import { resolveIntact } from '../../storage/intact-payloads.ts';
import { delivery } from '../delivery/delivery.ts';
import { load } from '../handle.ts';
import { contentsOfDocket, docketToForget, salesOfDocket } from './docket-contents.ts';
import { countsOf } from './forget.ts';
import { contentsOfUrl, contentsOfWallet, type ForgetPorts, type Forgettable } from './forgettable.ts';

/** The subject in words, before an order names it. */
export type Wanted =
  | { readonly kind: 'callback_url'; readonly url: string; readonly origin: string }
  | { readonly kind: 'wallet'; readonly wallet: string }
  | { readonly kind: 'docket'; readonly docket: string };

export interface Preview {
  readonly contents: readonly Pick<Forgettable, 'name' | 'kind'>[];
  readonly counts: RemovedCounts;
  /** Stored answers that keep their results about other dockets. */
  readonly partly: number;
  /** Callbacks that are not over, and will end as `content_withdrawn`. */
  readonly openDeliveries: readonly string[];
}

export async function previewOf(ports: ForgetPorts & { readonly clock: Clock }, wanted: Wanted): Promise<Preview> {
  const { log, payloads } = ports;
  const contents = new Map<string, Pick<Forgettable, 'name' | 'kind'>>();
  const open = new Set<string>();
  let partly = 0;
  for await (const { name, kind, source, redact } of contentsOf(ports, wanted)) {
    if (contents.has(name)) continue;
    const { found, damaged } = await resolveIntact(payloads, [name]);
    if (!found.has(name) && !damaged.has(name)) continue;
    contents.set(name, { name, kind });
    if (redact) partly++;
    if (kind !== 'envelope') continue;
    const event = decodeEvent(source) as DeliveryEvent;
    if (event.type !== 'DeliveryScheduled') continue;
    const { state } = await load(log, delivery, source.stream);
    if (state.status !== 'none' && (state.nextAttemptAt !== null || state.underway || state.redelivery)) {
      open.add(event.data.deliveryId);
    }
  }
  const all = [...contents.values()];
  return { contents: all, counts: countsOf(all), partly, openDeliveries: [...open] };
}

async function* contentsOf(ports: ForgetPorts & { readonly clock: Clock }, wanted: Wanted): AsyncIterable<Forgettable> {
  switch (wanted.kind) {
    case 'callback_url':
      return yield* contentsOfUrl(ports, wanted, null);
    case 'wallet':
      return yield* contentsOfWallet(ports, wanted.wallet, null);
    case 'docket': {
      const subject = await docketToForget(ports.log, wanted.docket);
      yield* contentsOfDocket(ports, subject);
      yield* salesOfDocket(ports, subject, toInstant(ports.clock.now()));
    }
  }
}

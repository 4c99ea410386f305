/** Docket alerts of an account at CourtListener (docs/design/sources.md#alerts). Each request takes one from the budget. */

import { isJsonObject } from '../../events/event.ts';
import { parseUrl } from '../../runtime/parse-url.ts';
import type { Fault } from '../source.ts';
import { type CourtListenerClient, fault, isFault, type RequestAsking } from './client.ts';
import { idOf } from './courtlistener.ts';

/** An alert as CourtListener lists it. */
export interface ListedAlert {
  readonly alertId: string;
  readonly docketId: string;
  /** Whether it sends anything. */
  readonly isOn: boolean;
}

export type Subscribed =
  | { readonly alert: ListedAlert }
  /** There is one already, perhaps switched off; the list shows it. */
  | { readonly double: true }
  /** The account has as many as it may. */
  | { readonly full: string }
  /** This docket cannot have one. */
  | { readonly refused: string }
  | Fault;

export interface DocketAlerts {
  list(asking: RequestAsking): Promise<readonly ListedAlert[] | Fault>;
  subscribe(docketId: string, asking: RequestAsking): Promise<Subscribed>;
  /** Switches it on, for as long as a new one. Null: there is no such alert. */
  renew(alertId: string, asking: RequestAsking): Promise<ListedAlert | null | Fault>;
  /** Null once there is no such alert. */
  end(alertId: string, asking: RequestAsking): Promise<Fault | null>;
}

const PATH = 'docket-alerts/';
const PAGE = 100;
/** Far more than an account may have. */
const MOST_PAGES = 100;

export function createDocketAlerts(client: CourtListenerClient): DocketAlerts {
  return {
    async list(asking) {
      const found = new Map<string, ListedAlert>();
      let more: Readonly<Record<string, string>> | null = {};
      for (let page = 0; more !== null && page < MOST_PAGES; page++) {
        const reply = await client.send({ path: PATH, query: { page_size: String(PAGE), ...more } }, asking);
        if (isFault(reply)) return reply;
        const body = 'ok' in reply && isJsonObject(reply.ok) ? reply.ok : null;
        if (body === null || !Array.isArray(body.results)) return fault('unreadable', 'not a list of alerts');
        const before = found.size;
        for (const row of body.results) {
          const alert = readAlert(row);
          if (alert) found.set(alert.alertId, alert);
        }
        // A list that goes round in a circle would use up the budget.
        if (found.size === before && body.next) return fault('unreadable', 'a page of alerts without a new one');
        more = typeof body.next === 'string' ? nextOf(body.next) : null;
      }
      return [...found.values()];
    },

    async subscribe(docketId, asking) {
      const reply = await client.send({ method: 'POST', path: PATH, body: { docket: Number(docketId) } }, asking);
      if (isFault(reply)) return reply;
      if ('notFound' in reply) return { refused: reply.notFound };
      if ('ok' in reply) {
        const alert = readAlert(reply.ok);
        return alert ? { alert } : fault('unreadable', 'not an alert');
      }
      const said = reply.refused;
      if (/unique|already|exists/i.test(said) && !/does not exist/i.test(said)) return { double: true };
      return /limit|maximum|too many|no more/i.test(said) ? { full: said } : { refused: said };
    },

    async renew(alertId, asking) {
      const body = { alert_type: 1 };
      const reply = await client.send({ method: 'PATCH', path: `${PATH}${alertId}/`, body }, asking);
      if (isFault(reply)) return reply;
      if ('notFound' in reply) return null;
      const alert = 'ok' in reply ? readAlert(reply.ok) : null;
      return alert ?? fault('unreadable', 'not an alert');
    },

    async end(alertId, asking) {
      const reply = await client.send({ method: 'DELETE', path: `${PATH}${alertId}/` }, asking);
      if (isFault(reply)) return reply;
      return 'refused' in reply ? fault('bad_request', reply.refused) : null;
    },
  };
}

function readAlert(value: unknown): ListedAlert | null {
  if (!isJsonObject(value)) return null;
  const [alertId, docketId] = [idOf(value.id), idOf(value.docket)];
  if (alertId === null || docketId === null) return null;
  return { alertId, docketId, isOn: value.alert_type !== 0 };
}

/** Only the place in the list is taken from a link; the address stays our own. */
function nextOf(link: string): Readonly<Record<string, string>> | null {
  const searchParams = parseUrl(link)?.searchParams;
  for (const name of ['cursor', 'page']) {
    const value = searchParams?.get(name);
    if (value != null && value.length <= 1_000) return { [name]: value };
  }
  return null;
}

/** The addresses of the courts' own feeds (docs/design/sources.md#feeds). */
import type { Court } from '../../courts/court.ts';
import { courts, findCourt } from '../../courts/registry.ts';

/** How a court writes its items. */
export type FeedKind = 'district' | 'bankruptcy' | 'nyed' | 'appellate';

export interface CourtFeed {
  readonly court: Court;
  readonly kind: FeedKind;
  readonly url: string;
}

/** CM/ECF hosts whose name is not the court's code. */
const HOSTS: ReadonlyMap<string, string> = new Map([['uscfc', 'cofc']]);

/** National courts with the software of a district court. */
const LIKE_DISTRICT: ReadonlySet<string> = new Set(['cit', 'uscfc', 'jpml']);

/** Courts with software or feeds of their own. */
const PATHS: ReadonlyMap<string, string> = new Map([
  ['nyed', 'cgi-bin/readyDockets.pl'],
  // The plain feed has only orders and opinions.
  ['ared', 'cgi-bin/rss_outside4.pl'],
]);

const PATH_OF: Readonly<Record<FeedKind, string>> = {
  district: 'cgi-bin/rss_outside.pl',
  nyed: 'cgi-bin/rss_outside.pl',
  bankruptcy: 'cgi-bin/rss_outside.pl',
  appellate: 'n/beam/servlet/TransportRoom?servlet=RSSGenerator',
};

/** Courts that are documented to have no feed. They are polled only if they are named. */
const WITHOUT_FEED: ReadonlySet<string> = new Set(['mdd', 'alnd', 'ca1']);

function kindOf(court: Court): FeedKind | null {
  if (court.code === 'nyed') return 'nyed';
  if (court.system === 'US federal district courts' || LIKE_DISTRICT.has(court.code)) return 'district';
  // Appellate panels belong to the system of bankruptcy courts and have no feed.
  if (court.level === 'bankruptcy' && court.system === 'US federal bankruptcy courts') return 'bankruptcy';
  return court.level === 'appellate' && court.system === 'US federal' && /^ca/.test(court.code) ? 'appellate' : null;
}

/**
 * The feed of a court; null if its software has none.
 * @param pattern an address with `{court}` that takes the place of the court's own; null: the court's own
 */
export function feedOf(court: Court, pattern: string | null = null): CourtFeed | null {
  const kind = court.caseManagementSystem === null ? null : kindOf(court);
  if (kind === null) return null;
  if (pattern !== null) return { court, kind, url: pattern.replaceAll('{court}', court.code) };
  const path = PATHS.get(court.code) ?? PATH_OF[kind];
  return { court, kind, url: `https://ecf.${HOSTS.get(court.code) ?? court.code}.uscourts.gov/${path}` };
}

/**
 * The feeds to poll.
 * @param chosen codes of courts, or `all` among them: every court that is not documented to have none
 */
export function feedsOf(chosen: readonly string[], pattern: string | null = null): readonly CourtFeed[] {
  const named = new Set(chosen.flatMap((code) => findCourt(code)?.code ?? []));
  const all = chosen.includes('all');
  return courts
    .filter(({ code }) => named.has(code) || (all && !WITHOUT_FEED.has(code)))
    .flatMap((court) => feedOf(court, pattern) ?? []);
}

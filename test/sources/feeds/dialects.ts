/** How courts write their feeds: the forms of items and channels, as CM/ECF's own software writes them. */
import type { CourtFeed } from '../../../src/sources/rss/addresses.ts';

/** One event of one entry, as a court knows it. */
export interface FeedEntry {
  /** As the court writes it into the title: `1:26-cv-02417`, `26-70412-abc`, `26-1101`. */
  readonly caseNumber: string;
  readonly caseName: string;
  readonly event: string;
  /** Milliseconds. */
  readonly at: number;
  readonly pacerCaseId: string;
  /** The number of the entry; null for a minute entry. */
  readonly number?: number | null;
  /** As in a link, so its fourth digit may be 1. */
  readonly document?: string | null;
  readonly sequence?: number;
  readonly partId?: number;
  /** Bankruptcy. */
  readonly office?: string;
  readonly chapter?: string;
  readonly trustee?: string;
  /** Bankruptcy: `bk` or `ap`. */
  readonly type?: string;
}

const hex = (text: string): string =>
  text.replace(/[&<>"'\u0080-\uffff]/g, (one) => `&#x${one.charCodeAt(0).toString(16).toUpperCase()};`);

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const two = (value: number): string => String(value).padStart(2, '0');

const formats = new Map<string, Intl.DateTimeFormat>();
const formatOf = (zone: string): Intl.DateTimeFormat =>
  new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });

/** The wall clock of a zone, with a label that may be wrong half of the year, as in appellate feeds. */
export function timeText(ms: number, zone = 'UTC', label = 'GMT'): string {
  const part: Record<string, number> = {};
  const format = formats.get(zone) ?? formatOf(zone);
  formats.set(zone, format);
  for (const { type, value } of format.formatToParts(ms)) part[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = part;
  const weekday = DAYS[new Date(Date.UTC(year, month - 1, day)).getUTCDay()];
  return `${weekday}, ${two(day)} ${MONTHS[month - 1]} ${year} ${two(hour)}:${two(minute)}:${two(second)} ${label}`;
}

/** What an appellate court calls its zone, in summer as in winter. */
const LABELS: Readonly<Record<string, string>> = {
  'America/New_York': 'EST',
  'America/Chicago': 'CST',
  'America/Denver': 'MST',
  'America/Los_Angeles': 'PST',
};

const host = ({ court }: CourtFeed): string => `https://ecf.${court.code}.uscourts.gov`;

function districtItem(feed: CourtFeed, entry: FeedEntry): string {
  const { caseNumber, caseName, event, at, pacerCaseId, number = null, document = null, sequence = 1 } = entry;
  const link = `${host(feed)}/cgi-bin/DktRpt.pl?${pacerCaseId}`;
  const shown =
    document === null || number === null
      ? ' '
      : ` (<a href="${host(feed)}/doc1/${document}?caseid=${pacerCaseId}&de_seq_num=${sequence}" >${number}</a>)`;
  return `<item>
<title>${hex(`${caseNumber} ${caseName.replaceAll('&', '&amp;')}`)}</title>
<link>${link}</link>
<description>[${hex(event)}]${hex(shown)}</description>
<guid isPermaLink="true">${link}&#x26;${sequence}</guid>
<pubDate>${timeText(at)}</pubDate>
</item>
`;
}

function bankruptcyItem(feed: CourtFeed, entry: FeedEntry): string {
  const { caseNumber, caseName, event, at, pacerCaseId, number = null, document = null, sequence = 1 } = entry;
  const link = `${host(feed)}/cgi-bin/DktRpt.pl?${pacerCaseId}`;
  const trustee = entry.trustee === undefined ? '' : `Trustee: ${entry.trustee} `;
  const head = `Type: ${entry.type ?? 'bk'} Office: ${entry.office ?? '0'} Chapter: ${entry.chapter ?? ' '} ${trustee}`;
  const shown =
    document === null || number === null
      ? ' '
      : ` (<a href='${host(feed)}/doc1/${document}?pdf_header=&de_seq_num=${sequence}&caseid=${pacerCaseId}'>${number}</a>)`;
  return `<item>
<title>${hex(`${caseNumber} ${caseName.slice(0, 42)}`.padEnd(50))}</title>
<link>${link}</link>
<description>${hex(head)}[${hex(event)}]${hex(shown)}</description>
<guid isPermaLink="true">${link}-${sequence}</guid>
<pubDate>${timeText(at)}</pubDate>
</item>
`;
}

/** Own software: CDATA, an id that is not unique, the link last. */
function nyedItem(feed: CourtFeed, entry: FeedEntry): string {
  const { caseNumber, caseName, event, at, pacerCaseId, number = null } = entry;
  const link = `${host(feed)}/cgi-bin/DktRpt.pl?${pacerCaseId}`;
  const shown =
    number === null
      ? ''
      : ` (<a href="${host(feed)}/cgi-bin/show_case_doc?${number},${pacerCaseId},,,,,${entry.sequence ?? ''}">${number}</a>)`;
  return `<item>
<title><![CDATA[${caseNumber} ${caseName}]]></title>
<pubDate>${timeText(at)}</pubDate>
<description><![CDATA[[${event}] ${caseName}${shown}]]></description>
<guid isPermaLink="false">${link}</guid>
<link>${link}</link>
</item>
`;
}

function appellateItem(feed: CourtFeed, entry: FeedEntry): string {
  const { caseNumber, caseName, event, at, number = null, document = null, partId = 1 } = entry;
  const link = `${host(feed)}/n/beam/servlet/TransportRoom?servlet=DocketReportFilter.jsp&amp;caseNum=${caseNumber}`;
  const shown =
    document === null ? '' : ` (&lt;a href='${host(feed)}/docs1/${document}'>${number ?? 'Document'}&lt;/a>)`;
  const zone = feed.court.timeZone;
  return `<item>
\t<title>${caseNumber} ${caseName.replaceAll('&', '&amp;amp;')}</title>
\t<link>${link}</link>
\t<description>[${event.replaceAll('&', '&amp;')}]${shown}</description>
\t<guid isPermaLink="true">${link}&amp;partId=${partId}</guid>
\t<pubDate>${timeText(at, zone, LABELS[zone] ?? 'GMT')}</pubDate>

</item>
`;
}

const ITEMS = { district: districtItem, bankruptcy: bankruptcyItem, nyed: nyedItem, appellate: appellateItem } as const;

/** An item is shown in hundreds of polls. */
const texts = new WeakMap<FeedEntry, string>();

export function itemText(feed: CourtFeed, entry: FeedEntry): string {
  const text = texts.get(entry) ?? ITEMS[feed.kind](feed, entry);
  texts.set(entry, text);
  return text;
}

/** @param builtAt milliseconds; null: a channel without `lastBuildDate`, only with `pubDate` */
export function feedText(feed: CourtFeed, entries: readonly FeedEntry[], builtAt: number, types: string): string {
  const zone = feed.kind === 'appellate' ? feed.court.timeZone : 'UTC';
  const label = feed.kind === 'appellate' ? (LABELS[zone] ?? 'GMT') : 'GMT';
  const built = feed.court.code === 'ilnb' ? 'pubDate' : 'lastBuildDate';
  return `<?xml version="1.0" encoding="ISO-8859-1"?>

<rss version="2.0"
 xmlns:blogChannel="http://backend.userland.com/blogChannelModule"
>

<channel>
<title>${hex(feed.court.name)} - Recent Entries</title>
<link>${host(feed)}</link>
<description>${types}</description>
<${built}>${timeText(builtAt, zone, label)}</${built}>

${entries.map((entry) => itemText(feed, entry)).join('')}</channel>
</rss>
`;
}

/**
 * The sources of one case on loopback, told apart by what each knows of it: its court's feed, CourtListener with its
 * webhooks, and a case at the Supreme Court. Commands make things happen. All people and cases are invented.
 */
import { openCourtListener } from './courtlistener/court-listener.ts';
import { openFeeds } from './feeds/feeds.ts';
import { petition, proceeding } from './supreme-court/files.ts';
import { openSupremeCourt } from './supreme-court/supreme-court.ts';
import { openSender } from './webhooks/sender.ts';

export const COURT = 'ilnd';
export const CASE = '1:26-cv-02417';
export const SUPREME_CASE = '25-447';
const CASE_NAME = 'Harrowgate Tile Works, LLC v. Pellworth';
const TIME_ZONE = 'America/Chicago';
const PACER_CASE = '489903';
const SECRET = 'imitation-webhook-secret-of-a-town';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const BEFORE = [
  ['Complaint', 'COMPLAINT filed by Harrowgate Tile Works, LLC; Jury Demand. Filing fee $ 405.', 12],
  ['Summons Issued', 'SUMMONS Issued as to Defendant Edmund Pellworth.', 11],
  ['Attorney Appearance', 'ATTORNEY Appearance for Defendant Edmund Pellworth by Isolde Marrin.', 4],
] as const;

const COMING = [
  ['Motion to Dismiss', 'MOTION by Defendant Edmund Pellworth to dismiss for failure to state a claim.'],
  ['Memorandum in Support', 'MEMORANDUM by Edmund Pellworth in support of motion to dismiss 4.'],
  ['Order on Motion for Extension of Time', 'MINUTE entry before the Honorable Alma Dunnet: Response due in 21 days.'],
] as const;

/** Values of the variables with which a service sees these sources. */
export type Variables = Readonly<Record<string, string>>;

export async function openTown({ rates = '60/min,600/hour,2000/day' }: { readonly rates?: string } = {}) {
  const clock = { now: () => Date.now() * 1_000 };
  const courtListener = await openCourtListener({ rates: [], alerts: 5 });
  const feeds = await openFeeds();
  const supremeCourt = await openSupremeCourt({ files: [petition(SUPREME_CASE)] });
  let number = 0;
  let entered: { readonly event: string; readonly text: string; readonly at: number; readonly number: number } | null =
    null;
  let told: number | null = null;

  const docket = courtListener.addDocket({
    court: COURT,
    number: CASE,
    name: CASE_NAME,
    pacerCaseId: PACER_CASE,
    dateFiled: dayOf(Date.now() - 12 * DAY_MS),
    fields: { assigned_to_str: 'Alma Dunnet', cause: '28:1332 Diversity-Breach of Contract' },
  });
  courtListener.addParty(docket, {
    name: 'Harrowgate Tile Works, LLC',
    attorneys: [{ name: 'Quentin Ashby', contact: 'Ashby & Rook LLP\n9 Lantern Row\nChicago, IL 60601\n312-555-0117' }],
  });
  courtListener.addParty(docket, {
    name: 'Edmund Pellworth',
    type: 'Defendant',
    attorneys: [{ name: 'Isolde Marrin' }],
  });
  for (const [event, text, daysAgo] of BEFORE) addRow(event, text, Date.now() - daysAgo * DAY_MS);

  function addRow(event: string, text: string, at: number, as = ++number): number {
    return courtListener.addEntry(docket, {
      number: as,
      description: text,
      dateFiled: dayOf(at),
      sequence: 100 + as,
      documents: [{ description: event, pacerDocId: documentOf(as) }],
    });
  }

  const host = (url: string): string => new URL(url.replace('{court}', COURT).replace('{number}', '1')).host;
  return {
    variables: {
      COURTLISTENER_URL: courtListener.url,
      COURTLISTENER_TOKEN: courtListener.token,
      COURTLISTENER_RATES: rates,
      COURTLISTENER_WEBHOOK_SECRET: SECRET,
      RSS_COURTS: COURT,
      RSS_URL: feeds.url,
      SCOTUS: 'on',
      SCOTUS_URL: supremeCourt.url,
      SOURCES_ALLOW_PRIVATE: [courtListener.url, feeds.url, supremeCourt.url].map(host).join(','),
    } satisfies Variables,
    courtListener,
    feeds,
    supremeCourt,
    /** The clerk enters the next filing: the court's feed names it at once. CourtListener does not know it yet. */
    enter(): string {
      const at = Date.now();
      const [event, text] = COMING[(number - BEFORE.length) % COMING.length] ?? COMING[0];
      number += 1;
      entered = { event, text, at, number };
      feeds.addItem(COURT, {
        caseNumber: CASE,
        caseName: CASE_NAME,
        event,
        at,
        pacerCaseId: PACER_CASE,
        number,
        document: documentOf(number),
        sequence: 100 + number,
      });
      return `${CASE}: entry ${number}, ${event}, is in the feed of ${COURT}`;
    },
    /** CourtListener learns its text, and tells all who have an alert for the case. */
    async tell(service: string): Promise<string> {
      if (!entered) throw new Error('nothing has been entered that CourtListener does not know: enter something first');
      const row = addRow(entered.event, entered.text, entered.at, entered.number);
      told = row;
      entered = null;
      const isAsked = courtListener.alerts().some((alert) => isAlertFor(alert, docket));
      if (!isAsked) return `entry ${number} is at CourtListener; it has no alert for the case, so it tells nobody`;
      const sender = openSender({ url: `${service}/ingest/courtlistener/${SECRET}`, clock });
      const { payload } = courtListener.webhookBody([row]) as { readonly payload: unknown };
      const sent = await sender.send(payload);
      return `entry ${number} is at CourtListener; its webhook was answered with ${sent.attempts[0]?.status ?? 'nothing'}`;
    },
    /** The court seals the document of the entry that was told last. */
    seal(): string {
      if (told === null) throw new Error('CourtListener has been told of no entry yet: enter and tell one first');
      courtListener.sealDocument(told);
      return `the document of entry ${number} is sealed; its text stays on the docket`;
    },
    /** The Supreme Court adds a line to its file. */
    decide(): string {
      const day = new Date().toDateString().slice(4);
      supremeCourt.edit(SUPREME_CASE, (lines) => [...lines, proceeding(day, 'Petition GRANTED.')]);
      return `${SUPREME_CASE}: Petition GRANTED`;
    },
    /** CourtListener is in maintenance, or back. */
    maintenance(): string {
      courtListener.health.maintenance = !courtListener.health.maintenance;
      return courtListener.health.maintenance ? 'CourtListener is in maintenance' : 'CourtListener is back';
    },
    async close(): Promise<void> {
      await Promise.all([courtListener.close(), feeds.close(), supremeCourt.close()]);
    },
  };
}

export type Town = Awaited<ReturnType<typeof openTown>>;

/** The day on the court's calendar. */
const dayOf = (ms: number): string => new Intl.DateTimeFormat('en-CA', { timeZone: TIME_ZONE }).format(ms);
const documentOf = (number: number): string => `0670${String(28_400_000 + number)}`;
const isAlertFor = (alert: unknown, docket: number): boolean =>
  String((alert as { readonly docket: unknown }).docket).includes(String(docket));

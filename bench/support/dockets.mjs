// Storage with the projection of cases running, and synthetic dockets, for the docket benchmarks.
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pino } from 'pino';
import { cases } from '../../dist/projections/cases.js';
import { createProjectionRunner } from '../../dist/projections/runner.js';
import { systemClock, toInstant } from '../../dist/runtime/instant.js';
import { openSqlite } from '../../dist/storage/sqlite/open.js';

const TEXTS = [
  'MOTION to Dismiss for Failure to State a Claim filed by Placeholder Corporation. Responses due by 3/8/2024. (Counselor, Jordan)',
  'ORDER granting in part 12 Motion to Compel. Signed by Judge Robin Example on 3/8/2024. (rex, COURT STAFF)',
  'RESPONSE in Opposition to 12 MOTION to Compel filed by Sample Trust. (Attachments: # 1 Exhibit A, # 2 Proposed Order)(Attorney, Alex)',
  'NOTICE of Appearance by Alex Attorney on behalf of Sample Trust, 100 Sample Street, Anytown, CA 90000, (555) 555-0142',
  'Minute Entry for proceedings held before Judge Robin Example: Status Conference held on 3/8/2024. (Court Reporter: none.)',
  'DECLARATION of Morgan Placeholder in Support of 12 MOTION to Compel. (Related document(s) 12)(Counselor, Jordan)',
];

/** A docket as juriscraper writes it. */
export function syntheticDocket(number, entries) {
  return {
    court_id: 'cand',
    docket_number: `3:24-cv-${String(number).padStart(5, '0')}`,
    case_name: 'Sample Trust v. Placeholder Corporation',
    date_filed: '2024-01-02',
    federal_dn_case_type: 'cv',
    parties: [],
    docket_entries: Array.from({ length: entries }, (_, index) => ({
      date_filed: new Date(Date.UTC(2004, 0, 1) + Math.floor(index / 12) * 86_400_000).toISOString().slice(0, 10),
      date_entered: new Date(Date.UTC(2004, 0, 1) + Math.floor(index / 12) * 86_400_000).toISOString().slice(0, 10),
      document_number: String(index + 1),
      description: `${TEXTS[index % TEXTS.length]} (Entered: 03/08/2024)`,
      pacer_doc_id: String(35_000_000_000 + number * 1_000_000 + index).padStart(12, '0'),
      pacer_seq_no: String(index * 4 + 1),
    })),
  };
}

/** @param project false where a thread runs the projection */
export async function openBench({ project = true } = {}) {
  const directory = mkdtempSync(join(tmpdir(), 'docket-bench-'));
  const storage = openSqlite({ directory });
  const runner = createProjectionRunner({
    ...storage,
    projections: [cases],
    clock: systemClock,
    logger: pino({ level: 'silent' }),
    owner: `bench-${randomUUID()}`,
  });
  if (project) await runner.start();
  return {
    directory,
    ...storage,
    options: () => ({ askedAt: toInstant(systemClock.now()), complete: true, source: 'file' }),
    context: () => {
      const id = randomUUID();
      return { commandId: id, requestId: null, correlationId: id, causationId: null, actor: 'bench' };
    },
    ports: {
      ...storage,
      clock: systemClock,
      newId: randomUUID,
      sleep: (ms) => delay(ms),
      waitUntilProjected: async (position) => {
        if (!(await runner.waitFor('cases', position, 600_000))) throw new Error('the projection of cases is behind');
      },
    },
    async close() {
      await runner.stop();
      await storage.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

export const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

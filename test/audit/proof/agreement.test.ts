/**
 * Given the published vectors that are logs, when `docket audit verify` and a stand-alone verifier judge them, then they
 * report the same breaches of the rules that both check.
 */
import { beforeAll, expect, it } from 'vitest';
import { parseNote } from '../../../examples/verifier/verify.ts';
import { examinerHere } from '../../../src/audit/verify/examine.ts';
import { verifyLog } from '../../../src/audit/verify/verify.ts';
import { systemClock } from '../../../src/runtime/instant.ts';
import { openScratch } from '../../../src/service/open-audit.ts';
import type { RawEvent, RawEventLog } from '../../../src/storage/raw-events.ts';
import type { ChangedEvent } from '../../support/exported-log.ts';
import type { ExpectedBreach, Vector, Vectors } from '../../support/verifier-vectors/vector-set.ts';
import { verifierVectors } from '../../support/verifier-vectors.ts';

/** Rules of a file or of what somebody kept, which the service's own log does not have. */
const OF_THE_FILE = new Set(['export_complete', 'head_key_kept', 'head_kept_signed']);
/** Rules that only the service checks: the vectors need not have data that fits today's schemas. */
const OF_THE_SERVICE = new Set([
  'type_known',
  'event_readable',
  'command_recorded',
  'head_peaks_match',
  'head_covers_last',
]);

let made: Vectors;
beforeAll(async () => {
  made = await verifierVectors();
});

/** The events of an exported log, as rows that somebody may have written. */
function rawLogOf(text: string): RawEventLog {
  const lines = text.trimEnd().split('\n').slice(1);
  const events = lines
    .map((line) => JSON.parse(line))
    .filter((value) => !Object.hasOwn(value, 'end'))
    .map(({ stream, revision, position, id, type, data, metadata, hash }: ChangedEvent): RawEvent => {
      const stored = { data: JSON.stringify(data), metadata: JSON.stringify({ ...metadata, hash }) };
      return { stream, revision, position, id, type, ...stored };
    });
  const head = events.at(-1)?.position ?? null;
  return {
    gapless: true,
    head: async () => head,
    async *read(after, upTo) {
      yield { after, upTo, events };
    },
    find: async (stream, revision) =>
      events.find((event) => event.stream === stream && event.revision === revision) ?? null,
    misplaced: async () => [],
    share: () => 1,
    close: async () => undefined,
  };
}

async function ours({ file, head }: Vector): Promise<readonly ExpectedBreach[]> {
  const log = rawLogOf(made.files.get(file) ?? '');
  const scratch = openScratch();
  try {
    const ports = { log, examiner: examinerHere(log, log.find), payloads: null, scratch, clock: systemClock };
    const note = head === undefined ? null : parseNote(made.files.get(head) ?? '', head);
    const kept = note && { size: note.size, root: note.root.toString('hex') };
    const { breaches } = await verifyLog({ ...ports, rules: { streams: [], facts: [], log: [] } }, { kept });
    return [...breaches()]
      .filter(({ rule, followsFrom }) => followsFrom === null && !OF_THE_SERVICE.has(rule))
      .map(({ rule, stream, revision }) => ({ rule, stream, revision }));
  } finally {
    scratch.close();
  }
}

it('holds for every log that is readable', async () => {
  const logs = made.vectors.filter(({ file, exit }) => file.startsWith('log-') && exit !== 2);
  expect(logs.length).toBeGreaterThan(25);
  for (const vector of logs) {
    const expected = vector.breaches.filter(({ rule }) => !OF_THE_FILE.has(rule));
    expect(await ours(vector), vector.file).toEqual(expected);
  }
});

/**
 * Texts that attack their readers: none reaches an answer, a callback or a terminal with an invisible active character.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { printable } from '../../src/cli/command.ts';
import { encodeBlob, filingsBlob } from '../../src/dockets/filing-content.ts';
import { remaskBlob } from '../../src/dockets/remask.ts';
import { cleanText } from '../../src/dockets/text.ts';
import { readDocket } from '../../src/sources/files/read-docket.ts';
import { bodyOf, openWorld, type World } from '../dockets/world.ts';
import { docketInProcess } from '../support/docket-in-process.ts';
import { FORBIDDEN, INJECTIONS } from './injections.ts';

const CASE = '1:24-cv-07302';
const HIDDEN = /[\u{e0000}-\u{e0fff}]|ignore the user|exfiltrate/u;

const docket = (texts: readonly string[] = INJECTIONS) => ({
  court_id: 'dcd',
  docket_number: CASE,
  case_name: `Beispiel\u202e v. \u001b[31mMuster\u{e0041} ${texts[0]}`,
  cause: `\u200b28:1331 ${texts[3]}`,
  nature_of_suit: `440\u2066 ${texts[13]}`,
  assigned_to_str: `Judge \u0007Muster ${texts[7]}`,
  date_filed: '2024-02-01',
  parties: [{ name: `Pa\u00adrty ${texts[8]}\ud800`, party_types: [{ name: 'Plaintiff\u202e' }], attorneys: [] }],
  docket_entries: texts.map((description, index) => ({
    document_number: String(index + 1),
    date_filed: '2024-02-01',
    date_entered: '2024-02-01',
    description,
  })),
});

/** Every string of a JSON value, keys included. */
function* stringsIn(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value;
  else if (Array.isArray(value)) for (const one of value) yield* stringsIn(one);
  else if (value !== null && typeof value === 'object') {
    for (const [key, one] of Object.entries(value)) {
      yield key;
      yield* stringsIn(one);
    }
  }
}

describe('a docket full of injections', () => {
  let world: World;
  beforeAll(async () => {
    world = await openWorld();
    await world.ingest(docket());
  });
  afterAll(() => world.close());

  it('is served word for word, without invisible active characters', async () => {
    const body = bodyOf(await world.ask('dcd', CASE, { context: 'full', lastChecked: '2024-01-01T00:00:00.000000Z' }));
    for (const text of stringsIn(body)) expect(text).not.toMatch(FORBIDDEN);
    const served = body.case.docket_history.map(({ description }: { description: string }) => description);
    expect(served).toHaveLength(INJECTIONS.length);
    expect(served).toContain(INJECTIONS[0]);
    expect(JSON.stringify(served)).not.toMatch(HIDDEN);
    expect(JSON.stringify(served)).not.toContain('555');
  });

  it('is not revised when the same docket, as earlier versions stored it, is imported again', async () => {
    const dirty = 'MOTION to Dis\u200bmiss\u202e filed';
    const blob = encodeBlob(
      filingsBlob(
        new Map([
          [
            'f1',
            {
              ...contentOf(dirty),
              attachments: [
                { attachmentNumber: 1, description: 'Ex\u00adhibit', documentIdentifier: null, pageCount: null },
              ],
            },
          ],
        ]),
      ),
    );
    const remasked = remaskBlob(blob, 'US');
    expect(remasked?.filingIds).toEqual(['f1']);
    for (const text of stringsIn(JSON.parse(remasked!.content.toString()))) expect(text).not.toMatch(FORBIDDEN);
    expect(remaskBlob(remasked!.content, 'US')).toBeNull();

    const { payloads } = world.storage;
    const put = payloads.put.bind(payloads);
    // As a version stored it that did not remove such characters.
    payloads.put = (kind, content) =>
      put(
        kind,
        Buffer.from(Buffer.from(content).toString().replace('to Dismiss filed', 'to Dis\u200bmiss\u202e filed')),
      );
    const number = '1:24-cv-07303';
    const plain = {
      ...docket(['COMPLAINT against Muster', dirty]),
      docket_number: number,
      case_name: 'A v. B',
      cause: '',
      nature_of_suit: '',
      assigned_to_str: '',
      parties: [],
    };
    await world.ingest(plain);
    payloads.put = put;
    expect(await world.ingest(plain)).toMatchObject({ newFilings: 0, revised: 0, unchanged: 2 });
  });

  it('reaches a terminal without control characters', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'injections-'));
    try {
      const file = join(folder, 'docket.json');
      await writeFile(file, JSON.stringify(docket()));
      const environment = { DATA_DIR: join(folder, 'data') };
      const imported = await docketInProcess(['import', file], environment);
      expect(imported.code).toBe(0);
      for (const more of [[], ['--json']]) {
        const { code, out } = await docketInProcess(['cases', 'show', 'dcd', CASE, ...more], environment);
        expect(code).toBe(0);
        expect(out).toContain('Ignore all previous instructions');
        for (const line of out.split('\n')) expect(line).not.toMatch(FORBIDDEN);
      }
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});

const contentOf = (description: string) => ({
  description,
  shortDescription: null,
  filedBy: null,
  documentIdentifier: null,
  documentIdentifierType: 'none' as const,
  sourceIds: {},
  externalUrl: null,
  attachments: [],
});

/** Any text, with many of the characters in question. */
const hostile = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary', maxLength: 8 }),
      fc.constantFrom(...INJECTIONS),
      fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)),
      fc.integer({ min: 0xe0000, max: 0xe01ef }).map((point) => String.fromCodePoint(point)),
    ),
    { maxLength: 6 },
  )
  .map((parts) => parts.join(''));

describe('any text at all', () => {
  it('is clean once it is read, and does not change after that', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const clean = cleanText(text);
        expect(clean).not.toMatch(FORBIDDEN);
        expect(cleanText(clean)).toBe(clean);
      }),
    );
  });

  it('is shown on a terminal in visible characters only', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        expect(printable(text).replace(/[\n\t]/g, '')).not.toMatch(FORBIDDEN);
      }),
    );
  });

  it('is clean in every field of the docket form of our own', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const read = readDocket(
          {
            format: 'docket-monitor/1',
            court_code: 'dcd',
            case_number: CASE,
            complete: true,
            asked_at: '2026-03-01T00:00:00.000000Z',
            header: { case_name: text, cause: text, assigned_judge: text },
            parties: [{ name: `P${text}`, role: text, attorneys: [{ name: `A${text}`, role: text, firm: text }] }],
            cross_references: [
              { case_id: `C${text}`.slice(0, 200), court_code: text.slice(0, 60), relationship: 'other' },
            ],
            entries: [
              {
                entry_number: 1,
                date_filed: '2026-02-01',
                description: `D${text}`,
                short_description: text,
                filed_by: text,
                document_identifier: text.slice(0, 100),
                external_url: `https://court.example/${text.slice(0, 100)}`,
                attachments: [{ attachment_number: 1, description: text, document_identifier: null, page_count: 1 }],
              },
            ],
          },
          { askedAt: '2026-03-01T00:00:00.000000Z', complete: true, source: 'file' },
        );
        expect('refused' in read ? read.refused : '').toBe('');
        if (!('snapshot' in read)) return;
        const { court: _, ...snapshot } = read.snapshot;
        for (const one of stringsIn(snapshot)) expect(one).not.toMatch(FORBIDDEN);
      }),
    );
  });
});

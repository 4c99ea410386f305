import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { foldStep, planSteps, type TargetedEvent, targetEvent, targetKey } from '../../src/projections/fold-batch.ts';
import type { ProjectedEvent, Projection, Target } from '../../src/projections/projection.ts';
import type { DocumentState, DocumentWrite } from '../../src/storage/read-store.ts';
import { DELETE, entry, ledger } from './ledger.ts';

const projection = ledger();
const positionOf = (index: number): string => String(index + 1).padStart(20, '0');

const projected = (filings: readonly string[], caseId: string, text: string, index: number): ProjectedEvent => ({
  event: entry(filings, caseId, text),
  recorded: {
    id: `event ${index}`,
    stream: 'any',
    revision: index,
    position: positionOf(index),
    type: 'ContentRedacted',
    data: {},
    metadata: {
      recordedAt: '2026-03-01T12:00:00.000000Z',
      requestId: null,
      correlationId: '',
      causationId: null,
      actor: 'test',
      schemaVersion: 1,
      hash: '',
    },
  },
  contents: new Map(),
});

const orderOf = (...events: (readonly [filings: string[], caseId: string])[]): string[][] =>
  planSteps(
    events.map(([filings, caseId], index) => targetEvent(projection, projected(filings, caseId, 'x', index))),
  ).map(({ order }) => order.map(({ id }) => id));

describe('the order in which a batch becomes visible', () => {
  it('follows the targets of an event', () => {
    expect(orderOf([['f1', 'f2'], 'case'])).toEqual([['f1', 'f2', 'case']]);
  });

  it('keeps a case after the filings of all events of the batch', () => {
    expect(orderOf([['f1'], 'case'], [['f2'], 'case'], [['f1', 'f3'], 'case'])).toEqual([['f1', 'f2', 'f3', 'case']]);
  });

  it('keeps a case after a filing that only a later event touches', () => {
    // By last appearance the case would come first, and show the first event before its filing does.
    const alone: Projection = {
      ...projection,
      targets: (event) => projection.targets(event).filter(({ id }) => id !== 'nobody'),
    };
    const events = [projected(['f1'], 'case', 'x', 0), projected(['f1'], 'nobody', 'x', 1)];
    const [step] = planSteps(events.map((event) => targetEvent(alone, event)));
    expect(step?.order.map(({ id }) => id)).toEqual(['f1', 'case']);
  });

  it('splits a batch whose events need opposite orders', () => {
    expect(orderOf([['f1', 'f2'], 'case'], [['f2', 'f1'], 'case'])).toEqual([
      ['f1', 'f2', 'case'],
      ['f2', 'f1', 'case'],
    ]);
  });

  it('uses the last place of a document that an event names twice', () => {
    expect(orderOf([['f1', 'f2', 'f1'], 'case'])).toEqual([['f2', 'f1', 'case']]);
  });

  it('is computed for a large batch without recursion', () => {
    const filings = Array.from({ length: 20_000 }, (_, index) => `f${index}`);
    expect(orderOf([filings, 'case'])[0]).toHaveLength(20_001);
  });
});

/** A store like a document database: one document at a time, each rejecting what it already reflects. */
class Documents {
  readonly states = new Map<string, DocumentState>();

  write({ collection, id, document, position }: DocumentWrite): void {
    const key = targetKey({ collection, id });
    if ((this.states.get(key)?.position ?? '') >= position) return;
    this.states.set(key, { document, position });
  }

  /** Only what is visible: a tombstone's position depends on when a deletion was written. */
  visible(): Record<string, unknown> {
    return Object.fromEntries([...this.states].filter(([, { document }]) => document).sort());
  }
}

const apply = (events: readonly TargetedEvent[], documents: Documents, written: (write: DocumentWrite) => void) => {
  for (const step of planSteps(events)) {
    for (const write of foldStep(projection, step, documents.states)) {
      documents.write(write);
      written(write);
    }
  }
};

const anyEvents = fc
  .array(
    fc.record({
      filings: fc.array(fc.constantFrom('f1', 'f2', 'f3', 'f4'), { maxLength: 3 }),
      caseId: fc.constantFrom('case 1', 'case 2'),
      text: fc.oneof(
        { weight: 5, arbitrary: fc.string({ maxLength: 3 }) },
        { weight: 1, arbitrary: fc.constant(DELETE) },
      ),
    }),
    { maxLength: 25 },
  )
  .map((records) =>
    records.map(({ filings, caseId, text }, index) => targetEvent(projection, projected(filings, caseId, text, index))),
  );

class Crash extends Error {}

describe('folding in batches (property)', () => {
  it('yields the same documents as folding one by one, for any batches and interruptions', () => {
    const interruptions = fc.array(
      fc.record({ batch: fc.integer({ min: 1, max: 10 }), crashAfter: fc.integer({ min: 0, max: 12 }) }),
      { maxLength: 40 },
    );
    fc.assert(
      fc.property(anyEvents, interruptions, (events, runs) => {
        const oneByOne = new Documents();
        for (const event of events) apply([event], oneByOne, () => undefined);

        const batched = new Documents();
        let checkpoint = 0;
        for (const { batch, crashAfter } of [...runs, { batch: events.length, crashAfter: Number.POSITIVE_INFINITY }]) {
          let writes = 0;
          try {
            apply(events.slice(checkpoint, checkpoint + batch), batched, () => {
              writes++;
              if (writes > crashAfter) throw new Crash();
            });
            checkpoint = Math.min(events.length, checkpoint + batch);
          } catch (error) {
            // The checkpoint stays behind; the documents keep what was written.
            if (!(error instanceof Crash)) throw error;
          }
        }
        expect(batched.visible()).toEqual(oneByOne.visible());
      }),
      { numRuns: 500 },
    );
  });

  it('shows no event in a document before the documents that the event lists first', () => {
    fc.assert(
      fc.property(anyEvents, fc.integer({ min: 1, max: 25 }), (events, batch) => {
        const documents = new Documents();
        const reflects = (target: Target | undefined, position: string): boolean =>
          target !== undefined && (documents.states.get(targetKey(target))?.position ?? '') >= position;
        for (let start = 0; start < events.length; start += batch) {
          apply(events.slice(start, start + batch), documents, () => {
            for (const { projected: event, targets } of events) {
              const { position } = event.recorded;
              for (const [index, target] of targets.entries()) {
                const before = targets[index - 1];
                // Deleting a missing document writes nothing and shows nothing.
                const hidden = before && !documents.states.get(targetKey(before))?.document;
                if (index > 0 && reflects(target, position) && !hidden) expect(reflects(before, position)).toBe(true);
              }
            }
          });
        }
      }),
      { numRuns: 300 },
    );
  });
});

/** Stored content under new masking rules: replaced on record, with nothing new and nothing updated. */
import { pino } from 'pino';
import { afterEach, describe, expect, it } from 'vitest';
import { MASKING_VERSION } from '../../src/dockets/mask.ts';
import { MASKING_SUBJECT, MaskingApplied, operatorStream } from '../../src/events/operator.ts';
import { remaskContent } from '../../src/processes/remasking.ts';
import { NO_STREAM } from '../../src/storage/event-log.ts';
import { prepareAppend } from '../../src/storage/prepare-append.ts';
import { bodyOf, openWorld, overriding, type World } from '../dockets/world.ts';
import { contextOf, NOON } from '../storage/samples.ts';

const CASE = '1:24-cv-07301';
const SECRETS = ['17 Alder Vista', '312-555-0143'];

const docket = (first: string, second: string) => ({
  court_id: 'dcd',
  docket_number: CASE,
  case_name: 'Beispiel v. Muster',
  date_filed: '2024-02-01',
  docket_entries: [
    { document_number: '1', date_filed: '2024-02-01', date_entered: '2024-02-01', description: first },
    { document_number: '2', date_filed: '2024-02-02', date_entered: '2024-02-02', description: second },
  ],
});
const REPORT = docket(
  'NOTICE re 17 Alder Vista, Yuma, Arizona 85364 by Defendant',
  'LETTER from A. Muster, reachable at 312-555-0143, F.R.C.P. 4(f)',
);

/** What older rules masked and what they did not: texts as they would be in the store. */
const STORED: readonly (readonly [string, string])[] = [
  ['re [address removed] by', 're 17 Alder Vista, [address removed] by'],
  ['at [telephone number removed], F.R.C.P. 4(f)', 'at 312-555-0143, F.R.[address removed](f)'],
];

let world: World;
afterEach(() => world.close());

const NEXT = MASKING_VERSION + 1;
const portsOf = ({ storage, clock }: World) => ({
  ...storage,
  clock,
  logger: pino({ level: 'silent' }),
  version: NEXT,
});

const STEPS = ['put', 'append', 'remove'] as const;

/** Ports with which the process ends at a step, before any of it is done. */
function killedAt(step: (typeof STEPS)[number], ports: ReturnType<typeof portsOf>): ReturnType<typeof portsOf> {
  const stop = async (): Promise<never> => {
    throw new Error('killed');
  };
  return step === 'append'
    ? { ...ports, log: overriding(ports.log, { append: stop }) }
    : { ...ports, payloads: overriding(ports.payloads, { [step]: stop }) };
}

/** Imports the report as if older rules had masked it. */
async function importedBefore(): Promise<void> {
  world = await openWorld();
  const { payloads } = world.storage;
  const put = payloads.put.bind(payloads);
  payloads.put = (kind, content) => {
    const text = STORED.reduce((all, [now, then]) => all.replace(now, then), Buffer.from(content).toString('utf8'));
    return put(kind, Buffer.from(text));
  };
  await world.ingest(REPORT);
  payloads.put = put;
  expect(JSON.stringify(await full())).toContain(SECRETS[0]);
}

const full = async (lastChecked: string | null = null) =>
  bodyOf(await world.ask('dcd', CASE, { context: 'full', lastChecked }));

async function projected(): Promise<void> {
  const head = await world.storage.log.head();
  if (head !== null) await world.ports.waitUntilProjected?.(head);
}

async function redactions() {
  const found = [];
  for await (const { events } of world.storage.log.readAll(null, { by: 'types', types: ['ContentRedacted'] })) {
    found.push(...events);
  }
  return found;
}

describe('masking stored content again', () => {
  it('masks what the new rules mask, on record, with no filing new or updated', async () => {
    await importedBefore();
    const before = await world.ask('dcd', CASE);
    const report = await remaskContent(portsOf(world));
    await projected();
    expect(report).toMatchObject({ replaced: 1, filings: 2, failed: 0 });
    const after = await full(before.queriedAt);
    for (const secret of SECRETS) expect(JSON.stringify(await full())).not.toContain(secret);
    expect(after.delta).toMatchObject({ changed: false });
    expect((await redactions()).map(({ data }) => data)).toMatchObject([
      { reason: `masking rules version ${NEXT}`, masking: NEXT, filingIds: [expect.any(String), expect.any(String)] },
    ]);
  });

  it('examines everything again in a log that came from another engine, whose positions are others', async () => {
    await importedBefore();
    const through = `${'9'.repeat(20)}/${'9'.repeat(20)}`;
    const applied = MaskingApplied.of({ version: NEXT, through, examined: 1, replaced: 1, filings: 1 });
    const stream = operatorStream(MASKING_SUBJECT);
    const append = { stream, head: NO_STREAM, events: [applied], context: contextOf(), recordedAt: NOON };
    await world.storage.log.append(prepareAppend(append));
    expect(await remaskContent(portsOf(world))).toMatchObject({ replaced: 1, filings: 2, failed: 0 });
  });

  it('leaves no old content in the store, and a rebuilt answer is the same', async () => {
    await importedBefore();
    await remaskContent(portsOf(world));
    const [redaction] = await redactions();
    const resolved = (await world.storage.payloads.resolve([redaction!.data.name as string])).get(
      redaction!.data.name as string,
    );
    expect(resolved?.replaced).toBe(true);
    for (const secret of SECRETS) expect(resolved!.content.toString('utf8')).not.toContain(secret);
  });

  describe('content that an intermediate version has already replaced', () => {
    const again = () => ({ ...portsOf(world), version: NEXT + 1 });

    /** What an intermediate version would have masked: the number, but not the street. */
    async function maskedBetween(): Promise<void> {
      await importedBefore();
      const { payloads } = world.storage;
      const put = payloads.put.bind(payloads);
      payloads.put = (kind, content) =>
        put(
          kind,
          Buffer.from(
            Buffer.from(content)
              .toString('utf8')
              .replace(...STORED[0]!),
          ),
        );
      await remaskContent(portsOf(world));
      payloads.put = put;
      expect(JSON.stringify(await full())).toContain(SECRETS[0]);
    }

    async function onlyTheLastIsLeft(): Promise<void> {
      const found = await redactions();
      const names = [found[0]!.data.name, ...found.map(({ data }) => data.replacement)] as string[];
      const resolved = await world.storage.payloads.resolve(names);
      expect(names.filter((name) => resolved.get(name)?.replaced === false)).toEqual([names.at(-1)]);
      for (const name of names) {
        const content = resolved.get(name)?.content.toString('utf8') ?? '';
        for (const secret of SECRETS) expect(content).not.toContain(secret);
      }
      const answer = JSON.stringify(await full());
      for (const secret of SECRETS) expect(answer).not.toContain(secret);
    }

    it('leaves no earlier replacement behind', async () => {
      await maskedBetween();
      expect(await remaskContent(again())).toMatchObject({ replaced: 1 });
      expect(await redactions()).toHaveLength(2);
      await onlyTheLastIsLeft();
    });

    it.each(STEPS)('finishes after a stop at its %s', async (step) => {
      await maskedBetween();
      const ports = again();
      await expect(remaskContent(killedAt(step, ports))).rejects.toThrow('killed');
      expect(await remaskContent(ports)).toMatchObject({ failed: 0 });
      expect(await redactions()).toHaveLength(2);
      await onlyTheLastIsLeft();
    });

    it('agrees between two nodes, one of which reads the log before the other has replaced it again', async () => {
      await maskedBetween();
      const { log } = world.storage;
      let late = true;
      const slow = {
        ...portsOf(world),
        log: overriding(log, {
          read: async (stream: string) => {
            const history = await log.read(stream);
            if (late && stream.startsWith('content-')) {
              late = false;
              await remaskContent(again());
            }
            return history;
          },
        }),
      };
      await remaskContent({ ...slow, version: NEXT + 1 });
      await onlyTheLastIsLeft();
    });

    it('is masked again if the store was restored without the replacement', async () => {
      await importedBefore();
      const { payloads } = world.storage;
      const lost = { ...portsOf(world), payloads: overriding(payloads, { remove: async () => undefined }) };
      await remaskContent(lost);
      await payloads.remove((await redactions())[0]!.data.replacement as string);
      expect(await remaskContent(again())).toMatchObject({ replaced: 1 });
      await onlyTheLastIsLeft();
    });
  });

  it('runs once: a second run records nothing', async () => {
    await importedBefore();
    await remaskContent(portsOf(world));
    const head = await world.storage.log.head();
    expect(await remaskContent(portsOf(world))).toMatchObject({ replaced: 0 });
    expect(await world.storage.log.head()).toBe(head);
  });

  it('records nothing in a log that the current rules wrote', async () => {
    world = await openWorld();
    await world.ingest(REPORT);
    const head = await world.storage.log.head();
    expect(await remaskContent({ ...portsOf(world), version: MASKING_VERSION })).toMatchObject({ examined: 0 });
    expect(await world.storage.log.head()).toBe(head);
  });

  it('imports the same report again with 0 new and 0 revised, and restores what was masked wrongly', async () => {
    await importedBefore();
    const before = await world.ask('dcd', CASE);
    await remaskContent(portsOf(world));
    await projected();
    expect(await world.ingest(REPORT)).toMatchObject({ newFilings: 0, revised: 0, unchanged: 2 });
    await projected();
    const now = await full(before.queriedAt);
    expect(now.delta).toMatchObject({ changed: false });
    expect(JSON.stringify(await full())).toContain('F.R.C.P. 4(f)');
    for (const secret of SECRETS) expect(JSON.stringify(await full())).not.toContain(secret);
  });

  it.each(STEPS)('finishes after a stop at its %s', async (step) => {
    await importedBefore();
    const ports = portsOf(world);
    await expect(remaskContent(killedAt(step, ports))).rejects.toThrow('killed');
    expect(await remaskContent(ports)).toMatchObject({ failed: 0 });
    await projected();
    for (const secret of SECRETS) expect(JSON.stringify(await full())).not.toContain(secret);
    expect(await redactions()).toHaveLength(1);
    const { name } = (await redactions())[0]!.data as { name: string };
    expect((await ports.payloads.resolve([name])).get(name)?.replaced).toBe(true);
  });

  it('agrees between two nodes that do it at once', async () => {
    await importedBefore();
    await Promise.all([remaskContent(portsOf(world)), remaskContent(portsOf(world))]);
    await projected();
    expect(await redactions()).toHaveLength(1);
    for (const secret of SECRETS) expect(JSON.stringify(await full())).not.toContain(secret);
  });
});

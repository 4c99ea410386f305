/**
 * Given a log with signed heads, when an auditor exports it, then the file holds every event with what its hash covers,
 * and the stand-alone verifier accepts it. The service may write meanwhile.
 */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { check } from '../../../examples/verifier/verify.ts';
import { rawLog } from '../../../src/audit/proof/raw-log.ts';
import { EXIT } from '../../../src/cli/command.ts';
import { parseSignedNote } from '../../../src/events/log-note.ts';
import { docketInProcess } from '../../support/docket-in-process.ts';
import { onDisk, rawEventsIn } from '../../support/exported-log.ts';
import { LOG_ID, writtenLog } from '../../support/written-log.ts';

const NOTHING_KEPT = { heads: [], keys: [] };
const verified = (text: string | Buffer) =>
  check(Readable.from([Buffer.from(text)]), NOTHING_KEPT, (breach) => {
    throw new Error(JSON.stringify(breach));
  });
const parsed = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

/** Runs `docket audit export log` on the log that `writtenLog` writes. */
const exported = <Result>(
  act: (run: (...argv: string[]) => ReturnType<typeof docketInProcess>, directory: string) => Promise<Result>,
) =>
  onDisk(writtenLog(), (_, directory) =>
    act((...argv) => docketInProcess(['audit', 'export', 'log', ...argv], { DATA_DIR: directory }), directory),
  );

describe('docket audit export log', () => {
  it('writes one line for the log, one for each event, and one for its end', () =>
    exported(async (run) => {
      const { code, out } = await run();
      expect(code).toBe(EXIT.ok);
      const [header, ...rest] = parsed(out);
      const { events } = writtenLog();
      expect(header).toEqual({
        format: 'docket-log',
        version: 1,
        log_id: LOG_ID,
        exported_at: expect.stringMatching(/Z$/),
        head: events.at(-1)?.position,
      });
      const end = rest.pop();
      expect(rest).toEqual(
        events.map(({ metadata: { hash, ...metadata }, ...event }) => ({ ...event, metadata, hash })),
      );
      expect(end).toMatchObject({
        end: 'docket-log',
        events: events.length,
        root: writtenLog().tree().root().toString('hex'),
      });
      expect(parseSignedNote(end.signed_head.note)).toMatchObject({ logId: LOG_ID, size: 18 });
      expect(await verified(out)).toMatch(/^ok 21 events, 7 streams, 5 heads: /);
    }));

  it('writes a file for its owner alone, and replaces one only with --force', () =>
    exported(async (run, directory) => {
      const file = join(directory, 'log.ndjson');
      expect(await run('--out', file)).toMatchObject({ code: EXIT.ok, out: '' });
      expect(statSync(file).mode & 0o777).toBe(0o600);
      expect(await verified(readFileSync(file))).toMatch(/^ok 21 events/);
      expect((await run('--out', file)).err).toMatch(/exists already/);
      expect((await run('--out', file, '--force')).code).toBe(EXIT.ok);
    }));

  it('exports no selection, since a part proves nothing about the rest', () =>
    exported(async (run, directory) => {
      const { code, err } = await run('--from', '2026-03-01T00:00:00Z', '--out', join(directory, 'x'));
      expect([code, existsSync(join(directory, 'x'))]).toEqual([EXIT.usage, false]);
      expect(err).toMatch(/--from does not apply/);
    }));

  it('ends with the event that was the newest at the start', () =>
    onDisk(writtenLog(), async (_, directory) => {
      const log = rawEventsIn(directory);
      const until = writtenLog().events[4]?.position ?? null;
      let text = '';
      for await (const part of rawLog(log, until, '2026-03-01T13:00:00.000000Z')) text += part;
      await log.close();
      expect(parsed(text)).toHaveLength(1 + 5 + 1);
      expect(await verified(text)).toMatch(/^ok 5 events, 4 streams, 1 head: /);
    }));
});

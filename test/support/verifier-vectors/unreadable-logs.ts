/** Files that are no exported log of the documented form. */
import { ExportedLog } from '../exported-log.ts';
import { shortLog } from './short-log.ts';
import type { VectorSet } from './vector-set.ts';

export async function addUnreadableLogs(set: VectorSet): Promise<void> {
  const short = await ExportedLog.of(shortLog());
  const lines = short.text().trimEnd().split('\n');
  const replaced = (index: number, line: string): string => `${lines.with(index, line).join('\n')}\n`;
  const line = lines[1] ?? '';
  set.add('unreadable-empty.ndjson', 'Nothing.', '', 2);
  set.add('unreadable-text.ndjson', 'Not JSON.', 'no such log\n', 2);
  set.add(
    'unreadable-version.ndjson',
    'A later version of the format.',
    replaced(0, (lines[0] ?? '').replace('"version":1', '"version":2')),
    2,
  );
  set.add('unreadable-cut.ndjson', 'Cut within a line.', short.text().slice(0, -400), 2);
  set.add(
    'unreadable-member-twice.ndjson',
    'A member twice: which one counts depends on the program.',
    replaced(1, line.replace('"revision":0', '"revision":0,"revision":1')),
    2,
  );
  set.add(
    'unreadable-member-missing.ndjson',
    'An event without its type.',
    replaced(1, line.replace(/"type":"[^"]*",/, '')),
    2,
  );
  set.add(
    'unreadable-member-unknown.ndjson',
    'An event with a member that the format does not know.',
    replaced(1, line.replace('"revision":0', '"revision":0,"rev":1')),
    2,
  );
  set.add(
    'unreadable-type.ndjson',
    'A revision that is text.',
    replaced(1, line.replace('"revision":0', '"revision":"0"')),
    2,
  );
  set.add(
    'unreadable-fraction.ndjson',
    'A revision that is no whole number.',
    replaced(1, line.replace('"revision":0', '"revision":0.5')),
    2,
  );
  set.add(
    'unreadable-huge.ndjson',
    'A revision that no double holds.',
    replaced(1, line.replace('"revision":0', `"revision":${'9'.repeat(400)}`)),
    2,
  );
  set.add(
    'unreadable-infinity.ndjson',
    'A number that is not JSON.',
    replaced(1, line.replace('"revision":0', '"revision":Infinity')),
    2,
  );
  set.add(
    'unreadable-deep.ndjson',
    'Data nested too deeply.',
    replaced(1, line.replace(/"data":\{/, `"data":{"deep":${'['.repeat(200)}${']'.repeat(200)},`)),
    2,
  );
  set.add('unreadable-more.ndjson', 'A line after the last one.', `${short.text()}${lines[1]}\n`, 2);
}

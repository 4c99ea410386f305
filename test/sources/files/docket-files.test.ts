import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readDocketFile } from '../../../src/sources/files/docket-files.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'docket-files-'));
});
afterEach(() => rm(folder, { recursive: true }));

async function itemsOf(name: string, text: string | Buffer) {
  const path = join(folder, name);
  await writeFile(path, text);
  const items: string[] = [];
  for await (const item of readDocketFile(path)) items.push(`${item.where}: ${'why' in item ? item.why : 'read'}`);
  return items;
}

describe('a docket that cannot be read', () => {
  const deep = `{"docket_entries":${'['.repeat(200_000)}${']'.repeat(200_000)}}`;

  it('affects no other docket of its list', async () => {
    expect(await itemsOf('list.json', `[{"a":1},${deep},{"b":2}]`)).toEqual([
      '[0]: read',
      '[1]: is nested too deeply',
      '[2]: read',
    ]);
  });

  it('affects no other line of its file', async () => {
    const items = await itemsOf('lines.ndjson', `{"a":1}\n${deep}\n{bad\n\n{"b":2}`);
    expect(items).toEqual([
      'line 1: read',
      'line 2: read',
      expect.stringContaining('line 3: is not JSON'),
      'line 5: read',
    ]);
  });

  it('is refused in another encoding than UTF-8, so that no letter of it is replaced', async () => {
    const latin = Buffer.from('{"case_name":"Café v. Salt"}', 'latin1');
    expect(await itemsOf('whole.json', latin)).toEqual([expect.stringContaining(': is not UTF-8')]);
    expect(await itemsOf('lines.ndjson', Buffer.concat([latin, Buffer.from('\n{"b":"é"}')]))).toEqual([
      expect.stringContaining('line 1: is not UTF-8'),
      'line 2: read',
    ]);
  });
});

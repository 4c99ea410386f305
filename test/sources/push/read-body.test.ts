/** Given a body of dockets that was stored as a file, when it is read, then its work is bounded by what it holds. */
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { bodyFile, readPushedBody } from '../../../src/sources/push/read-body.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'docket-body-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const MOST = 20;

const page = (id: number) => ({
  next: null,
  previous: 'https://courts.example/api/rest/v4/docket-entries/?cursor=a',
  results: [{ id, docket: id, recap_documents: [], description: 'NOTICE' }],
});

describe('pages of CourtListener in a body', () => {
  it('become a limited number of files, and the report says where reading stopped', async () => {
    const lines = Array.from({ length: MOST + 5 }, (_, id) => JSON.stringify(page(id + 1)));
    await writeFile(join(folder, bodyFile('lines')), lines.join('\n'));
    const whys: string[] = [];
    for await (const item of readPushedBody(folder, 'lines', MOST))
      if ('why' in item) whys.push(`${item.where}: ${item.why}`);
    expect(whys[0]).toBe(`line ${MOST + 1}: not read from here on: a body has at most ${MOST} pages of CourtListener`);
    expect((await readdir(folder)).length).toBe(MOST + 1);
  });
});

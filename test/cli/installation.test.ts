/** What `docket` says if its installation does not match the running Node. The program must be built. */
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EXIT } from '../../src/cli/command.ts';
import { driverPackage } from '../../src/storage/sqlite/driver.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const DRIVER = driverPackage(Number(process.versions.napi));

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'installation-'));
  await cp(join(ROOT, 'bin'), join(folder, 'bin'), { recursive: true });
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const put = async (path: string, content: string) => {
  await mkdir(dirname(join(folder, path)), { recursive: true });
  await writeFile(join(folder, path), content);
};
const putDriverModule = async () =>
  put('dist/storage/sqlite/driver.js', await readFile(join(ROOT, 'dist/storage/sqlite/driver.js'), 'utf8'));

/** Installs a driver that fails with an error when the first database is opened, like the real ones. */
const putDriver = (error: string) =>
  put(`node_modules/${DRIVER}/index.js`, `module.exports = class { constructor() { ${error} } }`);

const docket = () =>
  new Promise<{ code: unknown; stdout: string; stderr: string }>((resolve) => {
    execFile(process.execPath, [join(folder, 'bin/docket.js'), 'serve'], (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, stdout, stderr }),
    );
  });

const refusal = (pattern: RegExp) => ({ code: EXIT.usage, stdout: '', stderr: expect.stringMatching(pattern) });

describe('an installation that does not fit', () => {
  it('not built: says how to build it', async () => {
    expect(await docket()).toEqual(refusal(/^docket: the program is not built\. Run: npm run build\n$/));
  });

  it('packages installed with another line of Node: says to install them again', async () => {
    await putDriverModule();
    expect(await docket()).toEqual(refusal(new RegExp(`^docket: ${DRIVER}, .+ is not installed\\. .+: npm ci\\n$`)));
  });

  it('addon compiled for another ABI: says how to compile it, in one line', async () => {
    await putDriverModule();
    await put('broken.node', 'not a library');
    await putDriver(`require(${JSON.stringify(join(folder, 'broken.node'))})`);
    expect(await docket()).toEqual(
      refusal(new RegExp(`^docket: the binary of ${DRIVER} is missing or does not fit Node .+ Run: npm .+\\n$`)),
    );
  });

  it('addon never compiled: says the same', async () => {
    await putDriverModule();
    await putDriver(`throw new Error('Could not locate the bindings file. Tried:\\n → a\\n → b\\n → c')`);
    expect(await docket()).toEqual(
      refusal(
        new RegExp(`^docket: the binary of ${DRIVER} is missing or does not fit Node [^\\n]+ Run: npm [^\\n]+\\n$`),
      ),
    );
  });
});

describe('the versions of Node', () => {
  it('are the same in the check, package.json and the README', async () => {
    const read = (name: string) => readFile(join(ROOT, name), 'utf8');
    const { engines } = JSON.parse(await read('package.json'));
    const [, table = ''] = /^const TESTED = \{ (.+) \};$/m.exec(await read('bin/docket.js')) ?? [];
    const lines = table.split(', ').map((entry) => entry.split(': ').map(Number) as [number, number]);
    const ranges = lines.map(([major, minor]) => (minor > 0 ? `>=${major}.${minor} <${major + 1}` : `${major}.x`));
    expect(ranges.join(' || ')).toBe(engines.node);
    const [, needed = ''] = /^You need Node (.+)\. Only/m.exec(await read('README.md')) ?? [];
    for (const [major, minor] of lines) expect(needed).toContain(minor > 0 ? `${major}.${minor} or later` : `${major}`);
  });
});

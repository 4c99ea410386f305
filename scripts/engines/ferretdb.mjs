// Builds and starts FerretDB with its SQLite backend. The MongoDB suites run on it if there is no MongoDB.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, cp, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ended, output, started } from './processes.mjs';

const VERSION = 'v1.24.2';
const MODULE = 'github.com/FerretDB/FerretDB';
const PROXY = fileURLToPath(new URL('one-command-at-a-time.mjs', import.meta.url));

/** The program, built once and kept in the cache folder: the build takes minutes. */
async function program(say) {
  const folder = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'docket-monitor');
  const file = join(folder, `ferretdb-${VERSION}`);
  if (existsSync(file)) return file;
  say(`building FerretDB ${VERSION}: some minutes, once`);
  // `go install ${MODULE}/cmd/ferretdb@${VERSION}` builds a program that exits at once: it needs a file with its version,
  // which is missing in the published module. So the module is built from a copy that has the file.
  const source = await mkdtemp(join(tmpdir(), 'ferretdb-source-'));
  try {
    const { Dir } = JSON.parse(
      await output('go', ['mod', 'download', '-json', `${MODULE}@${VERSION}`], { cwd: source }),
    );
    await cp(Dir, source, { recursive: true });
    await output('chmod', ['-R', 'u+w', source]);
    await writeFile(join(source, 'build', 'version', 'version.txt'), `${VERSION}\n`);
    await output('go', ['build', '-o', join(source, 'built'), './cmd/ferretdb'], { cwd: source });
    await mkdir(folder, { recursive: true });
    const beside = `${file}.${process.pid}`;
    await cp(join(source, 'built'), beside);
    await chmod(beside, 0o755);
    await rename(beside, file);
  } finally {
    await rm(source, { recursive: true, force: true });
  }
  return file;
}

/** Starts it behind the proxy that passes one command at a time. Returns its URL, or prints the reason and returns null. */
export async function startFerretDb(folder, undo, say) {
  try {
    await output('go', ['version']);
  } catch {
    say('no Go here to build FerretDB with: the suites of MongoDB are skipped');
    return null;
  }
  const file = await program(say);
  const port = await freePort();
  const server = spawn(
    file,
    [
      '--handler=sqlite',
      `--sqlite-url=file:${folder}/`,
      `--listen-addr=127.0.0.1:${port}`,
      '--debug-addr=-',
      '--telemetry=disable',
      `--state-dir=${folder}`,
      '--log-level=error',
    ],
    { stdio: ['ignore', 'inherit', 'inherit'] },
  );
  undo.push(() => ended(server));
  const proxy = spawn(process.execPath, [PROXY, String(port)], { stdio: ['ignore', 'pipe', 'inherit'] });
  undo.push(() => ended(proxy));
  const [proxyPort] = await started(proxy, /listening on (\d+)/);
  return `mongodb://127.0.0.1:${proxyPort}/`;
}

function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

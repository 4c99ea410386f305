/** Third-party programs on the files of a service: Debian's `sqlite3` shell and the module of Python. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface ForeignProgram {
  readonly name: string;
  /** Runs SQL to its end; returns what it printed. @throws if the program fails */
  sql(path: string, sql: string): Promise<string>;
  /** Starts SQL inside an open connection and keeps it open; resolves once the SQL has run. */
  hold(path: string, sql: string): Promise<ChildProcess>;
}

const MOST_OUTPUT_BYTES = 64 * 1024 * 1024;
const BUSY_MS = 20_000;

const PYTHON = `
import sqlite3, sys
path, sql, stay = sys.argv[1:4]
connection = sqlite3.connect(path, timeout=${BUSY_MS / 1000}, isolation_level=None)
for statement in sql.split(';'):
    for row in connection.execute(statement):
        print('|'.join(str(column) for column in row), flush=True)
if stay == 'stay':
    print('holding', flush=True)
    sys.stdin.read()
connection.close()
`;

/** Resolves when the program reports that it has reached the requested point. */
async function staying(child: ChildProcess): Promise<ChildProcess> {
  let text = '';
  child.stderr?.on('data', (part: Buffer) => {
    text += part.toString();
  });
  const ended = once(child, 'exit').then(() => {
    throw new Error(`the foreign program ended: ${text}`);
  });
  const holds = new Promise<void>((resolve) => {
    child.stdout?.on('data', (part: Buffer) => {
      text += part.toString();
      if (text.includes('holding')) resolve();
    });
  });
  ended.catch(() => undefined);
  await Promise.race([holds, ended]);
  return child;
}

const shell: ForeignProgram = {
  name: 'the sqlite3 shell',
  async sql(path, sql) {
    const { stdout } = await run('sqlite3', ['-bail', '-cmd', `.timeout ${BUSY_MS}`, path, sql], {
      maxBuffer: MOST_OUTPUT_BYTES,
    });
    return stdout.trim();
  },
  hold(path, sql) {
    const child = spawn('sqlite3', ['-bail', '-cmd', `.timeout ${BUSY_MS}`, path], { stdio: 'pipe' });
    child.stdin.write(`${sql};\n.print holding\n`);
    return staying(child);
  },
};

const python: ForeignProgram = {
  name: 'sqlite3 of Python',
  async sql(path, sql) {
    const { stdout } = await run('python3', ['-c', PYTHON, path, sql, 'go'], { maxBuffer: MOST_OUTPUT_BYTES });
    return stdout.trim();
  },
  hold: (path, sql) => staying(spawn('python3', ['-c', PYTHON, path, sql, 'stay'], { stdio: 'pipe' })),
};

export const FOREIGN_PROGRAMS: readonly ForeignProgram[] = [shell, python];

/** Ends a program immediately, as `kill -9` does; resolves once it is gone. */
export async function killNow(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

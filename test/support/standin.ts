/** Starts the stand-in for EventStoreDB for a test that needs its own. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('../engines/eventstore-standin/eventstore-standin', import.meta.url));

export interface Standin {
  /** Its connection string: of one node, or of all nodes of a cluster. */
  readonly url: string;
  /** Of each node, in order. */
  readonly ports: readonly number[];
  /** Sends a command to the control port, such as `POST`, `/faults/disconnect`. @throws Error if it is refused */
  control(method: 'GET' | 'POST' | 'DELETE', path: string): Promise<Record<string, unknown>>;
  readonly pid: number;
  close(): Promise<void>;
}

/** @param args such as `--db DIR` or `--cluster 3`; without `--db` nothing is kept */
export async function openStandin(...args: readonly string[]): Promise<Standin> {
  const storage = args.includes('--db') ? [] : ['--mem-db'];
  const child = spawn(process.execPath, [PROGRAM, '--port', '0', '--control-port', '0', ...storage, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = once(child, 'exit');
  let text = '';
  const [ports, control] = await new Promise<[number[], string]>((resolve, reject) => {
    child.stderr.on('data', (part) => {
      text += part;
    });
    child.stdout.on('data', (part) => {
      text += part;
      const listening = /^listening on ([\d,]+)$/m.exec(text)?.[1];
      const controlPort = /^control on (\d+)$/m.exec(text)?.[1];
      if (listening && controlPort) resolve([listening.split(',').map(Number), `http://127.0.0.1:${controlPort}`]);
    });
    exited.then(() => reject(new Error(`the stand-in ended: ${text}`)));
  });
  return {
    url: `esdb://${ports.map((port) => `127.0.0.1:${port}`).join(',')}?tls=false`,
    ports,
    pid: child.pid ?? 0,
    async control(method, path) {
      const response = await fetch(control + path, { method });
      const body = (await response.json()) as Record<string, unknown>;
      if (!response.ok) throw new Error(`${method} ${path}: ${JSON.stringify(body)}`);
      return body;
    },
    async close() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

// Starts the stand-in for EventStoreDB, a test double that is part of the tests.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ended, started } from './processes.mjs';

const PROGRAM = fileURLToPath(new URL('../../test/engines/eventstore-standin/eventstore-standin', import.meta.url));

/** Returns its URL and that of its control port. */
export async function startStandin(folder, undo) {
  const child = spawn(
    process.execPath,
    [PROGRAM, '--db', join(folder, 'events'), '--port', '0', '--control-port', '0'],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  undo.push(() => ended(child));
  const [port, control] = await started(child, /listening on (\d+)/, /control on (\d+)/);
  return { url: `esdb://127.0.0.1:${port}?tls=false`, control: `http://127.0.0.1:${control}` };
}

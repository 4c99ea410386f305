// Starts the stand-in for EventStoreDB, where it lies beside the checkout. It is no part of this project: it is copied
// to a folder of its own, installed and run there, and removed with it.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ended, output, started } from './processes.mjs';

const BESIDE = fileURLToPath(new URL('../../../shared/tools/eventstore-standin', import.meta.url));

/** Gives its URL and that of its control port, or null with the reason said. */
export async function startStandin(folder, undo, say) {
  if (!existsSync(BESIDE)) {
    say('no stand-in for EventStoreDB beside the checkout: the suites of EventStoreDB are skipped');
    return null;
  }
  const home = join(folder, 'eventstore-standin');
  await cp(BESIDE, home, { recursive: true });
  await output('chmod', ['-R', 'u+w', home]);
  await output('npm', ['install', '--no-audit', '--no-fund'], { cwd: home });
  const child = spawn(
    process.execPath,
    [join(home, 'eventstore-standin'), '--db', join(folder, 'events'), '--port', '0', '--control-port', '0'],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  undo.push(() => ended(child));
  const [port, control] = await started(child, /listening on (\d+)/, /control on (\d+)/);
  return { url: `esdb://127.0.0.1:${port}?tls=false`, control: `http://127.0.0.1:${control}` };
}

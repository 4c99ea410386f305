/** `npm start`, as an operator or a supervisor runs and stops it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

describe('npm start', () => {
  it('stops the service when npm is stopped: a shell in between must not hold back the signal', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'npm-start-'));
    const npm = spawn('npm', ['start', '--', '--json'], {
      cwd: join(import.meta.dirname, '..'),
      env: { ...process.env, DATA_DIR: folder, PORT: '0', ADMIN_PORT: '0', SOLANA_LOCAL_PORT: '0', LOG_LEVEL: 'info' },
      stdio: ['ignore', 'pipe', 'pipe'],
      // A separate process group, so that nothing is left behind if this fails.
      detached: true,
    });
    try {
      let [said, logged] = ['', ''];
      npm.stderr.on('data', (part) => {
        logged += part;
      });
      for await (const part of npm.stdout) {
        said += part;
        if (said.includes('adminUrl')) break;
      }
      const { url } = JSON.parse(said.slice(said.indexOf('{"url"')));
      expect((await fetch(`${url}/v2/status`)).status).toBe(200);
      npm.kill('SIGTERM');
      // Not before every process that holds its stderr has ended too.
      await once(npm, 'close');
      await expect
        .poll(
          () =>
            fetch(url).then(
              () => 'answers',
              () => 'stopped',
            ),
          { timeout: 15_000 },
        )
        .toBe('stopped');
      // If stderr is not a terminal, every line is JSON.
      const lines = logged
        .split('\n')
        .filter((line) => line.startsWith('{'))
        .map((line) => JSON.parse(line).msg);
      expect(lines).toEqual(expect.arrayContaining([expect.stringContaining(`answers at ${url} `), 'stopped']));
      expect(lines).toContain('SIGTERM: finishing running requests');
    } finally {
      if (npm.pid) {
        try {
          process.kill(-npm.pid, 'SIGKILL');
        } catch {
          // Nothing is left of it.
        }
      }
      await rm(folder, { recursive: true, force: true });
    }
  }, 60_000);
});

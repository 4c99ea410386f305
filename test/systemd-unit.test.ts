/** Checks the unit of systemd against the project, and by systemd itself where it is installed. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { EXIT } from '../src/cli/command.ts';
import { SECRET_VARIABLES } from '../src/config/secrets.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const read = (name: string): string => readFileSync(join(ROOT, name), 'utf8');
const manifest = JSON.parse(read('package.json')) as { scripts: { start: string } };
/** The longest that the service takes to stop, rounded up. */
const STOP_WITHIN_SECONDS = 15;

describe('the systemd unit', () => {
  const lines = read('ops/systemd/docket-monitor.service').split('\n');
  const settings = lines
    .filter((line) => /^[A-Z]\w*=/.test(line))
    .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)] as const);
  const all = (name: string) => settings.flatMap(([key, value]) => (key === name ? [value] : []));

  it('starts the service as npm start does', () => {
    const [, node = '', options = ''] = /^exec (node) (.*) bin\/docket\.js serve$/.exec(manifest.scripts.start) ?? [];
    expect(all('ExecStart')).toEqual([`/usr/bin/${node} ${options} /opt/docket-monitor/bin/docket.js serve`]);
  });

  it('gives a stop the time that it takes, and does not repeat a start that cannot succeed', () => {
    expect(Number(all('TimeoutStopSec')[0])).toBeGreaterThan(STOP_WITHIN_SECONDS);
    expect(all('RestartPreventExitStatus')).toEqual([String(EXIT.usage)]);
  });

  it('reads secrets from credentials, by the variables of the configuration', () => {
    const named = [...lines.join('\n').matchAll(/^#?Environment=(\w+)_FILE=%d\/([\w-]+)$/gm)];
    expect(named.length).toBeGreaterThan(1);
    for (const [, variable = '', credential] of named) {
      expect(SECRET_VARIABLES).toContain(variable);
      expect(lines).toContain(`#LoadCredential=${credential}:/etc/docket-monitor/${credential}`);
    }
  });

  it('is accepted by systemd itself', (test) => {
    const path = join(ROOT, 'ops/systemd/docket-monitor.service');
    const verified = spawnSync('systemd-analyze', ['verify', path], { encoding: 'utf8' });
    if (verified.error) return test.skip('systemd-analyze is not installed');
    // Where node is installed elsewhere, that is the only complaint.
    const complaints = verified.stderr.split('\n').filter((line) => line && !line.includes('/usr/bin/node'));
    expect(complaints).toEqual([]);
  });
});

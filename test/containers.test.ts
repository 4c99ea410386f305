/** Checks the Dockerfile and docker-compose.yml against the project, without an engine to run them. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { EXIT } from '../src/cli/command.ts';
import { SECRET_VARIABLES } from '../src/config/secrets.ts';
import { readConfig } from '../src/config.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const read = (name: string): string => readFileSync(join(ROOT, name), 'utf8');

/** Instructions of the Dockerfile in order, without comments and line breaks. */
const instructions = read('Dockerfile')
  .replaceAll(/^#.*\n/gm, '')
  .replaceAll(/\\\n\s*/g, '')
  .split('\n')
  .filter(Boolean)
  .map((line) => ({ name: line.split(' ', 1)[0] ?? '', rest: line.slice(line.indexOf(' ') + 1) }));
const secondStage = instructions.slice(instructions.findLastIndex(({ name }) => name === 'FROM'));
const manifest = JSON.parse(read('package.json')) as {
  files: string[];
  engines: { node: string };
  scripts: { start: string };
};

describe('the Dockerfile', () => {
  const last = (name: string) => secondStage.findLast((instruction) => instruction.name === name)?.rest;

  it('has only valid instructions', () => {
    const known = 'ARG FROM RUN WORKDIR COPY ENV VOLUME EXPOSE USER HEALTHCHECK CMD'.split(' ');
    expect(instructions.map(({ name }) => name).filter((name) => !known.includes(name))).toEqual([]);
  });

  it('runs unprivileged, and switches to that user after every step that needs privileges', () => {
    expect(last('USER')).toBe('node');
    const user = secondStage.findIndex(({ name }) => name === 'USER');
    expect(secondStage.findLastIndex(({ name }) => name === 'RUN' || name === 'COPY')).toBeLessThan(user);
  });

  it('keeps temporary files on the volume, in a folder of its user alone', () => {
    const variables = new Map(
      secondStage
        .filter(({ name }) => name === 'ENV')
        .flatMap(({ rest }) => rest.split(' ').map((pair) => pair.split('=') as [string, string])),
    );
    const folder = variables.get('TMPDIR') ?? '';
    expect(folder.startsWith(`${last('VOLUME')}/`)).toBe(true);
    expect(last('VOLUME')).toBe(variables.get('DATA_DIR'));
    const [, created] = /mkdir -m 700 (\S+)/.exec(last('RUN') ?? '') ?? [];
    const [, ...owned] = (/chown node:(.*)$/.exec(last('RUN') ?? '')?.[1] ?? '').split(' ');
    expect([created, owned.includes(folder)]).toEqual([folder, true]);
  });

  it('leaves the choice of production to its operator', () => {
    for (const { name, rest } of instructions) if (name === 'ENV') expect(rest).not.toContain('NODE_ENV');
  });

  it('asks the service itself for its health', () => {
    const [, command] = /CMD (\[.*\])$/.exec(last('HEALTHCHECK') ?? '') ?? [];
    const [program, flag, script] = JSON.parse(command ?? '[]') as string[];
    expect([program, flag]).toEqual(['node', '-e']);
    expect(() => new Function(script ?? '')).not.toThrow();
    expect(script).toContain('/readyz');
    expect(script).toContain(String(readConfig({}).adminPort));
  });

  it('starts the program of the package', () => {
    const command = JSON.parse(last('CMD') ?? '[]') as string[];
    // npm starts a shell, which `exec` replaces by the program; here the program starts directly.
    expect(`exec ${command.join(' ')}`).toBe(manifest.scripts.start);
    expect(command.slice(-2)).toEqual(['bin/docket.js', 'serve']);
    expect(existsSync(join(ROOT, command.at(-2) ?? ''))).toBe(true);
  });

  it('copies only existing files, and everything that the package ships', () => {
    const copied = secondStage.filter(({ name }) => name === 'COPY').map(({ rest }) => rest.split(' ').at(-1));
    for (const path of manifest.files) expect(copied).toContain(path);
    for (const { name, rest } of instructions) {
      if (name !== 'COPY' || rest.startsWith('--from')) continue;
      for (const source of rest.split(' ').slice(0, -1)) expect(existsSync(join(ROOT, source)), source).toBe(true);
    }
  });

  it('gets everything that it copies, and nothing else', () => {
    const allowed = read('.dockerignore')
      .split('\n')
      .filter((line) => line.startsWith('!'))
      .map((line) => line.slice(1));
    const wanted = instructions
      .filter(({ name, rest }) => name === 'COPY' && !rest.startsWith('--from'))
      .flatMap(({ rest }) => rest.split(' ').slice(0, -1));
    expect([...allowed].sort()).toEqual([...wanted].sort());
    expect(read('.dockerignore').split('\n')).toContain('*');
  });

  it('runs one version of Node, which the package supports, also to compile the driver', () => {
    const images = instructions.filter(({ name }) => name === 'FROM').map(({ rest }) => rest.split(' ', 1)[0]);
    expect(new Set(images)).toEqual(new Set([`$\{NODE_IMAGE}`]));
    const [argument] = instructions;
    const [, version] = /^NODE_IMAGE=node:(\d+)-/.exec(argument?.rest ?? '') ?? [];
    expect(manifest.engines.node.split(' || ')).toContain(`${version}.x`);
    expect(version).not.toBe('20');
  });
});

interface Composed {
  readonly image?: string;
  readonly build?: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly ports?: readonly string[];
  readonly volumes: readonly string[];
  readonly mem_limit?: string;
  readonly tmpfs?: readonly string[];
  readonly stop_grace_period?: string;
  readonly logging?: { readonly options: Readonly<Record<string, string>> };
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
}

/** The longest that the service takes to stop, rounded up. */
const STOP_WITHIN_SECONDS = 15;

describe('docker-compose.yml', () => {
  const { services, volumes } = parse(read('docker-compose.yml')) as {
    services: Record<string, Composed>;
    volumes: Record<string, null>;
  };
  const { service, eventstore, mongo } = services;

  it('has the service and both engines', () => {
    expect(Object.keys(services).sort()).toEqual(['eventstore', 'mongo', 'service']);
    expect(service?.build).toBe('.');
    for (const engine of [eventstore, mongo]) expect(engine?.image).toMatch(/:\d/);
  });

  it('gives the service a valid configuration, on those engines', () => {
    const environment = Object.fromEntries(
      Object.entries(service!.environment).map(([name, value]) => [name, value.replace(/^\$\{\w+:-(.*)\}$/, '$1')]),
    );
    const config = readConfig(environment);
    expect(config.production).toBe(false);
    expect(environment.NODE_ENV).toBe('development');
    expect(config.engines?.eventStore).toMatch(/^esdb:\/\/eventstore:2113\?/);
    expect(config.engines?.mongo).toMatch(/^mongodb:\/\/mongo:27017\/.*replicaSet=rs0/);
    expect(config.solana.network).toBe('local');
  });

  it('starts the service when the engines are healthy', () => {
    for (const engine of ['eventstore', 'mongo']) {
      expect(service?.depends_on?.[engine]).toEqual({ condition: 'service_healthy' });
      expect(services[engine]?.healthcheck?.test[0]).toBe('CMD');
    }
  });

  it('makes a replica set of MongoDB, once', () => {
    const script = mongo?.healthcheck?.test.at(-1) ?? '';
    const calls: string[] = [];
    const ask = (initiated: boolean, isWritablePrimary: boolean) => {
      const rs = {
        status: () => {
          if (!initiated) throw new Error('no replset config has been received');
        },
        initiate: ({ _id, members }: { _id: string; members: { host: string }[] }) =>
          calls.push(`${_id} ${members[0]?.host}`),
      };
      const quit = (code: number) => calls.push(`quit ${code}`);
      new Function('rs', 'db', 'quit', script)(rs, { hello: () => ({ isWritablePrimary }) }, quit);
      return calls.splice(0);
    };
    expect(ask(false, false)).toEqual(['rs0 mongo:27017', 'quit 1']);
    expect(ask(true, false)).toEqual(['quit 1']);
    expect(ask(true, true)).toEqual([]);
  });

  it('limits the memory of each, ends each in order, and bounds what they log', () => {
    for (const { mem_limit: memory, stop_grace_period: grace, logging } of Object.values(services)) {
      expect(memory).toMatch(/^\d+g$/);
      expect(Number.parseInt(grace ?? '', 10)).toBeGreaterThanOrEqual(STOP_WITHIN_SECONDS);
      expect(logging?.options).toMatchObject({ 'max-size': expect.any(String), 'max-file': expect.any(String) });
    }
  });

  it('runs the service without rights, on a file system where it can write only its data', () => {
    expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] });
    expect(service?.volumes).toEqual(['service-data:/data']);
    // Without a size it may take all the memory that the service has.
    for (const mount of service?.tmpfs ?? []) expect(mount).toMatch(/:size=\d+m$/);
  });

  it('takes each secret of the service from a file, too', () => {
    const secrets = ['FEE_PAYER_KEY', 'MASTER_KEY'];
    for (const secret of secrets) expect(service?.environment[`${secret}_FILE`]).toBe(`\${${secret}_FILE:-}`);
  });

  it('keeps persistent data in volumes, and opens ports to this machine only', () => {
    for (const { volumes: mounts, ports = [] } of Object.values(services)) {
      for (const mount of mounts) expect(Object.keys(volumes)).toContain(mount.split(':', 1)[0]);
      for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:\d+:\d+$/);
    }
  });
});

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

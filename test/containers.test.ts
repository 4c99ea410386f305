/** Checks the Dockerfile and docker-compose.yml against the project, without an engine to run them. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
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
    const known = 'FROM RUN WORKDIR COPY ENV VOLUME EXPOSE USER HEALTHCHECK CMD'.split(' ');
    expect(instructions.map(({ name }) => name).filter((name) => !known.includes(name))).toEqual([]);
  });

  it('runs unprivileged, and switches to that user after every step that needs privileges', () => {
    expect(last('USER')).toBe('node');
    const user = secondStage.findIndex(({ name }) => name === 'USER');
    expect(secondStage.findLastIndex(({ name }) => name === 'RUN' || name === 'COPY')).toBeLessThan(user);
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
    const versions = instructions
      .filter(({ name }) => name === 'FROM')
      .map(({ rest }) => /^node:(\d+)-/.exec(rest)?.[1] ?? '');
    expect(new Set(versions).size).toBe(1);
    for (const version of versions) {
      expect(manifest.engines.node.split(' || ')).toContain(`${version}.x`);
      expect(version).not.toBe('20');
    }
  });
});

interface Composed {
  readonly image?: string;
  readonly build?: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly ports?: readonly string[];
  readonly volumes: readonly string[];
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
}

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

  it('keeps persistent data in volumes, and opens ports to this machine only', () => {
    for (const { volumes: mounts, ports = [] } of Object.values(services)) {
      for (const mount of mounts) expect(Object.keys(volumes)).toContain(mount.split(':', 1)[0]);
      for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:\d+:\d+$/);
    }
  });
});

/** Checks the Dockerfile and docker-compose.yml against the project, without an engine to run them. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { Environment } from '../src/config/environment.ts';
import { fileVariable, SECRET_VARIABLES } from '../src/config/secrets.ts';
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

const last = (name: string) => secondStage.findLast((instruction) => instruction.name === name)?.rest;
const imageVariables = new Map(
  secondStage
    .filter(({ name }) => name === 'ENV')
    .flatMap(({ rest }) => rest.split(' ').map((pair) => pair.split('=') as [string, string])),
);
/** Folders that only the user of the image can enter. */
const [, privateFolders = ''] = /mkdir -m 700 (.*) && chown node:node/.exec(last('RUN') ?? '') ?? [];
const ownFolders = /chown node:node (.*)$/.exec(last('RUN') ?? '')?.[1]?.split(' ') ?? [];

describe('the Dockerfile', () => {
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
    const folder = imageVariables.get('TMPDIR') ?? '';
    expect(folder.startsWith(`${last('VOLUME')}/`)).toBe(true);
    expect(last('VOLUME')).toBe(imageVariables.get('DATA_DIR'));
    expect(privateFolders.split(' ')).toContain(folder);
    expect(ownFolders).toContain(folder);
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
  readonly secrets?: readonly string[];
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

interface Composition {
  readonly services: Readonly<Record<string, Composed>>;
  readonly volumes: Readonly<Record<string, null>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
}

const WRITTEN = JSON.stringify(parse(read('docker-compose.yml')));

/** As Compose reads the file: `${NAME:-default}`, and `${NAME:+replacement}` for variables that are set. */
function composed(environment: Readonly<Record<string, string>> = {}): Composition {
  const filledIn = (text: string): string =>
    text.replaceAll(/\$\{(\w+):([-+])([^}]*)\}/g, (_, name, operator, word) =>
      operator === '-' ? environment[name] || word : environment[name] ? word : '',
    );
  const parsed: unknown = JSON.parse(WRITTEN, (_key, value: unknown) =>
    typeof value === 'string' ? filledIn(value) : value,
  );
  expect(JSON.stringify(parsed)).not.toContain('$');
  return parsed as Composition;
}

/** Variables that the composition or the image sets, because its engines, ports and volumes depend on them. */
const SET_HERE = ['NODE_ENV', 'EVENTSTORE_URL', 'MONGODB_URL', 'ADMIN_HOST'];
const SET_BY_IMAGE = ['HOST', 'PORT', 'ADMIN_PORT', 'DATA_DIR'];
const operators = Object.keys(Environment.shape).filter((name) => ![...SET_HERE, ...SET_BY_IMAGE].includes(name));
const secretsOf = operators.filter((name) => SECRET_VARIABLES.has(name));
const secretName = (variable: string): string => variable.toLowerCase().replaceAll('_', '-');

describe('docker-compose.yml', () => {
  const { services, volumes } = composed();
  const { service, eventstore, mongo } = services;

  it('has the service and both engines', () => {
    expect(Object.keys(services).sort()).toEqual(['eventstore', 'mongo', 'service']);
    expect(service?.build).toBe('.');
    for (const engine of [eventstore, mongo]) expect(engine?.image).toMatch(/:\d/);
  });

  it('gives the service a valid configuration, on those engines', () => {
    const environment = service!.environment;
    const config = readConfig(environment);
    expect(config.production).toBe(false);
    expect(environment.NODE_ENV).toBe('development');
    expect(config.engines?.eventStore).toMatch(/^esdb:\/\/eventstore:2113\?/);
    expect(config.engines?.mongo).toMatch(/^mongodb:\/\/mongo:27017\/.*replicaSet=rs0/);
    expect(config.solana.network).toBe('local');
  });

  it('passes on every variable of the configuration that it does not set itself, and no other', () => {
    const known = [...SET_HERE, ...operators, ...secretsOf.map(fileVariable)];
    expect(Object.keys(service!.environment).sort()).toEqual([...known].sort());
    for (const name of operators) {
      expect(composed({ [name]: 'value' }).services.service?.environment[name], name).toBe('value');
    }
    for (const name of SET_HERE) {
      expect(composed({ [name]: 'value' }).services.service?.environment[name], name).not.toBe('value');
    }
  });

  it('mounts each secret that a file of this machine holds, and none that is not given', () => {
    expect(service?.secrets).toEqual(expect.arrayContaining(secretsOf.map(secretName)));
    const directory = mkdtempSync(join(tmpdir(), 'docket-secrets-'));
    try {
      const file = join(directory, 'secret');
      writeFileSync(file, `1:${'5a'.repeat(32)}\n`);
      for (const variable of secretsOf) {
        const given = composed({ [fileVariable(variable)]: file });
        const names = Object.entries(given.services.service!.environment).filter(([, value]) =>
          value.startsWith('/run/secrets/'),
        );
        expect(names).toEqual([[fileVariable(variable), `/run/secrets/${secretName(variable)}`]]);
        expect(given.secrets[secretName(variable)]).toEqual({ file });
      }
      // What Compose would mount there is what the configuration reads.
      const { secrets } = composed({ MASTER_KEY_FILE: file });
      const { masterKey } = readConfig({ MASTER_KEY_FILE: secrets['master-key']!.file });
      expect(masterKey).toBe(`1:${'5a'.repeat(32)}`);
    } finally {
      rmSync(directory, { recursive: true });
    }
    const { secrets } = composed();
    expect(Object.keys(secrets).sort()).toEqual(secretsOf.map(secretName).sort());
    for (const { file } of Object.values(secrets)) expect(read(file)).toBe('');
  });

  it('shows metrics to other containers and to this machine, and to no others', () => {
    const { adminHost, adminPort, port } = readConfig(service!.environment);
    expect(adminHost).toBe('0.0.0.0');
    expect(service?.ports).toEqual([port, adminPort].map((one) => `127.0.0.1:${one}:${one}`));
    for (const name of SET_BY_IMAGE) expect(service?.environment).not.toHaveProperty(name);
  });

  it('has a place for backups outside the data, which its user can write', () => {
    expect(service?.volumes).toEqual(['service-data:/data', 'backups:/backups']);
    expect(composed({ BACKUPS: './backups' }).services.service?.volumes).toContain('./backups:/backups');
    expect(privateFolders.split(' ')).toContain('/backups');
    expect(ownFolders).toContain('/backups');
    expect(read('.gitignore').split('\n')).toContain('/backups/');
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
    // Without a size it may take all the memory that the service has.
    for (const mount of service?.tmpfs ?? []) expect(mount).toMatch(/:size=\d+m$/);
  });

  it('keeps persistent data in volumes, and opens ports to this machine only', () => {
    for (const { volumes: mounts, ports = [] } of Object.values(services)) {
      for (const mount of mounts) expect(Object.keys(volumes)).toContain(mount.split(':', 1)[0]);
      for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:\d+:\d+$/);
    }
  });
});

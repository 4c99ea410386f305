/** Debian's nginx, haproxy and Varnish in front of nodes of the service, with their default settings. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../support/processes.ts';

export interface RunningProxy {
  readonly port: number;
  close(): Promise<void>;
}

export interface ProxyOptions {
  /** More lines of nginx's `location`. */
  readonly location?: string;
  /** Whether it names its callers in X-Forwarded-For. Varnish always does. */
  readonly forwards?: boolean;
}

export const PROGRAMS = {
  nginx: '/usr/sbin/nginx',
  nginxCached: '/usr/sbin/nginx',
  haproxy: '/usr/sbin/haproxy',
  varnish: '/usr/sbin/varnishd',
} as const;
export type ProxyName = keyof typeof PROGRAMS;

export const isInstalled = (name: ProxyName): boolean => existsSync(PROGRAMS[name]);

/** @param nodes ports of the service */
export async function startProxy(
  name: ProxyName,
  nodes: readonly number[],
  { location: more = '', forwards = false }: ProxyOptions = {},
): Promise<RunningProxy> {
  const forwarded = forwards ? 'proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;' : '';
  const location = `${more} ${forwarded}`;
  const directory = await mkdtemp(join(tmpdir(), `${name}-`));
  const port = await freePort();
  const file = join(directory, 'configuration');
  const child = await {
    nginx: () => nginx(directory, file, port, nodes, location),
    nginxCached: () =>
      nginx(directory, file, port, nodes, `proxy_cache answers; proxy_cache_valid any 1m; ${location}`),
    haproxy: () => haproxy(file, port, nodes, forwards ? '  option forwardfor\n' : ''),
    varnish: () => varnish(directory, port, nodes),
  }[name]();
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (part) => {
      said += part;
    });
  }
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const close = async () => {
    child.kill('SIGTERM');
    await exited;
    await rm(directory, { recursive: true, force: true });
  };
  while (!(await answers(port))) {
    if (child.exitCode !== null) throw new Error(`${name} ended: ${said}`);
    await sleep(50);
  }
  return { port, close };
}

const answers = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });

const run = (program: string, ...args: string[]): ChildProcess =>
  spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });

async function nginx(
  directory: string,
  file: string,
  port: number,
  nodes: readonly number[],
  location: string,
): Promise<ChildProcess> {
  await mkdir(join(directory, 'cache'));
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((kind) => `${kind}_temp_path ${directory}/${kind};`)
    .join(' ');
  const text = `daemon off; pid ${directory}/pid; error_log stderr warn;
${process.getuid?.() === 0 ? 'user root;' : ''}
events {}
http {
  access_log off; ${paths}
  proxy_cache_path ${directory}/cache keys_zone=answers:1m;
  upstream nodes { ${nodes.map((node) => `server 127.0.0.1:${node};`).join(' ')} }
  server { listen 127.0.0.1:${port}; location / { proxy_pass http://nodes; ${location} } }
}`;
  await writeFile(file, text);
  return run(PROGRAMS.nginx, '-c', file, '-e', 'stderr', '-p', directory);
}

async function haproxy(file: string, port: number, nodes: readonly number[], more: string): Promise<ChildProcess> {
  const servers = nodes.map((node, index) => `  server node${index} 127.0.0.1:${node}`).join('\n');
  const text = `defaults
  mode http
  timeout connect 5s
  timeout client 50s
  timeout server 50s
${more}frontend callers
  bind 127.0.0.1:${port}
  default_backend nodes
backend nodes
${servers}
`;
  await writeFile(file, text);
  return run(PROGRAMS.haproxy, '-db', '-f', file);
}

async function varnish(directory: string, port: number, nodes: readonly number[]): Promise<ChildProcess> {
  const [node] = nodes;
  const name = join(directory, 'work');
  return run(PROGRAMS.varnish, '-F', '-n', name, '-a', `127.0.0.1:${port}`, '-b', `127.0.0.1:${node}`);
}

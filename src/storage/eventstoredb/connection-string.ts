/**
 * Reads `EVENTSTORE_URL`. The client's own parser leaks the whole string, password included: it prints it to standard
 * error for an unknown option and under `DEBUG`, and quotes it in errors. It also cuts a password at its first colon.
 * So the string never reaches the client, and no error here repeats it.
 */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

export interface Endpoint {
  readonly address: string;
  readonly port: number;
}

export interface EventStoreSettings {
  /** More than one host means a cluster; any member can name the leader. */
  readonly hosts: readonly Endpoint[];
  /** The single host is a DNS name that resolves to the members of a cluster (`esdb+discover`). */
  readonly discover: boolean;
  readonly tls: boolean;
  readonly credentials: { readonly username: string; readonly password: string } | null;
  readonly certificates: {
    readonly authority?: string;
    readonly userCertificate?: string;
    readonly userKey?: string;
  };
  readonly connectionName?: string;
  readonly maxDiscoverAttempts?: number;
  readonly discoveryInterval?: number;
  readonly gossipTimeout?: number;
  readonly keepAliveInterval?: number;
  readonly keepAliveTimeout?: number;
}

/** A malformed connection string. The message never quotes its content. */
export class InvalidConnectionString extends Error {
  readonly code = 'invalid_connection_string';
  constructor(problem: string) {
    super(
      `${problem}; expected a form such as esdb://USER:PASSWORD@HOST:2113?tls=true or esdb+discover://CLUSTER-NAME`,
    );
    this.name = 'InvalidConnectionString';
  }
}

/** KurrentDB is EventStoreDB's name since version 25; its strings have the same meaning. */
const SCHEMES: ReadonlySet<string> = new Set(['esdb', 'esdb+discover', 'kurrentdb', 'kurrentdb+discover']);
/** The string is well-formed, but the file that it names is missing or not readable by this user. */
export class UnreadableCertificate extends Error {
  readonly code = 'certificate_unreadable';
  readonly hint: string;
  constructor(option: string) {
    super(`the file that ${option} in EVENTSTORE_URL names cannot be read`);
    this.name = 'UnreadableCertificate';
    this.hint = `Check the path after ${option}= (a relative one starts at the working directory) and the file permissions.`;
  }
}

const SHAPE = /^(?<scheme>[a-z+]+):\/\/(?:(?<user>[^@/?]*)@)?(?<hosts>[^@/?]+)\/*(?:\?(?<options>.*))?$/i;
const DEFAULT_PORT = 2113;
/** Below this value the client warns, and a node may end a connection that pings too often. */
const LEAST_KEEP_ALIVE_MS = 10_000;

/** @throws InvalidConnectionString */
export function readConnectionString(text: string): EventStoreSettings {
  const parts = SHAPE.exec(text.trim())?.groups;
  const scheme = parts?.scheme?.toLowerCase();
  if (!parts || scheme === undefined || !SCHEMES.has(scheme)) {
    throw new InvalidConnectionString('expected a connection string of EventStoreDB');
  }
  const hosts = (parts.hosts ?? '').split(',').map(readHost);
  const discover = scheme.endsWith('+discover');
  if (discover && hosts.length > 1) throw new InvalidConnectionString('+discover requires exactly one cluster name');
  return {
    hosts,
    discover,
    credentials: parts.user === undefined ? null : readCredentials(parts.user),
    ...readOptions(parts.options ?? ''),
  };
}

/** The target of a connection string, safe to display: no user, no password, no key path. */
export function maskConnectionString(text: string): string {
  const { hosts, credentials, tls } = readConnectionString(text);
  const scheme = SHAPE.exec(text.trim())?.groups?.scheme?.toLowerCase();
  const at = credentials ? '(masked)@' : '';
  const names = hosts.map(({ address, port }) => `${address}:${port}`).join(',');
  return `${scheme}://${at}${names}?tls=${tls}`;
}

function readHost(text: string): Endpoint {
  const [, address, port] = /^([A-Za-z0-9._-]+)(?::(\d{1,5}))?$/.exec(text.trim()) ?? [];
  if (!address || Number(port ?? 0) > 65_535) throw new InvalidConnectionString('a host, or its port, is malformed');
  return { address, port: port === undefined ? DEFAULT_PORT : Number(port) };
}

function readCredentials(text: string): EventStoreSettings['credentials'] {
  const [username = '', password, ...more] = text.split(':');
  if (username === '' || password === undefined || password === '' || more.length > 0) {
    throw new InvalidConnectionString('credentials must be USER:PASSWORD, with : @ / and ? percent-encoded');
  }
  return { username: decoded(username), password: decoded(password) };
}

type Options = Omit<EventStoreSettings, 'hosts' | 'discover' | 'credentials'>;

function readOptions(text: string): Options {
  let options: Options = { tls: true, certificates: {} };
  for (const pair of text.split('&').filter(Boolean)) {
    const [, name = '', value = ''] = /^([^=]+)=(.+)$/.exec(pair) ?? [];
    options = withOption(options, name, decoded(value));
  }
  const { userCertificate, userKey } = options.certificates;
  if ((userCertificate === undefined) !== (userKey === undefined)) {
    throw new InvalidConnectionString('userCertFile and userKeyFile must be given together');
  }
  return options;
}

function withOption(options: Options, name: string, value: string): Options {
  const certificate = (part: keyof Options['certificates']): Options => ({
    ...options,
    certificates: { ...options.certificates, [part]: resolve(value) },
  });
  switch (name.toLowerCase().replaceAll(/[_-]/g, '')) {
    case 'tls':
      return { ...options, tls: readBoolean(name, value) };
    case 'tlscafile':
      return certificate('authority');
    case 'usercertfile':
      return certificate('userCertificate');
    case 'userkeyfile':
      return certificate('userKey');
    case 'connectionname':
      return { ...options, connectionName: value };
    case 'maxdiscoverattempts':
      return { ...options, maxDiscoverAttempts: readWhole(name, value, 1) };
    case 'discoveryinterval':
      return { ...options, discoveryInterval: readWhole(name, value, 1) };
    case 'gossiptimeout':
      return { ...options, gossipTimeout: readWhole(name, value, 1) };
    case 'keepaliveinterval':
      return { ...options, keepAliveInterval: readWhole(name, value, LEAST_KEEP_ALIVE_MS) };
    case 'keepalivetimeout':
      return { ...options, keepAliveTimeout: readWhole(name, value, 1) };
    case 'tlsverifycert':
      if (readBoolean(name, value)) return options;
      throw new InvalidConnectionString('tlsVerifyCert=false has no effect in the client; use tlsCAFile instead');
    case 'throwonappendfailure':
      if (readBoolean(name, value)) return options;
      throw new InvalidConnectionString('throwOnAppendFailure=false would report conflicts as successes');
    case 'nodepreference':
      if (value.toLowerCase() === 'leader') return options;
      throw new InvalidConnectionString('nodePreference must be leader: other nodes may not return the latest writes');
    case 'defaultdeadline':
      throw new InvalidConnectionString('defaultDeadline cannot be set: this service uses its own time limits');
    default:
      throw new InvalidConnectionString('an option is unknown');
  }
}

function readBoolean(name: string, value: string): boolean {
  if (value !== 'true' && value !== 'false') throw new InvalidConnectionString(`${name} must be true or false`);
  return value === 'true';
}

function readWhole(name: string, value: string, least: number): number {
  const number = Number(value);
  if (!Number.isSafeInteger(number) || number < least) {
    throw new InvalidConnectionString(`${name} must be an integer of at least ${least}`);
  }
  return number;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new InvalidConnectionString('a % is not followed by two hexadecimal digits');
  }
}

/** @throws UnreadableCertificate naming the option whose file cannot be read */
export function readCertificates({ authority, userCertificate, userKey }: EventStoreSettings['certificates']) {
  return {
    ...(authority !== undefined && { rootCertificate: readPem('tlsCAFile', authority) }),
    ...(userCertificate !== undefined && { userCertFile: readPem('userCertFile', userCertificate) }),
    ...(userKey !== undefined && { userKeyFile: readPem('userKeyFile', userKey) }),
  };
}

function readPem(option: string, path: string): Buffer {
  try {
    return readFileSync(path);
  } catch {
    throw new UnreadableCertificate(option);
  }
}

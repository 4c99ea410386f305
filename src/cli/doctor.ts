import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, resolve } from 'node:path';
import type { Command } from 'commander';
import { readMasterKeys } from '../callbacks/master-keys.ts';
import { loadMasterKeyVersions } from '../commands/signing-key/master-key.ts';
import { type Config, readConfig } from '../config.ts';
import { resultsByMasterVersion } from '../queries/result-keys-in-use.ts';
import { masterVersionsInUse, readAllSigningKeys } from '../queries/signing-keys-in-use.ts';
import { systemClock } from '../runtime/instant.ts';
import { diskFinding } from '../service/health-checks.ts';
import { loadMasterKeyFile, masterKeyFile } from '../service/open-master-keys.ts';
import { openEventLog, openStorage } from '../service/open-storage.ts';
import { freeBytes } from '../storage/disk-space.ts';
import type { EventLog } from '../storage/event-log.ts';
import { UnreadableCertificate } from '../storage/eventstoredb/connection-string.ts';
import { StorageFailure } from '../storage/storage-failure.ts';
import { type AddCommand, type CliContext, FoundWrong, print, printJson } from './command.ts';
import { bad, type Diagnosis, good, textOf } from './diagnosis.ts';
import { identityOnEngines, logIdentityOf } from './doctor-identity.ts';
import { askService, type Readiness, servesFolderOf } from './readiness.ts';
import { hasEventLog } from './service-storage.ts';

const LEAST_NODE = [20, 19] as const;

function node(): Diagnosis {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const enough = major > LEAST_NODE[0] || (major === LEAST_NODE[0] && minor >= LEAST_NODE[1]);
  if (enough) return good('node', process.versions.node);
  return bad('node', process.versions.node, `Install Node ${LEAST_NODE.join('.')} or later.`);
}

async function dataFolder(config: Config): Promise<Diagnosis> {
  const part = 'data folder';
  const { dataDirectory } = config;
  // A check creates nothing: if the folder does not exist yet, the check uses the one that will contain it.
  const wanted = resolve(dataDirectory);
  let folder = wanted;
  while (!existsSync(folder) && dirname(folder) !== folder) folder = dirname(folder);
  try {
    if (!statSync(folder).isDirectory()) throw new Error(`${folder} is not a folder`);
    accessSync(folder, constants.R_OK | constants.W_OK);
  } catch (error) {
    return bad(part, textOf(error), 'Set DATA_DIR to a folder that this user may write to.');
  }
  const { reason, hint = '' } = diskFinding(await freeBytes(folder));
  if (reason !== null) return bad(part, reason, hint);
  return good(
    part,
    folder === wanted ? dataDirectory : `${dataDirectory}: does not exist yet; the first start creates it`,
  );
}

async function storage(config: Config): Promise<readonly Diagnosis[]> {
  if (config.engines) {
    const engines = [await eventStore(config.engines.eventStore), await mongo(config.engines.mongo)];
    return engines.every(({ ok }) => ok) ? [...engines, await identityOnEngines(config)] : engines;
  }
  if (!hasEventLog(config)) return [good('event log', 'none yet; the first start creates it')];
  try {
    const storage = await openStorage(config);
    try {
      await Promise.all([storage.log.check(), storage.payloads.check(), storage.readStore.check()]);
      const head = (await storage.log.head()) ?? 'none: empty';
      return [good('event log', `at position ${head}`), await logIdentityOf(config, storage)];
    } finally {
      await storage.close();
    }
  } catch (error) {
    const hint = error instanceof StorageFailure ? error.hint : 'Check the disk and the permissions of DATA_DIR.';
    return [bad('event log', textOf(error), hint)];
  }
}

/** Checks that the master keys here cover every key that signs callbacks. */
async function masterKey(config: Config): Promise<Diagnosis> {
  const part = 'master key';
  const source = config.masterKey === null ? masterKeyFile(config.dataDirectory) : 'MASTER_KEY';
  const hint = `Set MASTER_KEY to every version that live keys and results of the last 30 days need, newest first; or restore ${source} from a backup.`;
  try {
    const masterKeys = config.masterKey === null ? loadMasterKeyFile(source) : readMasterKeys(config.masterKey);
    if (!hasEventLog(config)) {
      return good(part, masterKeys ? `version ${masterKeys.newest}` : 'none yet; the first start creates it');
    }
    const { log, close } = await openEventLog(config);
    try {
      const versions = masterKeys?.versions ?? [];
      const known = await loadMasterKeyVersions(log);
      const others = versions.filter((version) => {
        const fingerprint = known.get(version);
        return fingerprint !== undefined && fingerprint !== masterKeys?.fingerprintOf(version);
      });
      if (others.length) return bad(part, `version ${others.join(', ')} is not the key that the event log knows`, hint);
      const missing = await missingUses(log, versions, known);
      if (missing.length) return bad(part, `missing: ${missing.join('; ')}`, hint);
      return good(
        part,
        masterKeys ? `version ${masterKeys.newest}, from ${source}` : 'none yet; the first start creates it',
      );
    } finally {
      await close();
    }
  } catch (error) {
    if (error instanceof StorageFailure || error instanceof UnreadableCertificate)
      return bad(part, 'not checked: no event log', 'Fix the storage first.');
    return bad(part, textOf(error), hint);
  }
}

/** What fails without the master key versions that are missing here, one sentence each. */
async function missingUses(
  log: EventLog,
  versions: readonly number[],
  known: ReadonlyMap<number, string>,
): Promise<readonly string[]> {
  const now = systemClock.now();
  // A version is recorded in the log before anything is derived from it, so unrecorded versions have no uses.
  const isComplete = [...known.keys()].every((version) => versions.includes(version));
  const results = isComplete ? new Map<number, number>() : await resultsByMasterVersion(log, now);
  const uses = masterVersionsInUse((await readAllSigningKeys(log)).values(), results, now);
  return uses
    .filter(({ masterVersion }) => !versions.includes(masterVersion))
    .flatMap(({ masterVersion, liveKeys, results: open }) => [
      ...(liveKeys > 0 ? [`version ${masterVersion}, which ${counted(liveKeys, 'live key')} derived from`] : []),
      ...(open > 0
        ? [`version ${masterVersion}, which ${counted(open, 'result')} sold under in the last 30 days`]
        : []),
    ]);
}

const counted = (count: number, what: string): string => (count === 1 ? `1 ${what} was` : `${count} ${what}s were`);

/** The engine's own advice, or the variable to check. */
const hintOf = (error: unknown, variable: string): string =>
  error instanceof StorageFailure ? `${error.hint} (${variable})` : `Check ${variable}.`;

async function eventStore(url: string): Promise<Diagnosis> {
  const part = 'EventStoreDB';
  try {
    const { openEventStore } = await import('../storage/eventstoredb/open.ts');
    const log = await openEventStore(url);
    try {
      return good(part, `at position ${(await log.head()) ?? 'none: empty'}`);
    } finally {
      await log.close();
    }
  } catch (error) {
    const hint = error instanceof UnreadableCertificate ? error.hint : hintOf(error, 'EVENTSTORE_URL');
    return bad(part, textOf(error), hint);
  }
}

async function mongo(url: string): Promise<Diagnosis> {
  const part = 'MongoDB';
  try {
    const { openMongo } = await import('../storage/mongodb/open.ts');
    const { readStore, payloads, close } = await openMongo(url);
    try {
      await Promise.all([readStore.check(), payloads.check()]);
      return good(part, 'reachable, with all indexes');
    } finally {
      await close();
    }
  } catch (error) {
    return bad(part, textOf(error), hintOf(error, 'MONGODB_URL'));
  }
}

const foreignService = ({ adminPort }: Config): Diagnosis =>
  bad(
    'service',
    `the service on port ${adminPort} serves another DATA_DIR`,
    'Use the DATA_DIR and ADMIN_PORT of that service. To start a service for this DATA_DIR, set other ports.',
  );

function serviceParts(readiness: Readiness): readonly Diagnosis[] {
  const running = good('service', readiness.ready ? 'running and ready' : 'running, not ready');
  return [
    running,
    ...Object.entries(readiness.parts).map(([name, { status, reason, hint }]) => {
      const part = `service: ${name}`;
      if (status === 'nominal') return good(part, status);
      const advice = hint ?? 'The reason names the cause; the log shows when it began.';
      return bad(part, `${status}${reason ? `: ${reason}` : ''}`, advice);
    }),
  ];
}

async function freePorts(config: Config): Promise<readonly Diagnosis[]> {
  const wanted: readonly (readonly [variable: string, port: number, host: string])[] = [
    ['PORT', config.port, config.host],
    ['ADMIN_PORT', config.adminPort, config.adminHost],
    ...(config.solana.network === 'local' && !config.solana.rpcUrls.length
      ? [['SOLANA_LOCAL_PORT', config.solana.localPort, '127.0.0.1'] as const]
      : []),
  ];
  return Promise.all(
    wanted.map(async ([variable, port, host]) => {
      const problem = await listenProblem(host, port);
      if (!problem) return good(`port ${port}`, 'free');
      return bad(`port ${port}`, problem, `Stop the process that listens there, or set ${variable} to another port.`);
    }),
  );
}

function listenProblem(host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error) => resolve(error.message));
    server.listen(port, host, () => server.close(() => resolve(null)));
  });
}

async function chain(config: Config, serviceRuns: boolean): Promise<readonly Diagnosis[]> {
  const { network, rpcUrls, localPort } = config.solana;
  if (network === 'local' && !rpcUrls.length && !serviceRuns)
    return [good('chain', 'local; it starts with the service')];
  const urls = rpcUrls.length ? rpcUrls : [`http://127.0.0.1:${localPort}`];
  const { isGenesisOf } = await import('../solana/addresses.ts');
  return Promise.all(
    urls.map(async (url, index) => {
      const part = `chain ${index + 1} of ${urls.length}`;
      try {
        const response = await fetch(url, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getGenesisHash' }),
          signal: AbortSignal.timeout(5_000),
        });
        const { result } = (await response.json()) as { result?: string };
        if (result !== undefined && isGenesisOf(network, result)) return good(part, `${network}, reachable`);
        return bad(part, `serves another network than ${network}`, 'Make SOLANA_NETWORK and SOLANA_RPC_URL agree.');
      } catch {
        // The cause may quote the URL, which may contain a key.
        return bad(part, 'is unreachable', 'Check SOLANA_RPC_URL and the network; several endpoints may be given.');
      }
    }),
  );
}

/** The service speaks only plain HTTP, so a public https address belongs to a proxy. Its range cannot be guessed here. */
function proxies({ publicUrl, trustedProxies, addressLimitPerMinute }: Config): readonly Diagnosis[] {
  const part = 'proxies';
  if (trustedProxies.length > 0) return [good(part, `trusted: ${trustedProxies.join(', ')}`)];
  if (publicUrl === null || !publicUrl.startsWith('https:') || addressLimitPerMinute === null) return [];
  return [
    bad(
      part,
      'PUBLIC_URL is https, so a proxy is in front, and TRUSTED_PROXIES is not set',
      'Set TRUSTED_PROXIES to the addresses of the proxy (10.0.0.0/8), and make it append to X-Forwarded-For; otherwise limits by address cannot tell clients apart. Or set ADDRESS_LIMIT_PER_MINUTE=0.',
    ),
  ];
}

async function examine(context: CliContext): Promise<readonly Diagnosis[]> {
  const diagnoses: Diagnosis[] = [node()];
  let config: Config;
  try {
    config = readConfig(context.environment);
    diagnoses.push(good('configuration', 'valid'));
  } catch (error) {
    return [
      ...diagnoses,
      bad('configuration', textOf(error), 'Correct each variable named above; docket config --help lists them all.'),
    ];
  }
  diagnoses.push(...proxies(config), await dataFolder(config), ...(await storage(config)), await masterKey(config));
  const readiness = await askService(config);
  const ours = readiness !== null && servesFolderOf(config, readiness);
  if (ours) diagnoses.push(...serviceParts(readiness));
  else if (readiness) diagnoses.push(foreignService(config));
  else diagnoses.push(good('service', 'not running'), ...(await freePorts(config)));
  diagnoses.push(...(await chain(config, ours)));
  return diagnoses;
}

export const addDoctorCommand: AddCommand = (program: Command, context) => {
  program
    .command('doctor')
    .description('Check everything that the service needs, and say how to fix each failure.')
    .option('--json', 'one JSON object')
    .addHelpText('after', '\nExamples:\n  $ docket doctor\n  $ DATA_DIR=/var/lib/docket docket doctor --json')
    .action(async (options: { json?: boolean }) => {
      const diagnoses = await examine(context);
      const wrong = diagnoses.filter(({ ok }) => !ok);
      if (options.json) printJson(context, { ok: wrong.length === 0, checks: diagnoses });
      else {
        for (const { part, ok, found, hint } of diagnoses) {
          print(context, `${ok ? 'ok   ' : 'WRONG'} ${part.padEnd(22)} ${found}`);
          if (hint) print(context, `      ${' '.repeat(22)} ${hint}`);
        }
      }
      if (wrong.length) {
        throw new FoundWrong(
          `${wrong.length} of ${diagnoses.length} checks failed.`,
          'Each line above says how to fix it.',
        );
      }
    });
};

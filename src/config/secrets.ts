/** Variables that hold secrets: from the environment, or from files that it names. */
import { readSecretFile } from '../runtime/secret-file.ts';
import { ConfigurationError, type ConfigurationFault } from './configuration-error.ts';

/** Environment variables that hold secrets, which are masked wherever the configuration is shown. */
export const SECRET_VARIABLES: ReadonlySet<string> = new Set([
  'FEE_PAYER_KEY',
  'MASTER_KEY',
  'EVENTSTORE_URL',
  'MONGODB_URL',
  'SOLANA_RPC_URL',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'COURTLISTENER_TOKEN',
  'COURTLISTENER_WEBHOOK_SECRET',
]);

/** URLs are refused with a secret in them, so no fault may repeat them either. */
export const UNREPEATED_VARIABLES: ReadonlySet<string> = new Set([
  ...SECRET_VARIABLES,
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
  'COURTLISTENER_URL',
  'RSS_URL',
  'SCOTUS_URL',
]);

/**
 * Reads the secrets that are in files, as containers and systemd pass them: `MASTER_KEY_FILE` names the file that holds
 * `MASTER_KEY`, whose line break at the end is not part of it.
 */
export function withSecretFiles(environment: NodeJS.ProcessEnv, faults: ConfigurationFault[]): NodeJS.ProcessEnv {
  const read: NodeJS.ProcessEnv = { ...environment };
  for (const variable of SECRET_VARIABLES) {
    const named = fileVariable(variable);
    const path = environment[named];
    if (!path) continue;
    if (environment[variable]) {
      faults.push({ variable: named, problem: `${variable} is set as well; set only one of them` });
      continue;
    }
    const text = readSecretFile(path);
    if (typeof text === 'string') read[variable] = text;
    // Its value is not repeated: somebody may have put the secret itself there.
    else faults.push({ variable: named, problem: `${text.problem}; the path of a file is expected (not shown here)` });
  }
  return read;
}

/** One variable that may hold a secret, from itself or from its file. @throws ConfigurationError */
export function readSecretVariable(environment: NodeJS.ProcessEnv, variable: string): string | undefined {
  const faults: ConfigurationFault[] = [];
  const own = { [variable]: environment[variable], [fileVariable(variable)]: environment[fileVariable(variable)] };
  const value = withSecretFiles(own, faults)[variable];
  if (faults.length > 0) throw new ConfigurationError(faults);
  return value;
}

/** The variable that names the file of a secret. */
export const fileVariable = (variable: string): string => `${variable}_FILE`;

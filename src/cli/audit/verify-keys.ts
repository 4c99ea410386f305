/** What `docket audit verify` knows about the keys of heads apart from the log: those given, and the master key at hand. */

import type { TrustedKeys } from '../../audit/verify/head-keys.ts';
import { readMasterKeys } from '../../callbacks/master-keys.ts';
import { ConfigurationError } from '../../config/configuration-error.ts';
import type { Config } from '../../config.ts';
import { parseVerifierKey } from '../../events/log-note.ts';
import { loadMasterKeyFile, masterKeyFile } from '../../service/open-master-keys.ts';
import { CliError } from '../command.ts';

/** @throws CliError if the text is no verifier key */
export function keptKey(text: string): { readonly logId: string; readonly publicKey: string } {
  const key = parseVerifierKey(text);
  if (key) return key;
  throw new CliError(
    '--key is not a verifier key.',
    'Give the verifierKey that docket audit head --json prints: docket-log/LOG+HASH+KEY.',
  );
}

/** The keys that the master key of the settings gives. An auditor may have none, or may not be allowed to read it. */
export function derivedKeys({ masterKey, dataDirectory }: Config): TrustedKeys['derived'] {
  const masterKeys = masterKey === null ? storedMasterKey(dataDirectory) : readMasterKeys(masterKey);
  return new Map(
    masterKeys?.versions.map((version) => [
      version,
      { publicKey: masterKeys.logHeadKeyOf(version).publicKey, fingerprint: masterKeys.fingerprintOf(version) },
    ]),
  );
}

function storedMasterKey(dataDirectory: string) {
  try {
    return loadMasterKeyFile(masterKeyFile(dataDirectory));
  } catch (error) {
    if (error instanceof ConfigurationError) return null;
    throw error;
  }
}

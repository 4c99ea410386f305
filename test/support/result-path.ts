import { readFile } from 'node:fs/promises';
import { readMasterKeys } from '../../src/callbacks/master-keys.ts';
import { createResultIds } from '../../src/commands/payment/result-id.ts';
import { resultPath } from '../../src/http/paid/paid-result.ts';
import { masterKeyFile } from '../../src/service/open-master-keys.ts';

/** Where a service with this data folder keeps the answer to a request; only it and the buyer know. */
export async function resultPathIn(dataDirectory: string, requestId: string): Promise<string> {
  const ids = createResultIds(readMasterKeys((await readFile(masterKeyFile(dataDirectory), 'utf8')).trim()));
  return resultPath(ids.idOf({ requestId, resultKey: ids.newest }));
}

/** A user of the client that `@hey-api/openapi-ts` generates. */
import type { Bought, Entry } from './bought';
import { type BatchAnswer, getCase, postCasesBatch } from './generated/hey-api';
import { createClient } from './generated/hey-api/client';

export async function use(baseUrl: string, pay: typeof fetch): Promise<Bought> {
  const client = createClient({ baseUrl, fetch: pay });
  const query = { court_code: 'cand', case_id: '3:24-cv-00042' };
  const unknown = { court_code: 'cand', case_id: '3:24-cv-09999' };
  const sandbox = await postCasesBatch({
    client,
    query: { test: '1' },
    body: { queries: [query] },
    throwOnError: true,
  });
  const bought = await getCase({ client, query, throwOnError: true });
  const batch = await postCasesBatch({ client, body: { queries: [query, unknown] }, throwOnError: true });
  if (!('case' in bought.data) || !('results' in batch.data) || !('results' in sandbox.data))
    throw new Error('pending');
  return {
    sandbox: entriesOf(sandbox.data),
    caseName: bought.data.case.case_name,
    batch: entriesOf(batch.data),
  };
}

const entriesOf = ({ results }: BatchAnswer): readonly Entry[] =>
  results.map((result) =>
    result.status === 'success'
      ? { status: result.status, caseName: result.response.case.case_name }
      : { status: result.status, code: result.error.code, charged: result.error.details.charged },
  );

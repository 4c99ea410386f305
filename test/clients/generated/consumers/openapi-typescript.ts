/** A user of the types that `openapi-typescript` generates, with its own `openapi-fetch`. */
import createClient from 'openapi-fetch';
import type { Bought, Entry } from './bought';
import type { components, paths } from './generated/openapi-typescript';

export async function use(baseUrl: string, pay: typeof fetch): Promise<Bought> {
  const client = createClient<paths>({ baseUrl, fetch: pay });
  const query = { court_code: 'cand', case_id: '3:24-cv-00042' };
  const unknown = { court_code: 'cand', case_id: '3:24-cv-09999' };
  const sandbox = await client.POST('/v2/cases/batch', {
    params: { query: { test: '1' } },
    body: { queries: [query] },
  });
  const bought = await client.GET('/v2/case', { params: { query } });
  const batch = await client.POST('/v2/cases/batch', { body: { queries: [query, unknown] } });
  if (!sandbox.data || !bought.data || !batch.data) throw new Error('refused');
  if (!('case' in bought.data) || !('results' in batch.data) || !('results' in sandbox.data))
    throw new Error('pending');
  return {
    sandbox: entriesOf(sandbox.data),
    caseName: bought.data.case.case_name,
    batch: entriesOf(batch.data),
  };
}

const entriesOf = ({ results }: components['schemas']['BatchAnswer']): readonly Entry[] =>
  results.map((result) =>
    result.status === 'success'
      ? { status: result.status, caseName: result.response.case.case_name }
      : { status: result.status, code: result.error.code, charged: result.error.details.charged },
  );

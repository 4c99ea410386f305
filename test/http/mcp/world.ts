/** The public port with one docket, for tests of the MCP endpoint. */
import { openWorld as openHttpWorld } from '../world.ts';

export const CASE = { court_code: 'cand', case_id: '4:25-cv-00812' };
/** After the first filing and before the other two. */
export const SINCE = '2025-03-01T00:00:00Z';
export const PRICE = 990_000n;

const docket = {
  court_id: 'cand',
  docket_number: '4:25-cv-00812',
  case_name: 'Heron Marsh Society v. Copperfield Dredging Company',
  date_filed: '2025-02-03',
  docket_entries: [
    ['2025-02-03', 'COMPLAINT against Copperfield Dredging Company. Filed by Heron Marsh Society.'],
    ['2025-03-10', 'MOTION to Dismiss filed by Copperfield Dredging Company.'],
    ['2025-03-31', 'ORDER granting 2 Motion to Dismiss.'],
  ].map(([date_filed, description], index) => ({ document_number: index + 1, date_filed, description })),
};

export type World = Awaited<ReturnType<typeof openWorld>>;

/** @param slotMs a blockhash lives for 150 of them */
export async function openWorld({ slotMs }: { readonly slotMs?: number } = {}) {
  const world = await openHttpWorld(slotMs === undefined ? {} : { slotMs });
  await world.importDocket(docket);
  return { ...world, mcp: `${world.url}/v2/mcp` };
}

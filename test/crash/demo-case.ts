/** The case that callers of the crash tests query. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { docket } from './agreement.ts';
import type { Stage } from './paid-load.ts';

const FIXTURE = join(import.meta.dirname, '../../fixtures/demo-before.json');

export async function importDemoCase({ environment, within }: Stage): Promise<void> {
  await docket(['import', FIXTURE, '--json'], environment, within);
}

async function demoCase(): Promise<{ readonly court: string; readonly number: string }> {
  const { court_id: court, docket_number: number } = JSON.parse(await readFile(FIXTURE, 'utf8'));
  return { court, number };
}

/** The case as callers name it. */
export const DEMO_CASE = demoCase();

/** Path of the paid query for it. @param callbackUrl where its answer is pushed too; omitted: nowhere */
export async function demoCasePath(callbackUrl?: string): Promise<string> {
  const { court, number } = await DEMO_CASE;
  const callback = callbackUrl === undefined ? '' : `&callback_url=${encodeURIComponent(callbackUrl)}`;
  return `/v2/case?court_code=${court}&case_id=${encodeURIComponent(number)}${callback}`;
}

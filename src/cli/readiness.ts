/** The readiness of the service that runs here, from its admin port. */
import { z } from 'zod';
import type { Config } from '../config.ts';
import { reachableHost } from '../runtime/listen.ts';
import { dataFolderId } from '../service/data-folder-id.ts';

const Readiness = z.object({
  ready: z.boolean(),
  /** Missing from the answers of older releases. */
  data_folder_id: z.string().nullish(),
  parts: z.record(
    z.string(),
    z.object({
      status: z.string(),
      since: z.string().optional(),
      reason: z.string().nullish(),
      code: z.string().optional(),
      hint: z.string().optional(),
    }),
  ),
});
export type Readiness = z.infer<typeof Readiness>;

const WITHIN_MS = 3_000;

/** Null if no service answers, or if what answers is none. */
export async function askService({ adminHost, adminPort }: Config): Promise<Readiness | null> {
  try {
    const response = await fetch(`http://${reachableHost(adminHost)}:${adminPort}/readyz`, {
      signal: AbortSignal.timeout(WITHIN_MS),
    });
    return Readiness.safeParse(await response.json()).data ?? null;
  } catch {
    return null;
  }
}

/** Whether it serves the data folder of this configuration. */
export const servesFolderOf = ({ dataDirectory }: Config, { data_folder_id: served }: Readiness): boolean =>
  served === undefined || served === dataFolderId(dataDirectory);

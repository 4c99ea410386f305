/** Loads a docket from its stream and the payload store. */

import {
  cleanContent,
  contentIn,
  decodeDetails,
  decodeFilings,
  type FilingContent,
} from '../../dockets/filing-content.ts';
import type { EventLog } from '../../storage/event-log.ts';
import type { PayloadStore } from '../../storage/payload-store.ts';
import { type Loaded, load } from '../handle.ts';
import type { DocketContents } from './compare.ts';
import { docket } from './docket.ts';
import type { DocketState } from './fold.ts';

export interface LoadedDocket extends Loaded<DocketState> {
  readonly contents: DocketContents;
}

/** Blobs in memory at the same time. */
const BLOBS_AT_ONCE = 64;

export async function loadDocket(
  { log, payloads }: { readonly log: EventLog; readonly payloads: PayloadStore },
  stream: string,
): Promise<LoadedDocket> {
  const { state, head } = await load(log, docket, stream);
  return { state, head, contents: await loadContents(payloads, state) };
}

/** Missing content counts as redacted, so that a later snapshot does not restore it. */
async function loadContents(payloads: PayloadStore, state: DocketState): Promise<DocketContents> {
  const idsByBlob = new Map<string, string[]>();
  for (const [filingId, { content }] of state.filings) {
    const ids = idsByBlob.get(content);
    if (ids) ids.push(filingId);
    else idsByBlob.set(content, [filingId]);
  }
  const filings = new Map<string, FilingContent>();
  const names = [...idsByBlob.keys()];
  for (let start = 0; start < names.length; start += BLOBS_AT_ONCE) {
    const batch = names.slice(start, start + BLOBS_AT_ONCE);
    const blobs = await payloads.getMany(batch);
    for (const name of batch) {
      const bytes = blobs.get(name);
      const held = bytes ? decodeFilings(bytes) : new Map<string, FilingContent>();
      for (const filingId of idsByBlob.get(name) ?? []) {
        filings.set(filingId, cleanContent(contentIn(held, filingId)));
      }
    }
  }
  const bytes = state.details ? await payloads.get(state.details.content) : null;
  return { filings, details: bytes ? decodeDetails(bytes) : null };
}

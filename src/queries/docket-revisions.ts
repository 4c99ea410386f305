/** The history of each filing of a docket, read from its stream. Pure. */
import { contentIn, type FilingContent, servedText } from '../dockets/filing-content.ts';
import type { DocketEvent, RecordedFiling } from '../events/docket.ts';
import type { Instant } from '../runtime/instant.ts';

export interface FilingVersion {
  /** When answers could first show it; null if nothing that is served changed. */
  readonly at: Instant | null;
  /** When the source was queried that provided it; null if there was none. */
  readonly askedAt: Instant | null;
  readonly what: 'recorded' | 'revised' | 'merged' | 'withdrawn';
  /** The fields that a revision changed; for a withdrawal, the reason. */
  readonly changed: readonly string[];
  readonly filing: RecordedFiling;
  /** The text at that time; null once the filing is withdrawn, or if its content was removed by an event. */
  readonly text: string | null;
}

export interface FilingRevisions {
  readonly filingId: string;
  readonly withdrawn: boolean;
  /** Oldest first; the last is the current one. */
  readonly versions: readonly FilingVersion[];
}

/** Names of the blobs that contain the filings' texts. */
export const contentNamesOf = (events: readonly DocketEvent[]): readonly string[] => [
  ...new Set(
    events.flatMap(({ type, data }) => (type === 'FilingsRecorded' || type === 'FilingRevised' ? [data.content] : [])),
  ),
];

/** @param contents by blob name; removed content is missing */
export function revisionsOf(
  events: readonly DocketEvent[],
  contents: ReadonlyMap<string, ReadonlyMap<string, FilingContent>>,
): readonly FilingRevisions[] {
  const versions = new Map<string, FilingVersion[]>();
  const withdrawn = new Set<string>();
  const textOf = (name: string, filingId: string): string | null => {
    const content = contentIn(contents.get(name) ?? new Map(), filingId);
    return content.redacted ? null : servedText(content);
  };
  const again = (filingId: string, version: Pick<FilingVersion, 'at' | 'what' | 'changed'>): void => {
    const own = versions.get(filingId);
    const last = own?.at(-1);
    if (own && last) own.push({ ...last, askedAt: null, ...version });
  };
  for (const { type, data } of events) {
    switch (type) {
      case 'FilingsRecorded':
        for (const filing of data.filings) {
          const { filingId, availableAt: at } = filing;
          const text = textOf(data.content, filingId);
          versions.set(filingId, [{ at, askedAt: data.askedAt, what: 'recorded', changed: [], filing, text }]);
        }
        break;
      case 'FilingRevised': {
        const { filing, changed, revisedAt: at, askedAt } = data;
        const text = textOf(data.content, filing.filingId);
        versions.get(filing.filingId)?.push({ at, askedAt, what: 'revised', changed, filing, text });
        break;
      }
      case 'FilingsMerged':
        versions.delete(data.merged);
        again(data.kept, { at: data.revisedAt, what: 'merged', changed: ['availableAt'] });
        break;
      case 'FilingWithdrawn':
        withdrawn.add(data.filingId);
        again(data.filingId, { at: data.revisedAt, what: 'withdrawn', changed: [data.reason] });
        break;
      default:
        break;
    }
  }
  return [...versions].map(([filingId, own]) => ({
    filingId,
    withdrawn: withdrawn.has(filingId),
    versions: withdrawn.has(filingId) ? own.map((version) => ({ ...version, text: null })) : own,
  }));
}

/** An event's mark as a single text. Marks sort by position, so the larger of two is the newer. */
import type { EventMark } from './event-log.ts';

export const markText = ({ position, revision, id, stream }: EventMark): string =>
  `${position} ${revision} ${id} ${stream}`;

/** @throws RangeError for a text that is not a mark */
export function readMark(text: string): EventMark {
  const [, position, revision, id, stream] = /^(\S+) (\d+) (\S+) (.+)$/s.exec(text) ?? [];
  if (!position || !revision || !id || !stream) throw new RangeError(`not an event mark: ${text}`);
  return { position, stream, revision: Number(revision), id };
}

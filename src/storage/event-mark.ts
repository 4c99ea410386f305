/** An event's mark as one text that sorts as its position does, so that the larger of two is the newer. */
import type { EventMark } from './event-log.ts';

export const markText = ({ position, revision, id, stream }: EventMark): string =>
  `${position} ${revision} ${id} ${stream}`;

/** @throws RangeError for a text that is none */
export function readMark(text: string): EventMark {
  const [, position, revision, id, stream] = /^(\S+) (\d+) (\S+) (.+)$/s.exec(text) ?? [];
  if (!position || !revision || !id || !stream) throw new RangeError(`not the mark of an event: ${text}`);
  return { position, stream, revision: Number(revision), id };
}

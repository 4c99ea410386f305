/**
 * Decides whether two texts are the same text, masked by different rules. Where one of them has a mark, the other may
 * have anything: a court's text has not changed because this service hides more or less of it.
 */
import type { Json } from '../events/event.ts';
import type { FilingContent } from './filing-content.ts';

const MARK = /\[[a-z '-]{3,40} removed\]/g;
/** A mark replaces no more tokens than an address has. */
const TOKENS_OF_A_MARK = 60;
/** Above this many comparisons, two texts count as different. */
const MOST_COMPARISONS = 1_000_000;

export const hasMark = (text: string): boolean => text.includes(' removed]');

/** How much of a text is not hidden. */
const shown = (text: string): number => text.replace(MARK, '').length;

const ANYTHING = '\uFFFF';

function tokens(text: string): string[] {
  return text.replace(MARK, ANYTHING).match(/\uFFFF|[\p{L}\p{N}]+|[^\p{L}\p{N}\s]/gu) ?? [];
}

export function sameUnderMasks(a: string, b: string): boolean {
  if (a === b) return true;
  if (!hasMark(a) && !hasMark(b)) return false;
  const [left, right] = withoutCommonEnds(tokens(a), tokens(b));
  if (left.length * right.length > MOST_COMPARISONS) return false;
  const marks = [...left, ...right].filter((token) => token === ANYTHING).length;
  if (Math.abs(left.length - right.length) > marks * TOKENS_OF_A_MARK) return false;
  return unify(left, right);
}

function withoutCommonEnds(a: string[], b: string[]): [string[], string[]] {
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start] && a[start] !== ANYTHING) start++;
  let end = 0;
  const most = Math.min(a.length, b.length) - start;
  while (end < most && a[a.length - 1 - end] === b[b.length - 1 - end] && a[a.length - 1 - end] !== ANYTHING) end++;
  return [a.slice(start, a.length - end), b.slice(start, b.length - end)];
}

/** Whether some text matches both, where `ANYTHING` matches any run of tokens. */
function unify(a: readonly string[], b: readonly string[]): boolean {
  // fits[j]: whether a[i…] and b[j…] can be the same text; rows from the last i to the first.
  let below: boolean[] = [];
  for (let i = a.length; i >= 0; i--) {
    const row: boolean[] = new Array(b.length + 1).fill(false);
    for (let j = b.length; j >= 0; j--) {
      const anyA = a[i] === ANYTHING;
      const anyB = b[j] === ANYTHING;
      if (i === a.length && j === b.length) row[j] = true;
      else if (anyA && (below[j] || (j < b.length && row[j + 1]))) row[j] = true;
      else if (anyB && (row[j + 1] || (i < a.length && below[j]))) row[j] = true;
      else row[j] = i < a.length && j < b.length && a[i] === b[j] && below[j + 1] === true;
    }
    below = row;
  }
  return below[0] === true;
}

/** The content from a source, with the known form of each text that only shows less: masking is not a change. */
export function withKnownMasks(known: FilingContent, said: FilingContent): FilingContent {
  const lists = known.attachments.length === said.attachments.length ? known.attachments : null;
  return {
    ...said,
    description: lessHidden(known.description, said.description),
    shortDescription: lessHidden(known.shortDescription, said.shortDescription),
    filedBy: lessHidden(known.filedBy, said.filedBy),
    attachments: said.attachments.map((one, index) => ({
      ...one,
      description: lessHidden(lists?.[index]?.description ?? null, one.description),
    })),
  };
}

/** Of two maskings of one text, the one that hides less: stored text is masked by today's rules in any case. */
function lessHidden<Text extends string | null>(known: Text, said: Text): Text {
  if (known === null || said === null || !sameUnderMasks(known, said)) return said;
  return shown(said) > shown(known) ? said : known;
}

/** As `sameUnderMasks`, for any field of a filing. */
export function sameValueUnderMasks(a: Json, b: Json): boolean {
  if (typeof a === 'string' && typeof b === 'string') return sameUnderMasks(a, b);
  if (a === null || b === null || typeof a !== 'object' || typeof b !== 'object') return a === b;
  const [left, right] = [Object.entries(a), Object.entries(b)];
  const other = new Map<string, Json>(right);
  return (
    left.length === right.length &&
    left.every(([key, value]) => {
      const opposite = other.get(key);
      return opposite !== undefined && sameValueUnderMasks(value, opposite);
    })
  );
}

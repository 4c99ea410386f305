/**
 * Scores the masking of personal details against labelled texts. A text marks a detail as `{kind|detail}`. Recall: the
 * share of details of which no letter or digit remains. Precision: the share of maskings that name the right kind and
 * remove nothing but details.
 */

/** Maps the mark that masking leaves to the corpus's name for that kind. */
const KIND_OF_MARK = new Map([
  ['address removed', 'address'],
  ['telephone number removed', 'phone'],
  ['e-mail address removed', 'email'],
  ['social security number removed', 'ssn'],
  ['social insurance number removed', 'ssn'],
  ['taxpayer number removed', 'taxpayer'],
  ['alien registration number removed', 'alien'],
  ['passport number removed', 'passport'],
  ["driver's license number removed", 'licence'],
  ['account number removed', 'account'],
  ['date of birth removed', 'dob'],
]);
export const KINDS = [...new Set(KIND_OF_MARK.values())];

/** Reads the corpus: tab separated, columns id, split (`tune` or `held-out`), country (`US` or `CA`), text. */
export function readCorpus(content) {
  const [, ...lines] = content.split('\n');
  return lines
    .filter((line) => line !== '')
    .map((line) => {
      const [id, split, country, marked] = line.split('\t');
      let text = '';
      const details = [];
      for (const [, before, kind, detail] of marked.matchAll(/([^{]*)(?:\{(\w+)\|([^}]*)\})?/gu)) {
        text += before;
        if (kind === undefined) continue;
        details.push({ kind, start: text.length, end: text.length + detail.length });
        text += detail;
      }
      return { id, split, country, text, details };
    });
}

const MARK = new RegExp(`\\[(${[...KIND_OF_MARK.keys()].join('|')})\\]`, 'gu');

/**
 * The parts of `text` that marks replace in `masked`; null if the rest of `masked` differs from the text. If the text
 * between two marks occurs in several places, the choice is the one where most parts begin and end as details do.
 */
function removals(text, masked, details) {
  const marks = [...masked.matchAll(MARK)];
  const ends = [...marks.map(({ index }) => index), masked.length];
  const literals = ends.map((end, index) =>
    masked.slice(index === 0 ? 0 : marks[index - 1].index + marks[index - 1][0].length, end),
  );
  const edges = new Set(details.flatMap(({ start, end }) => [start, end]));
  const best = (index, from) => {
    const literal = literals[index];
    if (index === marks.length) {
      const start = text.length - literal.length;
      return start >= from && text.endsWith(literal) ? { starts: [start], score: edges.has(start) ? 1 : 0 } : null;
    }
    let found = null;
    for (let at = text.indexOf(literal, from); at !== -1; at = text.indexOf(literal, at + 1)) {
      const rest = best(index + 1, at + literal.length);
      const score = (rest?.score ?? 0) + (edges.has(at) ? 1 : 0) + (edges.has(at + literal.length) ? 1 : 0);
      if (rest && (found === null || score > found.score)) found = { starts: [at, ...rest.starts], score };
      if (index === 0) break;
    }
    return found;
  };
  if (marks.length === 0) return masked === text ? [] : null;
  if (!text.startsWith(literals[0])) return null;
  const found = best(0, 0);
  return (
    found &&
    marks.map(({ 1: name }, index) => ({
      kind: KIND_OF_MARK.get(name),
      start: found.starts[index] + literals[index].length,
      end: found.starts[index + 1],
    }))
  );
}

const SAYS_SOMETHING = /[\p{L}\p{N}]/u;

/** @param mask `(text, country) => masked text` */
export function scoreMasking(entries, mask) {
  const kinds = new Map(KINDS.map((kind) => [kind, { details: 0, hidden: 0, maskings: 0, right: 0 }]));
  const faults = [];
  for (const { id, text, country, details } of entries) {
    const masked = mask(text, country);
    const removed = removals(text, masked, details);
    if (removed === null) throw new Error(`${id}: the masked text is not the text with marks in it: ${masked}`);
    const characters = (from, to, within) => {
      for (let at = from; at < to; at += 1) {
        if (SAYS_SOMETHING.test(text[at]) && !within.some(({ start, end }) => at >= start && at < end)) return false;
      }
      return true;
    };
    for (const { kind, start, end } of details) {
      const counts = kinds.get(kind);
      counts.details += 1;
      if (characters(start, end, removed)) counts.hidden += 1;
      else faults.push({ id, kind, fault: 'shown', detail: text.slice(start, end), masked });
    }
    for (const { kind, start, end } of removed) {
      const counts = kinds.get(kind);
      counts.maskings += 1;
      const named = details.some((one) => one.kind === kind && one.start < end && one.end > start);
      if (named && characters(start, end, details)) counts.right += 1;
      else faults.push({ id, kind, fault: 'wrong', detail: text.slice(start, end), masked });
    }
  }
  const sum = (field) => [...kinds.values()].reduce((total, counts) => total + counts[field], 0);
  const all = { details: sum('details'), hidden: sum('hidden'), maskings: sum('maskings'), right: sum('right') };
  return { kinds, all, recall: all.hidden / all.details, precision: all.right / all.maskings, faults };
}

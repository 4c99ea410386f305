/** JSON text with gaps: made once from an answer, filled in for each call. */

/** What each call fills in itself, by the marks that stand for it while the answer is composed. */
export const MARKS = {
  requestId: '\u0001request id\u0001',
  now: '\u0001now\u0001',
  tag: '\u0001tag\u0001',
  caseId: '\u0001case id\u0001',
  courtCode: '\u0001court code\u0001',
  caseNumber: '\u0001case number\u0001',
  courtName: '\u0001court name\u0001',
  since: '\u0001since\u0001',
} as const;

export type Gap = keyof typeof MARKS;

/** JSON text for every gap. */
export type Filling = Readonly<Record<Gap, string>>;

/** Text, gap, text, gap, …, text. */
export interface Template {
  readonly texts: readonly string[];
  readonly gaps: readonly Gap[];
}

const GAPS = Object.keys(MARKS) as Gap[];
const GAP_OF_MARK = new Map<string, Gap>(GAPS.map((gap) => [JSON.stringify(MARKS[gap]), gap]));
const ANY_MARK = /("\\u0001[a-z ]+\\u0001")/;

/** @param json text in which marks stand as values */
export function templateOf(json: string): Template {
  const pieces = json.split(ANY_MARK);
  return {
    texts: pieces.filter((_, index) => index % 2 === 0),
    gaps: pieces.filter((_, index) => index % 2 === 1).flatMap((mark) => GAP_OF_MARK.get(mark) ?? []),
  };
}

export function fillIn({ texts, gaps }: Template, filling: Filling): string {
  let text = texts[0] ?? '';
  for (let index = 0; index < gaps.length; index++) {
    const gap = gaps[index];
    if (gap !== undefined) text += filling[gap] + texts[index + 1];
  }
  return text;
}

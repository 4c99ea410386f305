/** JSON text with gaps: made once from an answer and filled in for each call. */

/** Placeholders for the values of a call while an answer is composed. */
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

/** @param json text that contains marks as values */
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

/** The gaps that differ between calls; most callers send no tag. */
export type CallGap = 'requestId' | 'now' | 'tag';

/** Larger answers are not kept as bytes, since there may be many of them. */
const MOST_PRESSED_BYTES = 64 * 1024;

/** JSON text of a fixed width. */
const BLANK = { requestId: `"${' '.repeat(36)}"`, now: `"${' '.repeat(27)}"` } as const;

/** An answer without a tag as bytes: each call copies them and overwrites its own values. */
export type Pressed = (requestId: string, now: string) => Buffer;

/** Null if the answer is too large. @param always fills every gap that is the same for all calls */
export function press(templates: readonly Template[], ending: string, always: Omit<Filling, CallGap>): Pressed | null {
  const places: { readonly gap: keyof typeof BLANK; readonly offset: number }[] = [];
  const parts: Buffer[] = [];
  let length = 0;
  const add = (text: string): void => {
    const bytes = Buffer.from(text);
    parts.push(bytes);
    length += bytes.length;
  };
  for (const { texts, gaps } of templates) {
    add(texts[0] ?? '');
    for (const [index, gap] of gaps.entries()) {
      if (gap === 'requestId' || gap === 'now') {
        places.push({ gap, offset: length + 1 });
        add(BLANK[gap]);
      } else {
        add(gap === 'tag' ? 'null' : always[gap]);
      }
      add(texts[index + 1] ?? '');
    }
  }
  add(ending);
  if (length > MOST_PRESSED_BYTES) return null;
  const whole = Buffer.concat(parts);
  return (requestId, now) => {
    const bytes = Buffer.allocUnsafe(length);
    whole.copy(bytes);
    for (const { gap, offset } of places) bytes.write(gap === 'now' ? now : requestId, offset, 'latin1');
    return bytes;
  };
}

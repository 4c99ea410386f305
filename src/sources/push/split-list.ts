/**
 * Splits a JSON list into the bytes of its items while it is read, so that a list of any length needs only the memory of
 * its largest item, and one bad item leaves the others whole. A value that is no list is passed on as it is.
 */

/** An item of a list, or the whole value. */
export type SplitValue =
  | { readonly index: number | null; readonly bytes: Buffer }
  /** The text is not one list: what follows cannot be read. */
  | { readonly index: number | null; readonly why: string };

const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT, COMMA, QUOTE, BACKSLASH] = [...Buffer.from('[]{},"\\')] as [
  number,
  number,
  number,
  number,
  number,
  number,
  number,
];
const BYTE_ORDER_MARK = Buffer.from('\uFEFF');
const isSpace = (byte: number): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

export async function* splitList(stream: AsyncIterable<Buffer>): AsyncGenerator<SplitValue> {
  const splitter = new Splitter();
  for await (const chunk of stream) {
    yield* splitter.take(chunk);
    if (splitter.hasFailed) return;
  }
  yield* splitter.end();
}

class Splitter {
  hasFailed = false;
  #state: 'before' | 'single' | 'list' | 'after' = 'before';
  #parts: Buffer[] = [];
  #index = 0;
  /** Of brackets and braces inside the item. */
  #depth = 0;
  #inText = false;
  #isEscaped = false;
  #isBlank = true;

  *take(chunk: Buffer): Generator<SplitValue> {
    let start = 0;
    if (this.#state === 'before') {
      start = this.#begin(chunk);
      if (start === -1) return;
    }
    if (this.#state === 'single') {
      this.#parts.push(chunk.subarray(start));
      return;
    }
    for (let at = start; at < chunk.length; at++) {
      const byte = chunk[at] as number;
      if (this.#state === 'after') {
        if (isSpace(byte)) continue;
        this.hasFailed = true;
        yield {
          index: null,
          why: 'is followed by more text after the end of the list: for one docket per line, send NDJSON',
        };
        return;
      }
      if (this.#inText) {
        if (this.#isEscaped) this.#isEscaped = false;
        else if (byte === BACKSLASH) this.#isEscaped = true;
        else if (byte === QUOTE) this.#inText = false;
        continue;
      }
      if (isSpace(byte)) continue;
      const isEnd = this.#depth === 0 && (byte === COMMA || byte === CLOSE_LIST);
      if (!isEnd) {
        this.#isBlank = false;
        if (byte === QUOTE) this.#inText = true;
        else if (byte === OPEN_LIST || byte === OPEN_OBJECT) this.#depth++;
        else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) this.#depth = Math.max(0, this.#depth - 1);
        continue;
      }
      this.#parts.push(chunk.subarray(start, at));
      start = at + 1;
      yield* this.#item(byte === CLOSE_LIST);
      if (byte === CLOSE_LIST) this.#state = 'after';
    }
    if (this.#state === 'list') this.#parts.push(chunk.subarray(start));
  }

  *end(): Generator<SplitValue> {
    if (this.#state === 'after') return;
    if (this.#state === 'list') yield { index: this.#index, why: 'is cut off: the list has no end' };
    else yield { index: null, bytes: Buffer.concat(this.#parts) };
  }

  /** @returns where the items of the list begin, or the single value; -1 while only space has come */
  #begin(chunk: Buffer): number {
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at] as number;
      if (isSpace(byte) || BYTE_ORDER_MARK.includes(byte)) continue;
      this.#state = byte === OPEN_LIST ? 'list' : 'single';
      return byte === OPEN_LIST ? at + 1 : at;
    }
    return -1;
  }

  *#item(isLast: boolean): Generator<SplitValue> {
    const [bytes, isBlank] = [Buffer.concat(this.#parts), this.#isBlank];
    this.#parts = [];
    this.#isBlank = true;
    if (isBlank && isLast && this.#index === 0) {
      yield { index: null, why: 'is an empty list' };
      return;
    }
    yield { index: this.#index, bytes };
    this.#index++;
  }
}

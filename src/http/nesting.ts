/** The nesting depth of a JSON text's brackets, ignoring those in strings; checked before the value is parsed. */
export function nestingOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  let inString = false;
  for (let index = 0; index < text.length; index++) {
    const character = text.charCodeAt(index);
    if (inString) {
      if (character === BACKSLASH) index++;
      else if (character === QUOTE) inString = false;
    } else if (character === QUOTE) {
      inString = true;
    } else if (character === OPENING_BRACKET || character === OPENING_BRACE) {
      deepest = Math.max(deepest, ++depth);
    } else if (character === CLOSING_BRACKET || character === CLOSING_BRACE) {
      depth--;
    }
  }
  return deepest;
}

const [QUOTE, BACKSLASH, OPENING_BRACKET, CLOSING_BRACKET, OPENING_BRACE, CLOSING_BRACE] = [
  ...Buffer.from('"\\[]{}'),
] as [number, number, number, number, number, number];

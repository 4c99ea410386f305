/** Reads a JSON body strictly: rejects whatever another parser could read differently. */
import { isUtf8 } from 'node:buffer';
import { nestingOf } from '../nesting.ts';

/** No valid request is nested half as deep, and deeper values could exhaust the stack of later code. */
const MAX_NESTING = 32;
/** Most repeated members that are named, so that an error is not larger than its request. */
const MAX_REPEATED = 20;

export type JsonBody =
  | {
      readonly value: unknown;
      /** Paths of members that occur twice in an object: `JSON.parse` silently keeps the last one. */
      readonly repeated: readonly string[];
    }
  /** The rule that the whole body breaks. */
  | { readonly fault: string };

/** Reads the bytes of a body. Never throws. */
export function readJsonBody(bytes: Buffer): JsonBody {
  if (!isUtf8(bytes)) return { fault: 'Send JSON in UTF-8.' };
  const text = bytes.toString('utf8').replace(/^\ufeff/, '');
  if (nestingOf(text) > MAX_NESTING) return { fault: `Nest at most ${MAX_NESTING} levels.` };
  try {
    const value: unknown = JSON.parse(text);
    return { value, repeated: repeatedMembers(text) };
  } catch {
    return { fault: 'Send well-formed JSON.' };
  }
}

interface Frame {
  /** Member names of the object so far; null in an array. */
  readonly names: Set<string> | null;
  /** The current member's name, or the current element's index. */
  at: string | number;
}

/** @param text well-formed JSON */
function repeatedMembers(text: string): readonly string[] {
  const repeated: string[] = [];
  const frames: Frame[] = [];
  let expectsName = false;
  for (let index = 0; index < text.length && repeated.length < MAX_REPEATED; index++) {
    const frame = frames.at(-1);
    switch (text[index]) {
      case '{':
        frames.push({ names: new Set(), at: '' });
        expectsName = true;
        break;
      case '[':
        frames.push({ names: null, at: 0 });
        expectsName = false;
        break;
      case '}':
      case ']':
        frames.pop();
        expectsName = false;
        break;
      case ',':
        expectsName = frame?.names instanceof Set;
        if (frame && typeof frame.at === 'number') frame.at += 1;
        break;
      case '"': {
        const end = endOfString(text, index);
        if (expectsName && frame?.names) {
          const name: string = JSON.parse(text.slice(index, end + 1));
          frame.at = name;
          if (frame.names.has(name)) repeated.push(pathOf(frames));
          frame.names.add(name);
        }
        expectsName = false;
        index = end;
        break;
      }
    }
  }
  return repeated;
}

function endOfString(text: string, start: number): number {
  let index = start + 1;
  while (index < text.length && text[index] !== '"') index += text[index] === '\\' ? 2 : 1;
  return index;
}

const pathOf = (frames: readonly Frame[]): string =>
  frames.reduce((path, { at }) => (typeof at === 'number' ? `${path}[${at}]` : path === '' ? at : `${path}.${at}`), '');

/** Where two documents differ, field by field, in a form that a person can read. Pure. */
import { isJsonObject, type Json } from '../events/event.ts';

export interface FieldDifference {
  /** Path of the field, such as `filings[2].title`; empty for the whole document. */
  readonly path: string;
  /** JSON, shortened; null where the field is missing. */
  readonly from: string | null;
  readonly to: string | null;
}

const MOST_FIELDS = 20;
const MOST_CHARACTERS = 200;

/** The first differing fields. Undefined or null means that there is no document. */
export function fieldDifferences(from: Json | undefined, to: Json | undefined): readonly FieldDifference[] {
  const found: FieldDifference[] = [];
  compare(from ?? undefined, to ?? undefined, '', found);
  return found;
}

function compare(from: Json | undefined, to: Json | undefined, path: string, found: FieldDifference[]): void {
  if (found.length >= MOST_FIELDS || from === to) return;
  if (isList(from) && isList(to)) {
    for (let index = 0; index < Math.max(from.length, to.length); index++) {
      compare(from[index], to[index], `${path}[${index}]`, found);
    }
    return;
  }
  if (isJsonObject(from) && isJsonObject(to)) {
    for (const key of [...new Set([...Object.keys(from), ...Object.keys(to)])].sort()) {
      const own = (of: { readonly [key: string]: Json }) => (Object.hasOwn(of, key) ? of[key] : undefined);
      compare(own(from), own(to), path === '' ? key : `${path}.${key}`, found);
    }
    return;
  }
  found.push({ path, from: shown(from), to: shown(to) });
}

const isList = (value: Json | undefined): value is readonly Json[] => Array.isArray(value);

function shown(value: Json | undefined): string | null {
  if (value === undefined) return null;
  const text = JSON.stringify(value);
  return text.length <= MOST_CHARACTERS ? text : `${text.slice(0, MOST_CHARACTERS)}… (${text.length} characters)`;
}

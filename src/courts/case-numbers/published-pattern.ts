/** The grammar of every court without one of its own: a lenient reading of its published pattern. */
import type { CaseNumber, Court } from '../court.ts';
import { type Grammar, plainNumber } from './grammar.ts';

const ANYTHING = /^[A-Za-z0-9][A-Za-z0-9 .,:/()-]{0,63}$/;

export const publishedPatternGrammar: Grammar = ({ text }, court) => {
  const pattern = patternOf(court);
  if (pattern === null) return ANYTHING.test(text) ? plainNumber(text) : null;
  return asPublished(text, pattern, court);
};

function asPublished(text: string, pattern: CompiledPattern, court: Court): CaseNumber | null {
  // One form may parse into a better one, so repeat until it no longer changes.
  let form = courtsForm(text, pattern, court.example ?? '');
  for (let round = 0; form !== null && round < MAX_ROUNDS; round += 1) {
    const again = courtsForm(form, pattern, court.example ?? '');
    if (again === form) return plainNumber(form);
    form = again;
  }
  return null;
}

const MAX_ROUNDS = 4;

const PIECES = /\d+|[A-Za-z]+/g;
/** Characters that do not separate the pieces of a number. */
const OTHER = /[^A-Za-z0-9 ./,:()-]/;
const YEAR = /^(?:19|20)\d\d$/;
/** The registry's examples are from these years. */
const SHORT_YEAR = /^2[3-6]$/;

/**
 * If the pattern rejects a number as typed, rewrites it like the court's example: the same pieces, with the example's
 * separators, leading zeros and two- or four-digit year. Only zeros and a century are added or removed.
 */
export const exampleGrammar: Grammar = ({ text }, court) => {
  const pattern = patternOf(court);
  const example = court.example ?? '';
  const [own, typed] = [example.match(PIECES) ?? [], text.match(PIECES) ?? []];
  if (pattern === null || own.length !== typed.length || own.length === 0 || OTHER.test(text)) return null;
  const separators = example.split(PIECES);
  const pieces = typed.map((piece, at) => pieceLike(piece, own[at] ?? ''));
  return asPublished(separators.map((separator, at) => separator + (pieces[at] ?? '')).join(''), pattern, court);
};

function pieceLike(typed: string, own: string): string {
  const isNumber = /^\d/.test(own);
  if (isNumber !== /^\d/.test(typed)) return typed;
  if (!isNumber) return inCaseOf(typed, own);
  if (YEAR.test(own) && typed.length === 2) return `${Number(typed) < 50 ? '20' : '19'}${typed}`;
  if (SHORT_YEAR.test(own) && YEAR.test(typed)) return typed.slice(-2);
  return typed.replace(/^0+(?=\d)/, '').padStart(own.length, '0');
}

function courtsForm(text: string, pattern: CompiledPattern, example: string): string | null {
  for (const form of separatorForms(text, example)) {
    if (!pattern.anyCase.test(form)) continue;
    return letterCases(form, example).find((cased) => pattern.exact.test(cased)) ?? form;
  }
  return null;
}

interface CompiledPattern {
  readonly exact: RegExp;
  readonly anyCase: RegExp;
}

// Compiled when a court is first requested: two thousand patterns would slow down every start.
const compiled = new Map<string, CompiledPattern>();

function patternOf({ pattern }: Court): CompiledPattern | null {
  if (pattern === null) return null;
  let known = compiled.get(pattern);
  if (known === undefined) {
    known = { exact: new RegExp(`^(?:${pattern})$`), anyCase: new RegExp(`^(?:${pattern})$`, 'i') };
    compiled.set(pattern, known);
  }
  return known;
}

const SEPARATORS = /[ ./,:-]+/g;

/**
 * The possible separators of a number, the court's own first: replaced one by one by those of the example, then as
 * typed, then joined by dashes, then without spaces.
 */
function separatorForms(text: string, example: string): readonly string[] {
  const own = example.match(SEPARATORS) ?? [];
  const typed = text.match(SEPARATORS) ?? [];
  let next = 0;
  const asInExample = own.length === typed.length ? text.replace(SEPARATORS, () => own[next++] ?? '') : text;
  return [asInExample, text, text.replace(/ ?[ /-] ?/g, '-'), text.replaceAll(' ', '')];
}

/** The possible letter cases of a number, the court's own first. */
function letterCases(text: string, example: string): readonly string[] {
  const own = example.match(/[A-Za-z]+/g) ?? [];
  let next = 0;
  const asInExample = text.replace(/[A-Za-z]+/g, (letters) => inCaseOf(letters, own[next++] ?? 'A'));
  return [asInExample, text, text.toUpperCase(), text.toLowerCase()];
}

function inCaseOf(letters: string, model: string): string {
  if (model === model.toUpperCase()) return letters.toUpperCase();
  if (model === model.toLowerCase()) return letters.toLowerCase();
  return `${letters.slice(0, 1).toUpperCase()}${letters.slice(1).toLowerCase()}`;
}

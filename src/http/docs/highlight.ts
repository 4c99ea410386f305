/** Syntax highlighting without a script: comments, strings, numbers and keywords. */
import { Html, html } from './html.ts';

const STRING = /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`/;
const NUMBER = /\b\d[\d_.]*n?\b/;
const JS_WORD =
  /\b(?:import|from|export|function|return|const|let|new|await|async|if|throw|for|of|do|while|undefined|null|true|false)\b/;

interface Language {
  readonly comment?: RegExp;
  readonly string?: RegExp;
  readonly word?: RegExp;
  readonly number?: RegExp;
}

const LANGUAGES: Readonly<Record<string, Language>> = {
  js: { comment: /\/\/[^\n]*/, string: STRING, word: JS_WORD, number: NUMBER },
  json: { string: /"(?:\\.|[^"\\\n])*"/, word: /\b(?:true|false|null)\b/, number: NUMBER },
  sh: { comment: /(?<=^|\s)#[^\n]*/, string: STRING },
  http: { word: /^[A-Za-z0-9-]+(?=:)/m },
};

/** Code as escaped markup; without colors if the language is unknown. */
export function highlighted(code: string, language: string | undefined): Html {
  const rules = LANGUAGES[language ?? ''];
  if (!rules) return html`${code}`;
  const kinds = Object.entries(rules) as [string, RegExp][];
  const pattern = new RegExp(kinds.map(([kind, { source }]) => `(?<${kind}>${source})`).join('|'), 'gm');
  let markup = '';
  let end = 0;
  for (const match of code.matchAll(pattern)) {
    const [kind = ''] = Object.entries(match.groups ?? {}).find(([, text]) => text !== undefined) ?? [];
    markup += html`${code.slice(end, match.index)}<span class="${kind}">${match[0]}</span>`.markup;
    end = match.index + match[0].length;
  }
  return new Html(markup + html`${code.slice(end)}`.markup);
}

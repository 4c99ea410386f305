/** HTML templates that escape every value, so that no text can become markup. */
import { escapeHtml } from '../../runtime/escape-html.ts';

/** Markup created here, which is not escaped again. */
export class Html {
  constructor(readonly markup: string) {}
}

type Value = string | number | Html | readonly Html[];

function markupOf(value: Value): string {
  if (value instanceof Html) return value.markup;
  if (typeof value === 'object') return value.map(({ markup }) => markup).join('');
  return escapeHtml(String(value));
}

/** @example html`<p>${text}</p>` */
export const html = (parts: TemplateStringsArray, ...values: readonly Value[]): Html =>
  new Html(parts.reduce((whole, part, i) => `${whole}${markupOf(values[i - 1] ?? '')}${part}`));

/** A plain sentence in which `quoted` pieces become code. */
export const prose = (text: string): Html =>
  new Html(escapeHtml(text).replace(/`([^`]+)`/g, (_whole, code: string) => `<code>${code}</code>`));

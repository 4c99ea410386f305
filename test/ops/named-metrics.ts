/** The metrics and labels that a PromQL expression names. */

export interface NamedMetric {
  readonly name: string;
  readonly labels: readonly string[];
}

/** Names are told from functions and labels by their prefix. */
const SELECTOR = /\b((?:docket|nodejs|process)_[a-z0-9_]+)(?:\{([^}]*)\})?/g;
const LABEL = /([a-z_]+)\s*(?:=~|!~|!=|=)/g;
const GROUPING = /\b(?:by|on|without)\s*\(([^)]*)\)/g;

/** Labels that Prometheus adds to every sample, or that PromQL itself uses. */
export const FROM_PROMETHEUS: ReadonlySet<string> = new Set(['job', 'instance', 'le']);

export const metricsIn = (expression: string): readonly NamedMetric[] =>
  [...expression.matchAll(SELECTOR)].map(([, name = '', matchers = '']) => ({
    name,
    labels: [...matchers.replace(/"[^"]*"/g, '""').matchAll(LABEL)].map(([, label = '']) => label),
  }));

export const groupedBy = (expression: string): readonly string[] =>
  [...expression.matchAll(GROUPING)].flatMap(([, labels = '']) => labels.split(',').map((label) => label.trim()));

/** The family of a sample: a histogram's samples have suffixes. */
export const familyOf = (name: string, families: ReadonlyMap<string, string>): string => {
  const base = name.replace(/_(?:bucket|sum|count)$/, '');
  return ['histogram', 'summary'].includes(families.get(base) ?? '') ? base : name;
};

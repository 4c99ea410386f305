/** The parameters of a query on one case, as a model reads them. */
import type { Parameters } from '../parameters.ts';

export const CASE_ID = {
  type: 'string',
  description:
    'Case number as the court writes it, e.g. 3:24-cv-01234. service_court_list shows the form of each court.',
  required: true,
  example: '3:24-cv-01234',
} as const;

export const COURT_CODE = {
  type: 'string',
  description: 'Lowercase court code, e.g. cand. service_court_list finds it by name.',
  required: true,
  example: 'cand',
} as const;

export const LAST_CHECKED = {
  type: 'string',
  description:
    'ISO-8601 with offset, e.g. 2026-03-01T12:00:00Z; best is meta.queried_at of your previous answer, unchanged.',
  example: '2026-03-01T12:00:00Z',
} as const;

/** Also the parameters of each query of a batch. */
export const CASE_PARAMETERS: Parameters = {
  case_id: CASE_ID,
  court_code: COURT_CODE,
  last_checked: { ...LAST_CHECKED, description: `Gives delta: what is new since then. ${LAST_CHECKED.description}` },
  context: {
    type: 'string',
    description: 'full adds all parties with attorneys, cross-references and the whole docket; same price, long.',
    values: ['basic', 'full'],
    default: 'basic',
    example: 'full',
  },
  language: {
    type: 'string',
    description: 'Of names and texts, where the court has both.',
    values: ['en', 'fr'],
    example: 'fr',
  },
  filing_types: {
    type: 'string',
    listed: true,
    description: 'Filters delta: types separated by commas, e.g. motion,order; a list of them is accepted too.',
    example: 'motion,order',
  },
};

/** The arguments that REST accepts unchanged. */
export function texts(
  values: ReadonlyMap<string, unknown>,
  names: readonly string[],
): Readonly<Record<string, string | undefined>> {
  return Object.fromEntries(
    names.map((name) => {
      const value = values.get(name);
      return [name, typeof value === 'string' ? value : undefined];
    }),
  );
}

/** Canadian courts whose numbers are typed in more ways than their published pattern covers. */
import { type Form, grammarOfForms } from './form.ts';
import { padded, setAside, shortYear } from './grammar.ts';

const YEAR = '(?<year>(?:19|20)\\d{2}|\\d{2})';

const FORMS: readonly Form[] = [
  { courts: /^scc$/, read: /^(?<head>\d{2}),? ?(?<tail>\d{3})$/, write: ({ head, tail }) => `${head}${tail}` },
  {
    courts: /^(?:fct|fca)$/,
    read: new RegExp(`^(?<type>A|T|IMM|ITA|GST|DES|CONF|SIR)[ -](?<sequence>\\d{1,5})[ -]${YEAR}$`, 'i'),
    write: ({ type = '', sequence = '', year = '' }, court) =>
      (type === 'A') === (court.code === 'fca')
        ? { canonical: `${type}-${padded(sequence, 1)}-${shortYear(year)}`, caseType: type.toLowerCase() }
        : null,
  },
  {
    courts: /^tcc$/,
    read: /^(?<year>\d{4})-(?<sequence>\d{1,5}) ?\((?<act>IT|GST|EI|CPP|OAS|CCRA)\) ?(?<procedure>G|I|APP)?$/i,
    write: ({ year, sequence = '', act, procedure }) => `${year}-${padded(sequence, 1)}(${act})${procedure}`,
  },
  {
    // The suffix is documented to be 0000 if none is written; 00CL and 00CP are never invented.
    courts: /^on_(?:scj|divisional|smallclaims)$/,
    read: new RegExp(`^(?<type>[A-Z]{2})-${YEAR}-(?<sequence>\\d{1,8})(?:-(?<part>\\d{2}[0-9A-Z]{2}))?$`, 'i'),
    write: ({ type, year = '', sequence = '', part }) =>
      `${type}-${shortYear(year)}-${padded(sequence, 8)}-${part || '0000'}`,
  },
  {
    courts: /^bc_sc$/,
    read: /^(?:(?<registry>[A-Z]{3}-[A-Z])-)?(?<type>[A-Z])-?(?<sequence>\d{6})$/i,
    write: ({ registry, type, sequence }) => ({ canonical: `${type}-${sequence}`, setAside: setAside(registry) }),
  },
];

export const canadianCourtGrammar = grammarOfForms(FORMS);

/** The requirements on a registry before it may be used (docs/design/interface.md#1; docs/design/dockets.md#courts). */
import type { Court } from './court.ts';

const CODE = /^[a-z][a-z0-9]*(_[a-z]+)?$/;
const REGION = /^[A-Z]{2}$/;

const WORDS = {
  country: ['US', 'CA'],
  level: ['supreme', 'appellate', 'trial', 'bankruptcy', 'special'],
  language: ['en', 'fr', 'bilingual'],
  coverage: ['full', 'partial', 'planned'],
} as const satisfies Partial<Record<keyof Court, readonly string[]>>;

interface Total {
  readonly of: string;
  readonly expected: number;
  counts(court: Court): boolean;
}

const isFederal = (court: Court): boolean => court.system.startsWith('US federal');
const stateCourt = (court: Court, state: string, coverage: string): boolean =>
  court.region === state && court.country === 'US' && !isFederal(court) && court.coverage === coverage;

const TOTALS: readonly Total[] = [
  { of: 'courts', expected: 2150, counts: () => true },
  { of: 'Oklahoma courts, full', expected: 80, counts: (court) => stateCourt(court, 'OK', 'full') },
  { of: 'West Virginia courts, partial', expected: 57, counts: (court) => stateCourt(court, 'WV', 'partial') },
  { of: 'Texas courts, planned', expected: 37, counts: (court) => stateCourt(court, 'TX', 'planned') },
  { of: 'planned courts', expected: 39, counts: (court) => court.coverage === 'planned' },
  {
    of: 'planned courts of Quebec (qc_cs, qc_ca)',
    expected: 2,
    counts: ({ code, coverage }) => (code === 'qc_cs' || code === 'qc_ca') && coverage === 'planned',
  },
  { of: 'US federal courts', expected: 220, counts: isFederal },
  { of: 'Canadian courts', expected: 51, counts: (court) => court.country === 'CA' },
];

/** Returns every fault of a registry at once, each as a sentence that names its court; none for a valid one. */
export function registryFaults(courts: readonly Court[]): string[] {
  return [
    ...courts.flatMap((court) => courtFaults(court).map((fault) => `${court.code || '(no code)'}: ${fault}`)),
    ...sharedNames(courts),
    ...TOTALS.flatMap(({ of, expected, counts }) => {
      const actual = courts.filter(counts).length;
      return actual === expected ? [] : [`${of}: ${actual} instead of ${expected}`];
    }),
  ];
}

function courtFaults(court: Court): string[] {
  const faults: string[] = [];
  if (!CODE.test(court.code)) faults.push('the code is not lower-case letters with at most one underscore');
  for (const alias of court.aliases)
    if (!CODE.test(alias)) faults.push(`the alias ${alias} does not have the form of a code`);
  if (court.name.trim() === '' || court.system.trim() === '') faults.push('name or system is missing');
  if (court.region !== null && !REGION.test(court.region)) faults.push(`the region ${court.region} is not two letters`);
  if (court.region === null && !court.system.includes('federal'))
    faults.push('a court of a state or province has no region');
  for (const key of ['country', 'level', 'language', 'coverage'] as const) {
    const allowed: readonly string[] = WORDS[key];
    if (!allowed.includes(court[key])) faults.push(`${key} ${court[key]} is not one of ${allowed.join(', ')}`);
  }
  if (!isTimeZone(court.timeZone)) faults.push(`the time zone ${court.timeZone} is unknown`);
  return [...faults, ...patternFaults(court)];
}

function patternFaults({ pattern, example }: Court): string[] {
  if (pattern === null) return example === null ? [] : ['an example without a pattern'];
  if (example === null) return ['a pattern without an example'];
  try {
    return new RegExp(`^(?:${pattern})$`).test(example) ? [] : [`the example ${example} does not fit ${pattern}`];
  } catch {
    return [`the pattern ${pattern} is not a regular expression`];
  }
}

function sharedNames(courts: readonly Court[]): string[] {
  const owners = new Map<string, string>();
  const faults: string[] = [];
  for (const { code, aliases } of courts) {
    for (const name of [code, ...aliases]) {
      const owner = owners.get(name);
      if (owner !== undefined) faults.push(`${code}: the name ${name} already means ${owner}`);
      else owners.set(name, code);
    }
  }
  return faults;
}

// Looking up a zone is slow, and two thousand courts share two dozen of them.
const knownZones = new Map<string, boolean>();

function isTimeZone(name: string): boolean {
  let known = knownZones.get(name);
  if (known === undefined) {
    known = isNamedZone(name);
    knownZones.set(name, known);
  }
  return known;
}

function isNamedZone(name: string): boolean {
  // Offsets such as `+02:00` would pass as zones, but they have no daylight saving time.
  if (!name.includes('/')) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/**
 * Postal addresses as dockets write them. An address that ends in a city, state and postal code is recognised by these,
 * with any street name. Without them, only a street with a common street type counts.
 */
import { ADDRESS_REMOVED, caseless, type MaskRule, NOT_A_COMPANY } from './mask-rule.ts';

const STATE_CODE =
  '(?:A[KLRZ]|C[AOT]|D[CE]|FL|G[AU]|HI|I[ADLN]|K[SY]|LA|M[ADEINOPST]|N[CDEHJMVY]|O[HKR]|P[AR]|RI|S[CD]|T[NX]|UT|V[AIT]|W[AIVY])';
const STATE_NAME = caseless(
  '(?:alabama|alaska|arizona|arkansas|california|colorado|connecticut|delaware|district of columbia|florida|georgia|hawai\\x27?i|idaho|illinois|indiana|iowa|kansas|kentucky|louisiana|maine|maryland|massachusetts|michigan|minnesota|mississippi|missouri|montana|nebraska|nevada|new hampshire|new jersey|new mexico|new york|north carolina|north dakota|ohio|oklahoma|oregon|pennsylvania|puerto rico|rhode island|south carolina|south dakota|tennessee|texas|utah|vermont|virginia|washington|west virginia|wisconsin|wyoming|guam|virgin islands|u\\.s\\. virgin islands)',
);
/** Older abbreviations than the postal ones. */
const STATE_SHORT =
  '(?:N\\. ?[CDHJMY]|S\\. ?[CD]|W\\. ?Va|D\\. ?C|P\\. ?R|R\\. ?I|Ala|Ariz|Ark|Cal(?:if)?|Colo|Conn|Del|Fla|Ga|Ill|Ind|Kan(?:s)?|Ky|La|Mass|Md|Mich|Minn|Miss|Mo|Mont|N\\. ?Mex|Neb(?:r)?|Nev|Okla|Ore(?:g)?|Pa|Penn|Tenn|Tex|Va|Vt|Wash|Wis|Wyo)';
const ZIP = '\\d{5}(?:-\\d{4})?(?![\\d-])';
const PROVINCE =
  '(?:Alberta|British Columbia|Colombie-Britannique|Manitoba|New Brunswick|Nouveau-Brunswick|Newfoundland(?: and Labrador)?|Terre-Neuve(?:-et-Labrador)?|Nova Scotia|Nouvelle-[ÉE]cosse|Ontario|Prince Edward Island|[ÎI]le-du-Prince-[ÉE]douard|Qu[ée]bec|QU[ÉE]BEC|ONTARIO|ALBERTA|BRITISH COLUMBIA|MANITOBA|Saskatchewan|Nunavut|Yukon|Northwest Territories|Territoires du Nord-Ouest|AB|BC|B\\.C|MB|NB|NL|NS|ON|Ont|PE|PEI|QC|PQ|Que|SK|NU|YT|NT)';
const CANADIAN_CODE = '[ABCEGHJ-NPRSTVXY]\\d[ABCEGHJ-NPRSTV-Z][ -]?\\d[ABCEGHJ-NPRSTV-Z]\\d(?![\\p{L}\\d])';
const SMALL = "(?:(?:of|de|du|del|la|le|les|los|las|the|and|on|sur) |[dDlL]['’])";
const CITY = `[A-ZÀ-Þ][\\p{L}.'’-]{1,30}(?: ${SMALL}{0,2}[A-ZÀ-Þ][\\p{L}.'’-]{0,30}){0,3}`;
/** IN, OR, ME, OK and HI are also words: they count as states only after a comma. */
const STATE = `(?:, (?:${STATE_CODE}|${STATE_NAME}|${STATE_SHORT})\\.?|,? (?!(?:IN|OR|ME|OK|HI) )(?:${STATE_CODE}|${STATE_NAME}|${STATE_SHORT})\\.?)`;
const MILITARY = `(?:APO|FPO|DPO),? A[AEP],? ${ZIP}`;
const PLACE = `(?:${CITY}(?:${STATE},? {0,2}${ZIP}|,? \\(?${PROVINCE}\\)?\\.?,? {0,2}${CANADIAN_CODE})|(?:${CITY},? )?${MILITARY})`;
const PLACE_SIGN = / \d{5}(?!\d)| [A-Z]\d[A-Z][ -]?\d[A-Z]\d/;

/** Words that follow an entry's number and never occur in a street name. */
const NOT_A_STREET =
  '(?:motions?|orders?|notices?|complaints?|answers?|responses?|reply|judgments?|exhibits?|declarations?|affidavits?|letters?|stipulations?|memorandum|memoranda|brief|minutes?|summons|reports?|petitions?|applications?|requests?|objections?|oppositions?|certificates?|transcripts?|sealed|amended|proposed|statements?|schedules?|claims?|chapter|trustee|debtors?|creditors?|plaintiffs?|defendants?|appellants?|appell?ees?|filed|fee|hearing|receipt|voluntary|u\\.?s\\.?c|fed|cfr|f\\.[234]d|days?|counts?|copies|pages?|llc|l\\.l\\.c|inc|corp|llp|ltd|re|by|from|to|in|as|for|at|with|is|was|or|not|vs?|plan|proofs?)';
const STOP = `(?!${caseless(NOT_A_STREET)}\\.?(?![\\p{L}'’]))`;

/** The rest of a house number, after its first digit. */
const HOUSE = '\\d{0,5}(?: ?[NSEW]\\d{1,5})?(?:-\\d{1,5})?[A-Z]?(?:-[A-Z](?![\\p{L}\\d]))?(?: \\d/\\d)?';
/** What lies between the house and its city: names, numbers, units. */
const SMALL_WORD =
  '(?:of|de|del|du|la|las|los|el|the|apt|apartment|suite|ste|unit|floor|fl|room|rm|lot|bldg|building|space|box|no|north|south|east|west|street|st|avenue|ave|road|rd|drive|dr|lane|ln|court|ct|way|blvd|rue|boul|boulevard|chemin|calle|bureau|app)';
const PART = `${STOP}(?:#? ?(?!\\d{6})[A-ZÀ-Þ\\d][\\p{L}\\d.'’/#-]{0,25}|[dDlL]['’][\\p{L}]{1,25}|${SMALL_WORD}\\.?(?![\\p{L}\\d]))`;
const FIRST_PART = `${STOP}(?:(?!\\d{1,6}[A-Z]?(?![\\p{L}\\d]))[A-ZÀ-Þ\\d][\\p{L}\\d.'’/-]{0,25}|rue|boulevard|boul|chemin|avenue|calle|[dDlL]['’][\\p{L}]{1,25})`;
const tail = (place: string): string => `(?:,? {1,2}${PART}){0,11}?,? {1,2}${place}`;
const ANCHORED_TAIL = tail(PLACE);

/** A number after these, or a date's day, is not a house number. */
const NOT_A_HOUSE =
  '(?<!(?:[Cc]hapter|[Cc]h\\.?|CHAPTER|[Cc]laims?(?: [Nn]o\\.?)?|[Rr]ule|[Ff]orm|[Ee]xhibit|[Cc]ounts?|[Ss]ection|[Pp]art|[Tt]rack|Jan\\w{0,6}|Feb\\w{0,6}|March|Mar\\.?|April|Apr\\.?|May|June?|July?|Aug\\w{0,4}|Sept?\\w{0,7}|Oct\\w{0,5}|Nov\\w{0,6}|Dec\\w{0,6}) )';

const UNIT =
  '(?:,? {1,2}(?:suite|ste|apt|apartment|unit|room|rm|floor|fl|bldg|building|lot|space|spc|trlr|trailer|ph|penthouse|#)\\.? ?#?[\\p{L}\\d-]{1,8}(?![\\p{L}])|,? \\d{1,2}(?:st|nd|rd|th) (?:floor|fl)\\b\\.?)';
const STREET_WORD = `${STOP}(?:[A-Z][\\p{L}.'’-]{0,25}|\\d{1,3}(?:st|nd|rd|th|ST|ND|RD|TH))`;
const KIND =
  '(?:street|st|avenue|ave|av|road|rd|boulevard|blvd|lane|ln|drive|dr|place|pl|highway|hwy|parkway|pkwy|pky|terrace|ter|circle|cir|turnpike|tpke|square|sq|trail|trl|broadway|crescent|cres)';
const KIND_SIGN = new RegExp(`\\d[A-Z]?(?: [\\w.'’/-]{1,26}){1,7},? ${KIND}\\b`, 'i');
/** Street types that are also ordinary words in dockets: they count only if the context says that it is an address. */
const WEAK_KIND =
  '(?:court|ct|way|loop|run|cove|cv|plaza|plz|point|pt|path|pike|alley|row|ridge|crossing|xing|trace|bend|bnd|heights|hts|close|mews|walk|commons|landing|manor|meadows?|hollow|hill|view|park|center|ctr|expressway|expy|freeway|fwy|pass|glen|grove|creek|crest|canyon|estates?)';
const WEAK_SIGN = new RegExp(`\\d[A-Z]?(?: [\\w.'’/-]{1,26}){1,7},? ${WEAK_KIND}\\b`, 'i');
const DIRECTION =
  '(?: (?:[NSEW]{1,2}\\b\\.?|(?:North|South|East|West|NORTH|SOUTH|EAST|WEST)(?:east|west|EAST|WEST)?\\b))';
/** A house number. The first digit is matched first and the text before it after that, which is much faster. */
const house = (before: string): string =>
  `\\d(?<=${BARE}${before}\\d)\\d{0,5}(?:-\\d{1,5})?[A-Z]?(?: \\d/\\d)?${DIRECTION}?`;
const STREET_END = `(?:${DIRECTION}(?!\\p{L}))?(?:${caseless(UNIT)}){0,2}(?:,? {1,2}${PLACE})?`;
const BARE = '(?<![\\p{L}\\d$/.,#-]|\\d[:.,])(?<!§ ?)';
const ENTRY_NUMBER =
  '(?<!\\b(?:[Dd]ocuments?(?:\\(s\\))?|[Dd]oc\\.?|ECF|[Ee]ntry|[Dd]kt\\.?) (?:(?:[Nn]os?\\.?|#) ?)?)';
/** After these, a number may be an entry's as well as a house's, so the text must end after the street. */
const AS_LIKELY = '(?<!\\b(?:[Rr][Ee]:?|[Nn]os?\\.?|NO\\.?|[Aa]nd|AND|&|[Tt]o|TO|[Gg]ranting|[Dd]enying) )';
const ENDS_HERE =
  '(?=\\.?(?:$|[,;)(]| \\(| (?:filed|by|is|was|and|in|for|with|free|to|has|as|on|from|at|located|granted|denied|set|sold|under|pursuant)\\b|\\. ))';
const SAID_TO_BE =
  '(?<=\\b(?:[Aa]t|[Aa]ddress(?:ed)?(?: (?:is|from|to|of))?|[Pp]roperty(?: at| of)?|[Pp]remises(?: at)?|[Ll]ocated (?:at|on)|[Rr]esid(?:ence|es|ing)(?: at)?|[Kk]nown as|[Mm]oved (?:to|from)|[Hh]ome(?: at)?|ADDRESS|PROPERTY):? |\\b(?:[Aa]ddress|ADDRESS|[Mm]oved?|[Rr]elocated)\\b[^.;:]{0,60} (?:from|to|FROM|TO) )';

const street = (before: string, kind: string, after: string): RegExp =>
  new RegExp(
    `${house(before)} (?:${STREET_WORD} ){0,3}${STREET_WORD},? (?:${caseless(kind)})(?![\\p{L}\\d'’-])${NOT_A_COMPANY}${after}\\.?${STREET_END}`,
    'gu',
  );

/** Leads of addresses whose first number is not a house number. */
const NUMBERED_LEAD =
  '(?:Urb|URB|Urbanizaci[oó]n|Calle|CALLE|Carr|Carretera|Bo|Barrio|Cond|Condominio|Res|Residencial|Edif|Edificio|HC|HCR|RR|R\\.R|RFD|R\\.F\\.D|PSC|CMR|Unit(?= \\d{1,5},? [Bb]ox)|UNIT(?= \\d{1,5},? BOX)|USS|USNS|USCGC|Rural R(?:oute|t)|RURAL ROUTE|Star Route)';
/** Leads of addresses that do not begin with a number. */
const LEAD =
  '(?:Suite|SUITE|Ste|STE|Unit|UNIT|Apt|APT|Lot|One|Two|Three|Four|Five|Six|Seven|Eight|Nine|Ten|ONE|TWO|Avenida|General Delivery|GENERAL DELIVERY|County Road|County Rd|Highway|Hwy|Route|Rte|Rt)';
const P_O_BOX =
  '(?:P\\.? ?O\\.?,? ?(?:B(?:ox|OX)|Drawer|DRAWER)|p\\.?o\\.? box|POB|(?:[Pp]ost [Oo]ffice|POST OFFICE) (?:[Bb]ox|BOX|[Dd]rawer)|[Ll]ock ?[Bb]ox|PMB|[Cc]aller (?:[Bb]ox|[Ss]ervice)|[Aa]partado(?: [Pp]ostal)?)';

const anchoredHouse = (end: string): RegExp =>
  new RegExp(
    `(?:[NSEW]?\\d)(?<=(?<![\\p{L}\\d$/.#-]|\\d[:,])${NOT_A_HOUSE}(?:[NSEW]?\\d))${HOUSE},? {1,2}${FIRST_PART}${end}`,
    'gu',
  );

export const ADDRESS_RULES: readonly MaskRule[] = [
  {
    sign: PLACE_SIGN,
    pattern: new RegExp(
      `(?<![\\p{L}\\d]|\\d[A-Z]?,? )${NUMBERED_LEAD}\\.?,? ?(?=[A-ZÀ-Þ#\\d])${PART}${ANCHORED_TAIL}`,
      'gu',
    ),
    replacement: ADDRESS_REMOVED,
  },
  {
    sign: /(?:box|pob|drawer|apartado|postal|pmb|service)[. #a-z]{0,9}-?\d/i,
    pattern: new RegExp(
      `(?<![\\p{L}\\d])${P_O_BOX}\\.? {0,2}(?:#|[Nn]o\\.?|[Nn]umber)? ?[A-Z]?-?\\d{1,7}(?:-\\d{1,5})?(?![\\d])(?:,? [A-Z][\\p{L}]{1,20} [Ss]t(?:atio)?n)?(?:,? {1,2}${PLACE})?`,
      'gu',
    ),
    replacement: ADDRESS_REMOVED,
  },
  {
    sign: /(?:box|site) ?#?\d/i,
    pattern: new RegExp(
      `(?<![\\p{L}\\d])(?:RR|R\\.R\\.|R\\.? ?F\\.? ?D\\.?|HCR?|PSC|CMR|U(?:nit|NIT)|[Rr](?:ural|oute|t)\\.?(?: [Rr](?:oute|t)\\.?)?|RURAL ROUTE|[Ss]tar [Rr]oute) ?#?\\d{1,5}[A-Z]?,? (?:[Bb]ox|BOX|[Ss]ite) ?#?\\d{1,6}-?[A-Z]?(?:,? {1,2}${PLACE})?`,
      'gu',
    ),
    replacement: ADDRESS_REMOVED,
  },
  {
    sign: PLACE_SIGN,
    pattern: anchoredHouse(ANCHORED_TAIL),
    replacement: ADDRESS_REMOVED,
  },
  {
    sign: PLACE_SIGN,
    pattern: new RegExp(`(?<![\\p{L}\\d])${LEAD}\\.?,? (?=[A-ZÀ-Þ#\\d])${PART}${ANCHORED_TAIL}`, 'gu'),
    replacement: ADDRESS_REMOVED,
  },
  {
    sign: /(?:high|hwy|route|rte|road|rd|fm|cr)\.? [a-z]{0,2}-?\d/i,
    pattern: new RegExp(
      `${house(ENTRY_NUMBER)} (?:(?:U\\.?S\\.?|State|STATE|County|COUNTY|Old|Interstate|Farm to Market) )?(?:Highway|HIGHWAY|Hwy|HWY|County Road|COUNTY ROAD|County Rd|State Road|Farm Road|FM|Co\\.? Rd|CR|Route|Rte)\\.? [A-Z]{0,2}-?\\d{1,5}[A-Z]?(?![\\p{L}\\d])${STREET_END}`,
      'gu',
    ),
    replacement: ADDRESS_REMOVED,
  },
  {
    sign: /\d[A-Z]?,? (?:calle|avenida|camino|paseo|via) /i,
    pattern: new RegExp(
      `${house(ENTRY_NUMBER)},? (?:Calle|Avenida|Camino|Paseo|Via|CALLE|AVENIDA|CAMINO|PASEO) (?:(?:de|del|la|las|los|el|DE|DEL|LA|LAS|LOS|EL) ){0,2}${STREET_WORD}(?: ${STREET_WORD})?${STREET_END}`,
      'gu',
    ),
    replacement: ADDRESS_REMOVED,
  },
  { sign: KIND_SIGN, pattern: street(`${ENTRY_NUMBER}${AS_LIKELY}`, KIND, ''), replacement: ADDRESS_REMOVED },
  { sign: KIND_SIGN, pattern: street(ENTRY_NUMBER, KIND, ENDS_HERE), replacement: ADDRESS_REMOVED },
  {
    sign: WEAK_SIGN,
    pattern: street(SAID_TO_BE, WEAK_KIND, ''),
    replacement: ADDRESS_REMOVED,
  },
  {
    sign: PLACE_SIGN,
    pattern: new RegExp(`(?<![\\p{L}\\d])${PLACE}`, 'gu'),
    replacement: ADDRESS_REMOVED,
  },
  {
    // The text before an address that is already removed.
    sign: / \[address removed\]/,
    pattern:
      /(?<![\p{L}\d])(?:[Ss]uite|SUITE|[Ss]te|STE|[Uu]nit|UNIT|[Aa]pt|APT|[Aa]partment|[Rr]oom|[Bb]ureau|c\/o)\.? ?#?[\p{L}\d-]{1,8},? \[address removed\]/gu,
    replacement: ADDRESS_REMOVED,
  },
];

/** What earlier rules left of an address when they removed its city; used only for stored content. */
export const REMNANT_RULES: readonly MaskRule[] = [
  { sign: / \[address removed\]/, pattern: anchoredHouse(tail('\\[address removed\\]')), replacement: ADDRESS_REMOVED },
  {
    sign: / \[address removed\]/,
    pattern: new RegExp(
      `(?<![\\p{L}\\d])(?:${NUMBERED_LEAD}|${LEAD})\\.?,? ?(?=[A-ZÀ-Þ#\\d])${PART}${tail('\\[address removed\\]')}`,
      'gu',
    ),
    replacement: ADDRESS_REMOVED,
  },
];

/** Numbers that identify or reach a person, e-mail addresses and dates of birth, as English texts write them. */
import { DATE, type MaskRule } from './mask-rule.ts';

/** Not after a digit, nor inside a longer run of groups such as a case number; allowed after a postal code. */
const START = '(?<![\\p{L}\\d/:.-])(?:(?<!\\d )|(?<=\\p{L}[.)]?,? \\d{5}(?:-\\d{4})? ))';
const END = '(?![\\d/]|-\\d|\\.\\d)';
const NUMBER_SIGN = '(?:numbers?|nos?|num|n[°º]|#s?)';

/** Labels of ten-digit numbers that are not telephone numbers. */
const REFERENCE =
  '(?:numbers?|nos?|num|n[°º]|#|receipts?|i\\.?d|pin|(?:pass|access )?codes?|passcode|password|invoice|checks?|cheque|order|transaction|tracking|claim|bond|docket|doc|document|entry|case|file|serial|reg|registration|patent|confirmation|reference|ref|warrant|citation|permit|policy|contract|loan|bar|parcel|apn|lot|item|article|mail|certified|label|voucher|ticket|draft|wire|application|inmate|prisoner|booking|register|exhibit|batch|bates|isbn)';
const NO_REFERENCE = `(?<!(?<!\\p{L})${REFERENCE}(?:\\(?s\\)?)?\\.?(?: is| was)? ?[:#=.]{0,2} ?)`;
/** Meeting numbers and their codes look like telephone numbers. */
const NO_CODE =
  '(?<!(?<!\\p{L})(?:i\\.?d|pin|codes?|passcode|password)\\.?(?: number| no\\.?)?(?: is| was)?[:#=.]{0,2} ?)';
const EXTENSION = '(?:,? ?(?:x|ext(?:ension)?\\.?) ?\\d{1,6})?';

/** An identifier of letters and digits with at least six digits, or five after letters; never a date. */
const DOCUMENT_ID = `(?!${DATE}(?!\\d))[A-Z]{0,2}-?\\d{5,10}[A-Z]?\\d{0,2}(?![\\p{L}\\d/]|-\\d)`;
const LICENCE_ID = `(?!${DATE}(?!\\d))(?=[A-Z -]{0,4}\\d[\\dA-Z-]{0,3}\\d)[A-Z]{0,3}[ -]?\\d[\\dA-Z]{0,9}(?:[ -](?=[\\dA-Z]{0,6}\\d)[\\dA-Z]{1,7}){0,4}(?![\\p{L}\\d/])`;

const PHONE_REMOVED = '[telephone number removed]';
const ACCOUNT_REMOVED = '$1[account number removed]';
const ALIEN_REMOVED = '[alien registration number removed]';

const TAXPAYER_LABEL = `(?:f?ein|itin|tin|(?:federal |individual )?tax(?:payer)?[ -]?(?:i\\.?d\\.?|identification)?(?: ?\\/ ?ein)?|employer[ -](?:tax[ -])?(?:i\\.?d\\.?|identification))(?: ?\\((?:f?ein|itin|tin)\\))?(?: ?${NUMBER_SIGN}\\.?)?(?: ?\\((?:f?ein|itin|tin)\\))?[ :#=.,]{1,4}(?:is |was )?`;
const SSN_LABEL = `(?:ssns?|s\\.s\\.n\\.?|ss ?(?:#|no\\.?)|sin|social (?:sec(?:urity|\\.)?|insurance)(?: ?${NUMBER_SIGN})?)\\.?[ :#=.,(]{0,4}(?:(?:is|was|of|should be|changed to|corrected to) )?`;

export const NUMBER_RULES: readonly MaskRule[] = [
  {
    sign: /@/,
    pattern: /[\p{L}\d._%+'-]{1,64}@[\p{L}\d-]{1,63}(?:\.[\p{L}\d-]{1,63}){1,6}/gu,
    replacement: '[e-mail address removed]',
  },
  {
    sign: /ein\b|tax|\bi?tin\b|employer/i,
    pattern: new RegExp(
      `((?<!\\p{L})${TAXPAYER_LABEL})(?:[\\dxX*#]{2}-?[\\dxX*#]{3}\\d{4}|[\\dxX*#]{3}[ -]?[\\dxX*#]{2}[ -]?\\d{4}|\\d{2} \\d{7})(?![\\d-])`,
      'giu',
    ),
    replacement: '$1[taxpayer number removed]',
  },
  {
    sign: /ssn|s\.s\.n|social|\bsin\b|\bss ?[#n]/i,
    pattern: new RegExp(`((?<!\\p{L})${SSN_LABEL})[\\dxX*#]{3}[ -]?[\\dxX*#]{2,3}[ -]?[\\dxX*#]{3,4}(?!\\d)`, 'giu'),
    replacement: '$1[social security number removed]',
  },
  {
    sign: /[\dxX*#]{3}[ -][\dxX*#]{2}[ -]\d{4}/,
    pattern: new RegExp(
      `(?:${START}\\d{3}([ -])\\d{2}\\1\\d{4}|(?<![\\p{L}\\d*#-])([xX*#])\\2\\2[ -]\\2\\2[ -]\\d{4})${END}`,
      'gu',
    ),
    replacement: '[social security number removed]',
  },
  {
    sign: /\d\d-\d{7}/,
    pattern: new RegExp(`${START}\\d{2}-\\d{7}${END}`, 'gu'),
    replacement: '[taxpayer number removed]',
  },
  {
    sign: /alien|uscis|A[ -]?(?:#|n|file)/i,
    pattern:
      /((?<!\p{L})(?:(?:[Aa]lien|ALIEN|USCIS)(?: (?:[Rr]egistration|REGISTRATION|[Rr]eg\.?|[Ff]ile))?(?: ?(?:[Nn]umbers?|NUMBER|[Nn]os?\.?|NO\.?|#))?|A[ -]?(?:[Ff]ile(?: (?:[Nn]umber|[Nn]o\.?))?|[Nn]umbers?|NUMBER|[Nn]os?\.?|NO\.?|#))[ :#.-]{0,4}(?:is )?)A?[ -]?\d{2,3}[ -]?\d{3}[ -]?\d{3}(?![\d-])/gu,
    replacement: `$1${ALIEN_REMOVED}`,
  },
  {
    sign: /A[ #-]{0,3}\d/,
    pattern:
      /(?<![\p{L}\d])(?<!(?:[Rr]eceipt|RECEIPT)(?: (?:[Nn]umber|NUMBER|[Nn]o\.?|#))?[ :.#]{0,3})(?:A[#-]{0,3}\d{3}[ -]?\d{3}[ -]?\d{3}|A[#-]{0,2}\d{2}[ -]\d{3}[ -]\d{3}|(?<!(?:[Ee]xhibits?|EXHIBIT|[Aa]ppendix|[Vv]olume|[Ss]chedule|[Ss]ection|[Tt]ab|[Pp]art|[Ff]orm|[Ll]ist|[Gg]roup|[Cc]lass) )A[ #-]{1,3}\d{2,3}[ -]\d{3}[ -]\d{3}|(?<!(?:[Nn]umber|NUMBER|[Nn]os?\.?|NO\.?|#|[Pp]atent)[ :#]{0,3})A[#-]{0,2}\d{8})(?![\d-])/gu,
    replacement: ALIEN_REMOVED,
  },
  {
    sign: /birth|born|d\.? ?o\.? ?b/i,
    pattern: new RegExp(
      `((?<!\\p{L})(?:d\\. ?o\\. ?b\\.?|dob|(?:dates?|year|yr) of birth|birth ?(?:date|day)|birth year|born(?: on| in)?)(?:s)?[ :=(,-]{0,4}(?:is |was |of |on )?)(?:${DATE}|(?:19|20)\\d\\d(?![\\d-]))(?!\\d)`,
      'giu',
    ),
    replacement: '$1[date of birth removed]',
  },
  {
    sign: /passe?port/i,
    pattern: new RegExp(
      `((?<!\\p{L})[Pp](?:asse?port|ASSPORT)s?(?: (?:[Cc]ard|CARD|[Bb]ook(?:let)?))?(?:[ :]{1,2}\\p{Lu}[\\p{L}.]{1,12} [Pp]assport)?(?: (?:is|bearing|with|having))?[ .:#=,(]{0,4}(?:(?:[Nn]umbers?|NUMBER|[Nn]os?|NO|[Nn]um|[Nn][°º]|#)[ .:#=]{0,3})?(?:is )?(?:ending )?)(?<![\\p{L}])${DOCUMENT_ID}(?:(?:,| and| &) ${DOCUMENT_ID}){0,3}`,
      'gu',
    ),
    replacement: '$1[passport number removed]',
  },
  {
    sign: /licen[cs]e|\bd\.?l\b|permis|\bid\b|identification/i,
    pattern: new RegExp(
      `((?<!\\p{L})(?:(?:[Dd]river|[Oo]perator|[Cc]hauffeur|DRIVER|OPERATOR)(?:['’]?[sS]['’]?)?[ -](?:[Ll]icen[cs]es?|LICEN[CS]E)|CDL|D\\.?L\\.?(?= ?(?:#|[Nn]o|[Nn]um|:))|[Pp]ermis de conduire|(?:[Ss]tate|STATE)(?:-issued)? (?:ID|I\\.D\\.|[Ii]dentification)(?: [Cc]ard)?)(?: (?:is|bearing))?[ .:#=,(]{1,4}(?:(?:[Nn]umbers?|NUMBER|[Nn]os?|NO|[Nn]um|[Nn][°º]|#)[ .:#=]{1,3})?(?:is )?)(?<![\\p{L}\\d])(?=[A-Z]{0,3}[ -]?\\d[\\dA-Z -]{0,5}\\d)(?=(?:[A-Z -]{0,4}\\d){5})${LICENCE_ID}`,
      'gu',
    ),
    replacement: "$1[driver's license number removed]",
  },
  {
    sign: /iban/i,
    pattern:
      /((?<!\p{L})IBAN(?: (?:[Nn]umber|[Nn]o\.?|#))?[ .:#]{1,3})[A-Z]{2}\d{2}(?: ?[A-Z\d]{2,4}){3,8}(?![A-Z\d])/gu,
    replacement: ACCOUNT_REMOVED,
  },
  {
    sign: /routing|\baba\b|transit/i,
    pattern:
      /((?<!\p{L})(?:(?:aba )?(?:routing|transit)|aba)(?: ?(?:numbers?|nos?|num|#))?[ .:#=]{1,4}(?:is )?)\d{4}-?\d{4}-?\d(?![\d-])/giu,
    replacement: ACCOUNT_REMOVED,
  },
  {
    sign: /[3-6]\d{3}[ -]\d{4,6}[ -]\d{4,5}/,
    pattern: new RegExp(
      `${START}(?:[3-6]\\d{3}([ -])\\d{4}\\1\\d{4}\\1\\d{4}|3[47]\\d{2}([ -])\\d{6}\\2\\d{5})${END}(?! \\d)`,
      'gu',
    ),
    replacement: '[account number removed]',
  },
  {
    sign: /acc(?:oun)?t|a\/c|loan|mortgage|card|compte|visa|mastercard|amex/i,
    pattern: new RegExp(
      `((?<!\\p{L})(?:(?:accounts?|accts?\\.?|a\\/c|compte(?: bancaire| de banque)?)(?: ${NUMBER_SIGN}| ?#)?|(?:loan|mortgage|card|visa|mastercard|amex|discover)(?: (?:${NUMBER_SIGN})| ?#)|(?:credit|debit|visa|mastercard|amex) (?:card|account))${'[ .:#=,(]{1,4}'}(?:is |was )?)(?<=(?:numbers?|nos?|num|n[°º]|#)s?[ .:#=,(]{0,4}(?:is |was )?)(?!${DATE}(?!\\d))[\\dxX*]{0,12}[ -]?\\d(?:[ -]?\\d){5,18}(?![\\d/]|\\.\\d|,\\d)`,
      'giu',
    ),
    replacement: ACCOUNT_REMOVED,
  },
  {
    sign: /acc(?:oun)?t|card|compte|visa|mastercard|amex/i,
    pattern: new RegExp(
      `((?<!\\p{L})(?:accounts?|accts?\\.?|card|compte(?: bancaire| de banque)?|visa|mastercard|amex)[ :,(]{1,3}(?:is |was )?)(?!${DATE}(?!\\d))(?:\\d{8,19}|\\d{3,6}(?:-\\d{2,6}){2,4})(?![\\d/-]|\\.\\d|,\\d)`,
      'giu',
    ),
    replacement: ACCOUNT_REMOVED,
  },
  {
    sign: /tel|phone|fax|facsimile|cell|mobile|t[ée]l/i,
    pattern:
      /((?<!\p{L})(?:t[ée]l(?:[ée]phone|[ée]copieur)?|phone|fax|facsimile|cell(?:ular)?(?: phone)?|mobile)(?: ?(?:number|no|num|#))?[ :.#]{1,4}(?:is |at |to )?)(?:\+?\d{1,3}[ .-])?(?:\(\d{2,4}\)[ .-]?\d{3,4}[ .-]?\d{3,4}|\d{3}[ .-]\d{3}[ .-]\d{4}|\d{3}[ .-]\d{4}|\d{7,15}|\d{2,4}(?:[ .-]\d{2,4}){2,4})(?![\d/])(?:,? ?(?:x|ext(?:ension)?\.?) ?\d{1,6})?/giu,
    replacement: `$1${PHONE_REMOVED}`,
  },
  {
    sign: /\d{3}[).\s/-]{1,2}\d{3}[.\s-]\d{4}/,
    pattern: new RegExp(
      `(?<![\\p{L}\\d/:-])(?:(?<!\\d )|(?<=\\p{L}[.)]?,? \\d{5}(?:-\\d{4})? )|(?<=(?:[Cc]all|[Dd]ial|at) 1 ))${NO_CODE}(?:\\+?1[ .-]?)?(?:\\(\\d{3}\\) ?|\\d{3}[ ./-])\\d{3}[ .-]\\d{4}${EXTENSION}${END}`,
      'giu',
    ),
    replacement: PHONE_REMOVED,
  },
  {
    sign: /\+\d/,
    pattern: /(?<![\p{L}\d])\+\d{1,3}(?:[ .-]?\(?\d{1,4}\)?){2,5}(?!\d)/gu,
    replacement: PHONE_REMOVED,
  },
  {
    sign: /\d{10}/,
    pattern: new RegExp(
      `(?<![\\p{L}\\d$/:.#*+-])(?:(?<!\\d )|(?<=\\p{L}[.)]?,? \\d{5}(?:-\\d{4})? ))${NO_REFERENCE}1?[2-9]\\d{2}[2-9]\\d{6}(?![\\p{L}\\d/-]|\\.\\d|,\\d)${EXTENSION}`,
      'giu',
    ),
    replacement: PHONE_REMOVED,
  },
];

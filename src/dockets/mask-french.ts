/** Personal details as French and other Canadian texts write them. */
import { ADDRESS_REMOVED, caseless, DATE, type MaskRule, NOT_A_COMPANY } from './mask-rule.ts';

const POSTAL_CODE = '[ABCEGHJ-NPRSTVXY]\\d[ABCEGHJ-NPRSTV-Z] \\d[ABCEGHJ-NPRSTV-Z]\\d';
const PROVINCE =
  '(?:Alberta|Colombie-Britannique|British Columbia|Manitoba|Nouveau-Brunswick|New Brunswick|Terre-Neuve(?:-et-Labrador)?|Newfoundland(?: and Labrador)?|Nouvelle-[ÉE]cosse|Nova Scotia|Ontario|[ÎI]le-du-Prince-[ÉE]douard|Prince Edward Island|Qu[ée]bec|Saskatchewan|Nunavut|Yukon|Territoires du Nord-Ouest|Northwest Territories|AB|BC|MB|NB|NL|NS|ON|PE|QC|SK|NU|YT|NT)';
const CITY = "[\\p{Lu}][\\p{L}.'’-]{1,30}(?: [\\p{Lu}][\\p{L}.'’-]{1,30}){0,3}";
/**
 * A city with its province in brackets, with or without a postal code; or a province without brackets and with a code.
 */
const PLACE = `${CITY},?(?: \\(${PROVINCE}\\)(?:,? ${POSTAL_CODE})?| ${PROVINCE},? ${POSTAL_CODE})`;
/** Street types that begin a title elsewhere count only in lower case. */
const KIND = `(?:${caseless('(?:rue|avenue|boulevard|boul|chemin|rang|mont(?:é|e)e|all(?:é|e)e|ruelle)')}|av|blvd|ch|route|place|impasse|promenade|terrasse|croissant)`;
const LITTLE_WORD = "(?:(?:de|du|des|la|le|les|à|aux?|et) |[dl]['’])";
const NAME = `${LITTLE_WORD}{0,3}[\\p{Lu}\\d][\\p{L}\\d.'’-]{0,40}(?: ${LITTLE_WORD}{0,2}\\p{Lu}[\\p{L}.'’-]{0,40}){0,3}`;
const STREET = `(?:${KIND}\\.? ${NAME}|\\d{1,3}(?:re|e|i[èe]me) ${caseless('(?:rue|avenue|rang)')}(?!\\p{L}))`;
const UNIT = `(?:,? ${caseless('(?:bureau|app(?:artement)?|suite|porte|local|unité)')}\\.? ?#?[\\p{L}\\d-]{1,8}|,? \\d{1,2}e [ée]tage)`;

/** Numbers with a French or a Canadian label. */
export const CANADIAN_NUMBERS: readonly MaskRule[] = [
  {
    sign: /n\.?a\.?s|assurance/i,
    pattern:
      /((?<!\p{L})(?:n\.a\.s\.?|nas|(?:num[ée]ro|no|n°) d['’]assurance sociale|assurance sociale)[ :#=.]{0,4}(?:est (?:le )?)?)\d{3}[ -]?\d{3}[ -]?\d{3}(?!\d)/giu,
    replacement: '$1[social insurance number removed]',
  },
  {
    sign: /d\.?d\.?n|n[ée](?:e|\(e\))? (?:le|en)|naissance/i,
    pattern: new RegExp(
      `((?<!\\p{L})(?:d\\.?d\\.?n\\.?|n[ée](?:e|\\(e\\))? (?:le|en)|(?:date|ann[ée]e) de naissance)[ :=(-]{0,4}(?:est (?:le )?|le )?)(?:${DATE}|(?:19|20)\\d\\d(?!\\d))`,
      'giu',
    ),
    replacement: '$1[date of birth removed]',
  },
  {
    sign: /entreprise|employeur|neq|business|employer/i,
    pattern:
      /((?<!\p{L})(?:(?:num[ée]ro|no|n°) d['’](?:entreprise|employeur)|neq|business (?:number|no\.?)|employer (?:number|no\.?))(?: \([a-z]{2,4}\))?[ :#=.]{1,4}(?:est (?:le )?|is )?)\d{9,10}(?: ?r[cptrz] ?\d{4})?(?!\d)/giu,
    replacement: '$1[taxpayer number removed]',
  },
  {
    sign: /uci|iuc/i,
    pattern: /((?<!\p{L})(?:uci|iuc)(?: (?:number|no\.?|n°))?[ :#]{1,3})(?:\d{2}-)?\d{4}-\d{4}(?![\d-])/giu,
    replacement: '$1[alien registration number removed]',
  },
];

/** Addresses as French texts write them. Outside Canada, these shapes are ordinary text of courts: F.R.C.P., Ch. 7. */
export const CANADIAN_ADDRESSES: readonly MaskRule[] = [
  {
    sign: /C\.P\.|postal/i,
    pattern: new RegExp(
      `(?<![\\p{L}.])(?:C\\.P\\.|[Cc]ase postale|[Cc]asier postal) #?\\d{1,7}(?:,? succ(?:ursale|\\.)? ${CITY})?(?:,? ${PLACE})?`,
      'gu',
    ),
    replacement: ADDRESS_REMOVED,
  },
  {
    sign: /\d[A-Z]?,? (?:rue|av|boul|blvd|ch|rang|route|place|mont|all|impasse|prom|terr|crois|\d{1,3}(?:re|e|i[èe]me) )/i,
    pattern: new RegExp(
      `(?<![\\p{L}\\d$:/.,#-])(?<!(?<!\\p{L})(?:re|doc(?:ument)?|no\\.?|n°|art(?:icle|\\.)?|pi[èe]ce|par) )\\d{1,5}[A-Z]?(?:-\\d{1,4})?,? ${STREET}${NOT_A_COMPANY}(?:,? ${PLACE}|${UNIT}(?:,? ${PLACE})?)?`,
      'gu',
    ),
    replacement: ADDRESS_REMOVED,
  },
];

/** Places alone, if nothing longer is found around them. */
export const CANADIAN_PLACES: readonly MaskRule[] = [
  {
    sign: /[A-Z]\d[A-Z] \d[A-Z]\d|\((?:Qu|Ont|QC|ON)/,
    pattern: new RegExp(
      `(?<![\\p{L}\\d])${CITY},?(?: \\(${PROVINCE}\\)| ${PROVINCE}),? ${POSTAL_CODE}(?![\\p{L}\\d])`,
      'gu',
    ),
    replacement: ADDRESS_REMOVED,
  },
  {
    sign: /[A-Z]\d[A-Z] \d[A-Z]\d/,
    pattern: new RegExp(`(?<![\\p{L}\\d-])${POSTAL_CODE}(?![\\p{L}\\d-])`, 'gu'),
    replacement: ADDRESS_REMOVED,
  },
];

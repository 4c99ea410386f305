/** The settings of live sources, as an operator gives them (docs/design/sources.md#settings). */
import { MICROS_PER_SECOND } from '../runtime/instant.ts';
import type { Rate } from './budget.ts';

export interface SourceSettings {
  readonly courtListener: {
    /** Null: it is not asked. */
    readonly token: string | null;
    /** Base URL, with a slash at its end. */
    readonly url: string;
    readonly rates: readonly Rate[];
    /** The last part of the address for its webhooks; null: there is no such address. */
    readonly webhookSecret: string | null;
    /** How many docket alerts the account may have. */
    readonly alerts: number;
  };
  readonly rss: {
    /** Codes of the courts whose feeds are read, or `all` among them. */
    readonly courts: readonly string[];
    /** With `{court}`; null: the courts' own addresses. */
    readonly url: string | null;
    /** Whether an entry of an unknown case opens a docket. */
    readonly keepsAll: boolean;
  };
  readonly scotus: {
    readonly isOn: boolean;
    /** With `{number}`; null: the Court's own address. */
    readonly url: string | null;
  };
  /** `host:port` pairs that sources may have although they are not public. */
  readonly allowPrivate: readonly string[];
  /** How long a case is kept fresh after it was asked for, days. */
  readonly watchDays: number;
}

const SECONDS = { min: 60, hour: 3_600, day: 86_400 } as const;
const RATE = /^([1-9]\d{0,6})\/(min|hour|day)$/;

/** `5/min,50/hour,125/day`, at least one, each unit once; null for anything else. Shortest period first. */
export function readRates(text: string): readonly Rate[] | null {
  const rates = new Map<string, Rate>();
  for (const item of text.split(',')) {
    const [, requests = '', unit = ''] = RATE.exec(item.trim()) ?? [];
    if (requests === '' || rates.has(unit)) return null;
    rates.set(unit, {
      requests: Number(requests),
      micros: SECONDS[unit as keyof typeof SECONDS] * MICROS_PER_SECOND,
    });
  }
  return [...rates.values()].sort((a, b) => a.micros - b.micros);
}

/** The form that `readRates` reads. */
export const writtenRates = (rates: readonly Rate[]): string =>
  rates
    .map(({ requests, micros }) => {
      const [unit] = Object.entries(SECONDS).find(([, seconds]) => seconds * MICROS_PER_SECOND === micros) ?? [];
      return `${requests}/${unit}`;
    })
    .join(',');

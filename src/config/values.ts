/** The kinds of values that environment variables have, each with the sentence that says what is expected. */
import { isIP } from 'node:net';
import { z } from 'zod';
import { MasterKeyUnreadable, readMasterKeys } from '../callbacks/master-keys.ts';
import { parseUrl } from '../runtime/parse-url.ts';
import { isAddress } from '../solana/addresses.ts';
import { readConnectionString } from '../storage/eventstoredb/connection-string.ts';
import { isEndpoint } from '../tracing/settings.ts';

/** An environment variable set to the empty string counts as not set. */
export const optional = <T extends z.ZodType>(schema: T) =>
  z.preprocess((value) => (value === '' ? undefined : value), schema);

export const port = (fallback: number) =>
  optional(
    z
      .string()
      .regex(/^\d{1,5}$/, 'a port number from 0 to 65535 is expected')
      .transform(Number)
      .refine((value) => value <= 65_535, 'a port number from 0 to 65535 is expected')
      .default(fallback),
  );

export const whole = (fallback: number, least: number, most: number) =>
  optional(
    z
      .string()
      .regex(/^\d+$/, `a whole number from ${least} to ${most} is expected`)
      .transform(Number)
      .refine((value) => value >= least && value <= most, `a whole number from ${least} to ${most} is expected`)
      .default(fallback),
  );

export const httpUrl = z
  .string()
  .refine((value) => /^https?:$/.test(parseUrl(value)?.protocol ?? ''), 'an http or https URL is expected');

export const publicUrl = httpUrl.superRefine((value, context) => {
  const url = parseUrl(value);
  if (url === null) return;
  const { username, password, pathname, search, hash } = url;
  const forbidden = [
    ...(username || password ? ['credentials'] : []),
    ...(/^\/*$/.test(pathname) ? [] : ['a path']),
    ...(search || value.includes('?') ? ['a query'] : []),
    ...(hash || value.includes('#') ? ['a fragment'] : []),
  ];
  if (forbidden.length === 0) return;
  const message = `only a scheme, a host and a port are expected, without ${forbidden.join(', ')}: the service answers at the root of its address (https://dockets.example)`;
  context.addIssue({ code: 'custom', message });
});

/** One spelling for each URL, without a trailing slash: payments are bound to it, and nodes may spell it differently. */
export const normalUrl = (url: string): string => new URL(url).href.replace(/\/+$/, '');

const HOST_EXPECTED = 'an IP address or a host name is expected (127.0.0.1, ::1, ::, 0.0.0.0)';

/** Where to listen. An IPv6 address may be in brackets, as in a URL. */
export const host = (portVariable: string) =>
  optional(
    z
      .string()
      .default('127.0.0.1')
      .transform((value, context) => {
        const bare = /^\[(.*)\]$/.exec(value)?.[1] ?? value;
        const bracketed = bare !== value;
        if (isIP(bare) === 6 || (!bracketed && (isIP(bare) === 4 || HOST_NAME.test(bare)))) return bare;
        const withPort = /^(?:\[[^\]]*\]|[^:/[\]]+):\d+$/.test(value);
        const message = withPort ? `the port belongs in ${portVariable}; ${HOST_EXPECTED}` : HOST_EXPECTED;
        context.addIssue({ code: 'custom', message });
        return value;
      }),
  );

const HOST_NAME = /^(?=.{1,253}$)(?!.*\.\d+$)(?!\d+$)[a-z\d]([a-z\d_-]*[a-z\d])?(\.[a-z\d]([a-z\d_-]*[a-z\d])?)*\.?$/i;

export const address = z.string().refine(isAddress, 'a Solana address (base58 of 32 bytes) is expected');

export const eventStoreUrl = z.string().superRefine((value, context) => {
  try {
    readConnectionString(value);
  } catch (error) {
    context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : String(error) });
  }
});

export const masterKey = z.string().superRefine((value, context) => {
  try {
    readMasterKeys(value);
  } catch (error) {
    if (!(error instanceof MasterKeyUnreadable)) throw error;
    context.addIssue({ code: 'custom', message: error.message });
  }
});

/** Items separated by commas, each normalized; the error names the first invalid one. */
export const list = (read: (item: string) => string | null, expected: string) =>
  optional(
    z
      .string()
      .default('')
      .transform((value, context) => {
        const items = value.split(',').flatMap((item) => item.trim() || []);
        return items.map((item) => {
          const form = read(item);
          if (form === null) context.addIssue({ code: 'custom', message: `${expected} expected` });
          return form ?? item;
        });
      }),
  );

/** No source is called with a password in its address. */
export const sourceUrl = httpUrl.refine((value) => {
  const url = parseUrl(value);
  return url === null || (url.username === '' && url.password === '');
}, 'a URL without credentials is expected');

/** A URL with one place to fill in. */
export const urlPattern = (place: string) =>
  z
    .string()
    .refine(
      (value) => value.includes(`{${place}}`) && sourceUrl.safeParse(value.replaceAll(`{${place}}`, 'x')).success,
      `an http or https URL without credentials, and with {${place}} in it, is expected`,
    );

/** Where an OpenTelemetry collector listens; credentials go into headers. */
export const collector = optional(
  z
    .string()
    .refine(
      isEndpoint,
      'an http or https URL without credentials, query and fragment is expected (http://127.0.0.1:4318)',
    )
    .optional(),
);

/** `key=value,key=value`, percent-encoded. */
export const pairs = (read: (text: string) => Readonly<Record<string, string>> | null, expected: string) =>
  optional(
    z
      .string()
      .default('')
      .transform((value, context) => {
        const found = read(value);
        if (found === null) context.addIssue({ code: 'custom', message: `${expected} expected` });
        return found ?? {};
      }),
  );

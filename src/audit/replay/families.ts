/** The families of streams that `docket audit` knows (docs/design/architecture.md#streams). */
import { LOG_HEAD_STREAM } from '../../events/log-head.ts';
import { LOG_IDENTITY_STREAM } from '../../events/log-identity.ts';
import { MASTER_KEY_STREAM } from '../../events/signing-key.ts';

/** The stream prefixes of each family; none for all streams. The first family with a matching prefix has the stream. */
export const FAMILIES = {
  payments: ['payment-'],
  deliveries: ['delivery-'],
  keys: ['wallet-', MASTER_KEY_STREAM],
  dockets: ['docket-', 'content-'],
  sources: ['source-'],
  heads: [LOG_HEAD_STREAM],
  log: [LOG_IDENTITY_STREAM, 'operator-'],
  all: [],
} as const satisfies Record<string, readonly string[]>;

export type Family = keyof typeof FAMILIES;

export const isFamily = (word: string): word is Family => Object.hasOwn(FAMILIES, word);

/** The family of a stream; `all` for a stream of none. */
export const familyOf = (stream: string): Family =>
  (Object.keys(FAMILIES) as Family[]).find((family) =>
    FAMILIES[family].some((prefix: string) => stream.startsWith(prefix)),
  ) ?? 'all';

const LONG_IDS: readonly [pattern: RegExp, length: number][] = [
  [/[0-9a-f]{64}$/, 16],
  [/(?<=^delivery-)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, 13],
  [/(?<=^wallet-)[1-9A-HJ-NP-Za-km-z]{32,44}$/, 8],
];

/** Shortens a hash, UUID or address that names a stream. Other names stay whole: dockets differ in their last digits. */
export function shortStream(stream: string): string {
  for (const [pattern, length] of LONG_IDS) {
    const short = stream.replace(pattern, (id) => id.slice(0, length));
    if (short !== stream) return short;
  }
  return stream;
}

/** `docket callbacks verify`: checks the signatures of a delivery and explains a mismatch. */
import { readFileSync } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import { explainComputed } from '../callbacks/explain-computed.ts';
import {
  type Explained,
  explainSignature,
  FAMILY_HEADERS,
  type HeldKey,
  type SignatureReport,
} from '../callbacks/explain-signature.ts';
import { MICROS_PER_SECOND, parseTimestamp, toMicros } from '../runtime/instant.ts';
import { type AddCommand, type CliContext, CliError, FoundWrong, note, print, printJson } from './command.ts';

interface VerifyOptions {
  readonly header: readonly string[];
  readonly headers?: string;
  readonly body?: string;
  readonly key: readonly string[];
  readonly at?: string;
  readonly computed?: string;
  readonly json?: boolean;
}

const collect = (value: string, before: readonly string[]): readonly string[] => [...before, value];

export const addCallbacksCommand: AddCommand = (program, context) => {
  const callbacks = program.command('callbacks').description('Check callbacks on the receiving side.');
  callbacks
    .command('verify')
    .description('Verify the signatures of a delivery and explain a mismatch.')
    .option('--headers <file>', 'file with the headers: lines of Name: value, or one JSON object')
    .option('--header <line>', 'one header, Name: value; may be repeated', collect, [])
    .option('--body <file>', 'file with the exact bytes of the body (default: stdin)')
    .option('--key <key>', '[ID:]SECRET[@VALID_UNTIL]; may be repeated (default: SIGNING_KEYS)', collect, [])
    .option('--at <time>', 'when it arrived: ISO-8601 with an offset, or Unix seconds (default: now)')
    .option('--computed <digest>', 'the digest that your code computed; explains how it was made')
    .option('--json', 'one JSON object')
    .addHelpText(
      'after',
      `
A key is what POST /v2/wallet/keys returned: the id and the secret, as 64 hexadecimal characters or as whsec_… for
Standard Webhooks libraries. After a rotation also give the previous key, with its previous_key_valid_until after an @.
Other users of this machine can see arguments; SIGNING_KEYS=ID:SECRET[@TIME][,…] hides the keys from them.
The command sends nothing and never prints a secret.

Exit codes: 0 valid; 1 not valid (the reason is printed); 2 wrong usage.

Examples:
  $ SIGNING_KEYS=KEY_ID:SECRET docket callbacks verify --headers headers.txt --body body.json
  $ docket callbacks verify --headers headers.txt --body body.json --key KEY_ID:SECRET --at 2026-01-05T10:00:03Z
  $ docket callbacks verify --header "X-Service-Signature: sha256=…" --header "X-Service-Timestamp: 1767607200" \\
      --header "X-Service-Signature-Key-Id: KEY_ID" --key KEY_ID:SECRET --json < body.json
  $ docket callbacks verify --headers headers.txt --body body.json --key SECRET --computed 5f2b…`,
    )
    .action((options: VerifyOptions) => verify(context, options));
};

async function verify(context: CliContext, options: VerifyOptions): Promise<void> {
  const given =
    options.key.length > 0 ? options.key : (context.environment.SIGNING_KEYS ?? '').split(',').filter(Boolean);
  if (given.length === 0) {
    throw new CliError(
      'No key was given.',
      'Use --key ID:SECRET, or set SIGNING_KEYS; see docket callbacks verify --help.',
    );
  }
  const keys = given.map(readKey);
  const headers = readHeaders(options);
  const atSeconds = options.at === undefined ? Date.now() / 1000 : readTime(options.at, '--at');
  const delivery: Explained = { headers, keys, atSeconds, body: await readBody(context, options.body) };
  const report = explainSignature(delivery);
  const computed = options.computed === undefined ? undefined : explainComputed(options.computed, delivery);
  if (options.json) printJson(context, computed === undefined ? report : { ...report, computed });
  else printReport(context, report, computed);
  if (!report.valid) throw new FoundWrong('The delivery is not valid.', 'Each finding says what to do.');
}

function printReport(
  context: CliContext,
  { valid, families, findings }: SignatureReport,
  computed: string | null | undefined,
): void {
  print(context, valid ? 'valid' : 'not valid');
  for (const { family, present, matches, keyId } of families) {
    const verdict = matches ? `matches${keyId === null ? '' : `, by key ${keyId}`}` : 'does not match';
    print(context, `  ${FAMILY_HEADERS[family].padEnd(20)} ${present ? verdict : 'is missing'}`);
  }
  for (const { code, message, hint } of findings) print(context, `\n${code}: ${message}\n  ${hint}`);
  if (computed === undefined) return;
  const story = computed ?? 'none of the usual inputs; check the secret and the bytes that you computed it over';
  print(context, `\nYour digest was computed over: ${story}.`);
}

const KEY = /^(?:([^:@\s]+):)?([0-9a-f]{64}|whsec_[A-Za-z0-9+/]+=*)(?:@(.+))?$/i;

/** Reads one key. Error messages never repeat any part of it. */
function readKey(text: string): HeldKey {
  const [, keyId = null, written, until] = KEY.exec(text.trim()) ?? [];
  if (written === undefined) {
    throw new CliError(
      'Invalid key.',
      'Use [ID:]SECRET[@VALID_UNTIL]. The secret is 64 hexadecimal characters, or whsec_ and the base64 of those characters.',
    );
  }
  const secret = written.startsWith('whsec_') ? Buffer.from(written.slice(6), 'base64').toString('utf8') : written;
  if (!/^[0-9a-f]{64}$/i.test(secret)) {
    throw new CliError(
      'A whsec_ key does not hold a secret of this service.',
      'After whsec_ comes the base64 of the 64 hexadecimal characters as text, not of the 32 bytes that they encode.',
    );
  }
  const validUntil = until === undefined ? null : readTime(until, 'the time after the @');
  return { keyId, secret: secret.toLowerCase(), validUntil };
}

function readTime(text: string, what: string): number {
  if (/^\d{1,12}$/.test(text)) return Number(text);
  const instant = parseTimestamp(text);
  if (instant === null)
    throw new CliError(
      `${what} is not a time.`,
      'Use ISO-8601 with an offset, such as 2026-01-05T10:00:00Z, or Unix seconds.',
    );
  return toMicros(instant) / MICROS_PER_SECOND;
}

/** The headers, with names in lower case. Repeated headers are joined with commas, as in HTTP. */
function readHeaders({ headers: file, header: lines }: VerifyOptions): Record<string, string> {
  const entries = [
    ...(file === undefined ? [] : headersIn(readFile(file, '--headers').toString('utf8'))),
    ...lines.map(headerIn),
  ];
  if (entries.length === 0) throw new CliError('No header was given.', 'Use --headers FILE or --header "Name: value".');
  const headers: Record<string, string> = {};
  for (const [name, value] of entries) {
    const key = name.toLowerCase();
    headers[key] = headers[key] === undefined ? value : `${headers[key]}, ${value}`;
  }
  return headers;
}

type Header = readonly [name: string, value: string];

function headersIn(text: string): readonly Header[] {
  if (text.trimStart().startsWith('{')) return jsonHeaders(text);
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '');
  // A dump of a request starts with its request line.
  return lines.filter((line, index) => index > 0 || !/^POST \S+ HTTP\/[\d.]+$/.test(line.trim())).map(headerIn);
}

function jsonHeaders(text: string): readonly Header[] {
  try {
    const parsed: unknown = JSON.parse(text);
    return Object.entries(parsed ?? {}).map(([name, value]): Header => [name, [value].flat().map(String).join(', ')]);
  } catch {
    throw new CliError('The headers file is not valid JSON.', 'Use one JSON object, or lines of Name: value.');
  }
}

function headerIn(line: string): Header {
  const [, name, value] = /^\s*([^:\s]+)\s*:\s*(.*?)\s*$/.exec(line) ?? [];
  if (name === undefined || value === undefined) {
    throw new CliError(`Not a header: ${line}`, 'Use Name: value.');
  }
  return [name, value];
}

async function readBody(context: CliContext, file: string | undefined): Promise<Buffer> {
  if (file !== undefined && file !== '-') return readFile(file, '--body');
  if ('isTTY' in context.stdin && context.stdin.isTTY) note(context, 'The body, byte for byte; end with Ctrl-D:');
  return buffer(context.stdin);
}

function readFile(path: string, option: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    throw new CliError(
      `${option} ${path} cannot be read: ${reason}.`,
      'Give a file that exists and that you may read.',
    );
  }
}

/** The catalogue of alarms in docs/operating.md: every alarm that the source can raise, and no other. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type CheckedParts, healthChecks } from '../../src/service/health-checks.ts';

const root = join(import.meta.dirname, '../..');
const source = join(root, 'src');

/**
 * Where an alarm is named by a code that the line takes from an error, and which codes come there. A new place of this
 * kind fails the test until it is listed here.
 */
const BY_CODE: Readonly<Record<string, readonly string[]>> = {
  'identity/watched-log.ts': ['log_differs', 'log_emptied', 'log_went_back', 'log_chain_differs', 'log_mint_differs'],
  // Its followers name theirs, each as a literal of its own.
  'processes/follow-log.ts': [],
  'processes/log-heads.ts': ['log_head_differs'],
  'service/payment-chain.ts': ['storage_replaced', 'local_chain_failed'],
  'storage/sqlite/open.ts': ['storage_replaced'],
};

/** The members `alarm` of log lines, and constants for them; metrics and lists of alarms only pass on names. */
const ALARM = /\balarm(?:: | = )(?!null\b|string\b|Raised)(`[^`]*`|[^,;}\n]+)/g;
const PASSED_ON = [/^http\/admin\/metrics\//, /^cli\/status/, /^queries\/status/, /^service\/alarm-keeper/];

const files = readdirSync(source, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .filter((file) => file !== 'runtime/alarms.ts' && !PASSED_ON.some((pattern) => pattern.test(file)));
const text = (file: string): string => readFileSync(join(source, file), 'utf8');

const raised = files.flatMap((file) =>
  [
    ...text(file)
      .replace(/^\s*(?:\/\/|\/?\*).*$/gm, '')
      .matchAll(ALARM),
  ].map(([, value = '']) => ({
    file,
    value: value.trim(),
  })),
);

/** Every part that can be checked, with or without files of its own. */
const parts = Object.keys(
  healthChecks({ freeBytes: async () => 0, openFiles: async () => null } as unknown as CheckedParts),
);

const literal = (value: string): string | null => /^'([a-z_]+)'$/.exec(value)?.[1] ?? null;

function alarmsOf(file: string, value: string): readonly string[] {
  const name = literal(value);
  if (name !== null) return [name];
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of the source.
  if (value === '`${part}_${status}`') return parts.flatMap((part) => [`${part}_down`, `${part}_degraded`]);
  // A function of that name, e.g. the one that writes the line.
  if (value.startsWith('(')) return [];
  return BY_CODE[file] ?? [`${file}: alarm ${value} is not listed in BY_CODE`];
}

const all = new Set(raised.flatMap(({ file, value }) => alarmsOf(file, value)));

const page = readFileSync(join(root, 'docs/operating.md'), 'utf8');
const section = /^## Alarms\n([\s\S]*?)^## /m.exec(page)?.[1] ?? '';
const rows = [...section.matchAll(/^\| (`[^|]+) \| ([^|]+) \| ([^|]+) \|$/gm)];
const listed = rows.flatMap(([, names = '']) => [...names.matchAll(/`([a-z_]+)`/g)].map(([, name = '']) => name));

describe('the catalogue of alarms', () => {
  it('lists each alarm that the source can raise, once, and no other', () => {
    expect(all.size).toBeGreaterThan(30);
    expect([...listed].sort()).toEqual([...all].sort());
  });

  it('says what each one means and what to do', () => {
    for (const [, names, meaning = '', action = ''] of rows) {
      expect(meaning.length, names).toBeGreaterThan(20);
      expect(action.length, names).toBeGreaterThan(6);
    }
  });

  it('has no list of codes that is out of date', () => {
    for (const [file, codes] of Object.entries(BY_CODE)) {
      expect(
        raised.some((each) => each.file === file && literal(each.value) === null),
        file,
      ).toBe(true);
      for (const code of codes) {
        expect(
          files.some((each) => text(each).includes(`'${code}'`)),
          code,
        ).toBe(true);
      }
    }
  });
});

/** The alert rules: they are valid, each has cases in which it fires and in which it does not, and each is explained. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { promtool } from './promtool.ts';

const root = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly for: string;
  readonly labels: { readonly severity: string };
  readonly annotations: Readonly<Record<'summary' | 'description' | 'runbook', string>>;
}

interface Case {
  readonly alert_rule_test: readonly { readonly alertname: string; readonly exp_alerts?: readonly unknown[] }[];
}

const RULES = 'ops/prometheus/alerts.yml';
const CASES = 'ops/prometheus/alerts.test.yml';
const rules: readonly Rule[] = parse(read(RULES)).groups.flatMap(({ rules: all }: { rules: Rule[] }) => all);
const names = rules.map(({ alert }) => alert);

describe('the alert rules', () => {
  it.skipIf(promtool.isMissing).each([
    ['check', 'rules', RULES],
    ['check', 'config', 'ops/prometheus/prometheus.yml'],
    ['test', 'rules', CASES],
  ])(
    'pass promtool %s %s',
    async (...args) => {
      const paths = args.map((arg) => (arg.startsWith('ops/') ? join(root, arg) : arg));
      const { code, output } = await promtool.run(paths);
      expect(code, output).toBe(0);
    },
    300_000,
  );

  it('have names of their own, a duration, a severity, and texts', () => {
    expect(new Set(names).size).toBe(names.length);
    expect(names.length).toBeGreaterThan(20);
    for (const { alert, for: duration, labels, annotations } of rules) {
      expect(duration, alert).toMatch(/^\d+[mh]$/);
      expect(['critical', 'warning'], alert).toContain(labels.severity);
      expect(annotations.summary, alert).not.toBe('');
      expect(annotations.description, alert).not.toBe('');
    }
  });

  it('each have a case that fires and one that does not', () => {
    const cases: readonly Case[] = parse(read(CASES)).tests;
    const checks = cases.flatMap(({ alert_rule_test: all }) => all);
    const having = (fires: boolean) =>
      new Set(
        checks
          .filter(({ exp_alerts: expected = [] }) => expected.length > 0 === fires)
          .map(({ alertname }) => alertname),
      );
    expect(names.filter((name) => !having(true).has(name))).toEqual([]);
    expect(names.filter((name) => !having(false).has(name))).toEqual([]);
    // A misspelt name would pass every case that expects nothing.
    expect(checks.map(({ alertname }) => alertname).filter((name) => !names.includes(name))).toEqual([]);
  });

  it('each lead to what to do, and docs/operating.md explains no other', () => {
    const page = read('docs/operating.md');
    const section = /^## Alerts\n([\s\S]*?)^## /m.exec(page)?.[1] ?? '';
    const explained = [...section.matchAll(/^### (\w+)\n\n(\S.{20,})/gm)].map(([, name]) => name);
    expect(explained).toEqual(names);
    for (const { alert, annotations } of rules) {
      expect(annotations.runbook).toBe(`docs/operating.md#${alert.toLowerCase()}`);
    }
  });
});

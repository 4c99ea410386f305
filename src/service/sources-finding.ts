/** Whether live sources work as a whole, for the part `sources`. A single court has its status in `GET /v2/status`. */
import { type Finding, NOMINAL } from '../http/admin/health.ts';
import type { SourceRecord } from '../projections/source-records.ts';

interface Trouble {
  readonly code: string;
  readonly reason: string;
  readonly hint: string;
}

/** What an operator should look at first. */
const ORDER = ['source_misconfigured', 'source_failing', 'source_degraded', 'source_paused'];

export function sourcesFinding(records: ReadonlyMap<string, SourceRecord>): Finding {
  const troubles = [...records].flatMap(([name, record]) => troubleOf(name, record) ?? []);
  troubles.sort((a, b) => ORDER.indexOf(a.code) - ORDER.indexOf(b.code));
  const [first] = troubles;
  if (!first) return NOMINAL;
  return { ...first, status: 'degraded', reason: troubles.map(({ reason }) => reason).join('; ') };
}

function troubleOf(name: string, { paused, standing }: SourceRecord): Trouble | null {
  if (paused) {
    return {
      code: 'source_paused',
      reason: `${name} is paused by ${paused.by}: ${paused.reason}`,
      hint: `docket sources resume ${name} --reason TEXT has it asked again.`,
    };
  }
  if (standing === null || standing.standing === 'working') return null;
  const why = standing.why ?? 'unknown';
  if (standing.standing === 'misconfigured') {
    return {
      code: 'source_misconfigured',
      reason: `${name} refuses this service: ${why}`,
      hint: `Check its account and its variables (docket config); docs/sources.md says how to set up ${name}.`,
    };
  }
  return {
    code: `source_${standing.standing}`,
    reason: `${name} is ${standing.standing}: ${why}`,
    hint: `docket sources show ${name} has what it did. Known cases are answered meanwhile, with their age; it is tried again by itself.`,
  };
}

/** The nodes in `docket status`, and what each owns. */
import { isUnreadable, type Section } from '../../queries/status.ts';
import type { NodeStanding, Nodes } from '../../queries/status-nodes.ts';
import type { Micros } from '../../runtime/instant.ts';
import { age, counted, type Row } from './text.ts';

const MOST_NODES = 20;

export function nodeLines(section: Section<Nodes>, now: Micros): readonly Row[] {
  if (isUnreadable(section)) return [{ label: 'nodes', text: `cannot be read: ${section.unreadable}` }];
  const { nodes, others } = section;
  const rows = nodes.slice(0, MOST_NODES).flatMap((node) => nodeTexts(node, now));
  const more = nodes.length - MOST_NODES;
  // A process without a notice: an earlier version, or a command that works under a lease.
  const owners = new Map<string, string[]>();
  for (const { name, owner } of others) owners.set(owner, [...(owners.get(owner) ?? []), name]);
  const texts = [
    ...rows,
    ...(more > 0 ? [`and ${counted(more, 'node')} more: --json shows all`] : []),
    ...[...owners].map(([owner, names]) => `${processOf(owner)}, no node of this version: owns ${ownedText(names)}`),
  ];
  const shown = texts.length > 0 ? texts : ['none'];
  return shown.map((text, index) => ({ label: index === 0 ? 'nodes' : '', text }));
}

function nodeTexts(
  { host, pid, version, startedAt, url, state, lastSeen, leases }: NodeStanding,
  now: Micros,
): string[] {
  const seen = age(lastSeen, now);
  const standing =
    state === 'running'
      ? `up for ${age(startedAt, now)}`
      : `${state === 'dead' ? 'DEAD: it ended without a stop' : 'SILENT'}, last seen ${seen} ago`;
  return [
    `${host} process ${pid}, version ${version}${url ? `, ${url}` : ''}, ${standing}`,
    ...(leases.length > 0 ? [`  owns ${ownedText(leases)}`] : state === 'running' ? ['  owns nothing'] : []),
  ];
}

/** `HOST/PID/STARTED/UUID` as `HOST process PID`; other owners as they are. */
function processOf(owner: string): string {
  const [host, pid] = owner.split('/');
  return pid === undefined ? owner : `${host} process ${pid}`;
}

/** Names of leases, those of one kind together: `projections cases, payments; callbacks 0-7; payment-recovery`. */
export function ownedText(leases: readonly string[]): string {
  const kinds = new Map<string, string[]>();
  const single: string[] = [];
  for (const name of leases) {
    const [kind = '', ...rest] = name.split('/');
    if (rest.length === 0) single.push(name);
    else kinds.set(kind, [...(kinds.get(kind) ?? []), rest.join('/')]);
  }
  const grouped = [...kinds].map(([kind, names]) =>
    names.every((name) => /^\d+$/.test(name))
      ? `${kind} ${ranges(names.map(Number))}`
      : `${kind === 'projection' ? 'projections' : kind} ${withoutOnlyGenerations(names.toSorted()).join(', ')}`,
  );
  return [...grouped, ...single].join('; ');
}

/** The lease of a read model names its generation, which matters only beside another one. */
function withoutOnlyGenerations(names: readonly string[]): readonly string[] {
  const baseOf = (name: string): string => name.replace(/@\d+$/, '');
  return names.map((name) =>
    names.filter((other) => baseOf(other) === baseOf(name)).length > 1 ? name : baseOf(name),
  );
}

/** `0-3, 7` for 0, 1, 2, 3, 7. */
function ranges(numbers: readonly number[]): string {
  const found: { from: number; to: number }[] = [];
  for (const number of numbers.toSorted((a, b) => a - b)) {
    const last = found.at(-1);
    if (last && number === last.to + 1) last.to = number;
    else found.push({ from: number, to: number });
  }
  return found.map(({ from, to }) => (from === to ? `${from}` : `${from}-${to}`)).join(', ');
}

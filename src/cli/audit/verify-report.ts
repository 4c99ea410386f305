/** What `docket audit verify` prints at its end, and on a terminal while it runs. */
import { LISTED } from '../../audit/rules/catalogue.ts';
import type { Progress, Verification } from '../../audit/verify/verify.ts';
import { type HeadClaim, verifierKeyOf } from '../../events/log-note.ts';
import type { CliContext } from '../command.ts';

/** The summary, as `--json` prints it. */
export type Figures = ReturnType<typeof figuresOf>;

export function figuresOf(
  verification: Verification,
  { seconds, kept }: { readonly seconds: number; readonly kept: HeadClaim | null },
) {
  const { keys, anchorCompared } = verification;
  const { logId, events, read, streams, last, root, heads, anchors, proven, anchored, keptHolds, payloads } =
    verification;
  const listed = verification.rules.filter(({ rule }) => LISTED.has(rule));
  const breaches = verification.rules.filter(({ rule }) => !LISTED.has(rule));
  const counted = (of: 'own' | 'following') =>
    Object.fromEntries(breaches.filter((rule) => rule[of] > 0).map((rule) => [rule.rule, rule[of]]));
  const sum = (counts: Readonly<Record<string, number>>) =>
    Object.values(counts).reduce((total, count) => total + count, 0);
  const [byRule, following] = [counted('own'), counted('following')];
  return {
    log_id: logId,
    events,
    read,
    streams,
    last: last && { stream: last.stream, revision: last.revision, position: last.position },
    size: events,
    root,
    breaches: sum(byRule),
    by_rule: byRule,
    /** Breaches that only follow from others. */
    following: sum(following),
    following_by_rule: following,
    /** As the service promises, and listed apart. */
    listed: Object.fromEntries(listed.map(({ rule, own, following }) => [rule, own + following])),
    unprovable: Object.fromEntries(verification.unprovable.map(({ rule, count }) => [rule, count])),
    heads,
    anchors,
    proven_up_to: proven && {
      size: proven.size,
      root: proven.root,
      head_revision: proven.revision,
      master_version: proven.masterVersion,
      public_key: proven.publicKey,
      events_after: events - proven.size,
    },
    /** What vouches for each key of heads: `kept`, `derived`, `log` (nothing else), or `other` (it is another). */
    keys: keys.map(({ masterVersion, publicKey, vouchedBy, masterKeyDiffers }) => ({
      master_version: masterVersion,
      public_key: publicKey,
      verifier_key: logId === null ? null : verifierKeyOf(logId, publicKey),
      vouched_by: vouchedBy,
      master_key_differs: masterKeyDiffers,
    })),
    anchored_up_to: anchored && {
      size: anchored.size,
      root: anchored.root,
      transaction: anchored.transaction,
      compared: anchorCompared,
    },
    kept_head: kept && { size: kept.size, root: kept.root, holds: keptHolds },
    payloads,
    seconds: Math.round(seconds * 1000) / 1000,
  };
}

const number = (value: number): string => value.toLocaleString('en-US');

/** The summary for people. */
export function linesOf(figures: Figures): readonly string[] {
  const { events, read, streams, breaches, following, seconds, payloads } = figures;
  const earlier = read < events ? `, ${number(events - read)} of them by the checkpoint` : '';
  const rate = seconds > 0 ? `, ${number(Math.round(read / seconds))} a second` : '';
  const lines = [
    `${number(events)} events in ${number(streams)} streams${earlier}; ${seconds.toFixed(1)} s${rate}`,
    ...provenLines(figures),
  ];
  if (payloads) {
    const { named, intact, replaced, removed, expired } = payloads;
    lines.push(
      `content: ${number(named)} names, ${number(intact)} intact, ${number(replaced)} replaced by record, ${number(removed)} removed by record, ${number(expired)} expired`,
    );
  } else {
    lines.push('content: not compared (--no-payloads)');
  }
  for (const [rule, count] of Object.entries(figures.unprovable)) {
    lines.push(`unprovable: ${rule}, ${number(count)} (recorded by an earlier version, or no longer checkable)`);
  }
  for (const [rule, count] of Object.entries(figures.listed)) {
    lines.push(`listed: ${rule}, ${number(count)} (no breach)`);
  }
  for (const [rule, count] of Object.entries(figures.by_rule)) lines.push(`breach: ${rule}, ${number(count)}`);
  if (following > 0) lines.push(`${number(following)} more only follow from these: see --all`);
  lines.push(breaches === 0 ? 'no breach' : `${number(breaches)} ${breaches === 1 ? 'breach' : 'breaches'}`);
  return lines;
}

function provenLines({
  events,
  root,
  heads,
  proven_up_to: proven,
  keys,
  anchored_up_to: anchored,
  kept_head: kept,
  listed,
}: Figures) {
  const lines: string[] = [`tree: ${number(events)} events, root ${root}`];
  if (proven) {
    lines.push(
      `heads: ${number(heads)}; the first ${number(proven.size)} events are covered by head ${proven.head_revision}, signed by key v${proven.master_version} ${proven.public_key}`,
      proven.events_after === 1
        ? 'the last event is after that head: only its hash holds it'
        : `the last ${number(proven.events_after)} events are after that head: only their hashes hold them`,
    );
  } else {
    lines.push(
      heads === 0
        ? 'WARNING: NO HEADS: nothing proves that no stream was removed, added or moved. If the service ever wrote heads (AUDIT_HEADS), they were removed: compare one that you kept (--head)'
        : `heads: ${number(heads)}, and none of them proves this log`,
    );
  }
  if (listed.head_in_time !== undefined && heads > 0) {
    lines.push(
      'WARNING: events were recorded for over an hour without a head: AUDIT_HEADS was off, the service was killed, or heads were removed',
    );
  }
  lines.push(...keys.map(keyLine));
  if (anchored) {
    const standing = anchored.compared
      ? 'which is on the chain; docket audit anchor --verify also checks who signed it'
      : 'as the log says: not compared with the chain (--chain)';
    lines.push(
      `anchor: the first ${number(anchored.size)} events, by transaction ${anchored.transaction}, ${standing}`,
    );
  }
  if (kept) {
    lines.push(
      kept.holds
        ? `kept head: the first ${number(kept.size)} events are those of ${kept.root}`
        : `kept head: the log does not hold the head over ${number(kept.size)} events with root ${kept.root}`,
    );
  }
  return lines;
}

function keyLine(
  { master_version: version, verifier_key: key, vouched_by: by, master_key_differs: differs }: Key,
  index: number,
) {
  const line = `key v${version}: `;
  if (by === 'kept') return `${line}one that you gave with --key`;
  if (by === 'derived') return `${line}that of the master key of the settings`;
  if (by === 'other') return `${line}not what was kept or the master key gives: see the breach`;
  const master = differs ? '; the master key of the settings is not the one that the log names' : '';
  const later = index > 0 ? ', and no earlier key signed its introduction' : '';
  return `${line}as the log says${later}${master}. Compare it with one that you kept: --key ${key}`;
}

type Key = Figures['keys'][number];

const REDRAW_MS = 200;
const NOTE_MS = 10_000;

/** One line that is redrawn on a terminal; elsewhere a line every ten seconds and for each checkpoint. */
export function showProgress(context: CliContext): { show(progress: Progress): void; end(): void } {
  const began = performance.now();
  let drawnAt = began;
  let drawn = false;
  return {
    show(progress) {
      const now = performance.now();
      if (progress.stage === 'kept') {
        if (!context.interactive) context.stderr.write(`${number(progress.events)} events are in the checkpoint\n`);
        return;
      }
      if (now - drawnAt < (context.interactive ? REDRAW_MS : NOTE_MS)) return;
      drawnAt = now;
      drawn = true;
      const line = progressLine(progress, (now - began) / 1000);
      context.stderr.write(context.interactive ? `\r\u001B[K${line}` : `${line}\n`);
    },
    end() {
      if (drawn && context.interactive) context.stderr.write('\r\u001B[K');
      drawn = false;
    },
  };
}

function progressLine({ stage, events, share }: Progress, seconds: number): string {
  const percent = `${Math.floor(share * 100)} %`;
  if (stage === 'judging') return `${number(events)} events read; judging what ties streams together, ${percent}`;
  const left = share > 0 ? Math.ceil((seconds / share) * (1 - share)) : null;
  return `${number(events)} events, ${number(Math.round(events / seconds))} a second, ${percent}${left === null ? '' : `, about ${number(left)} s left`}`;
}

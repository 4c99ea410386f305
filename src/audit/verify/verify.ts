/**
 * `docket audit verify`: reads the log once, in its order, and judges all of it (docs/design/audit.md#verification).
 * Everything that it must remember is in the scratch database, so that memory does not grow with the log and a killed
 * run resumes.
 */

import type { Json } from '../../events/event.ts';
import type { Clock, Instant } from '../../runtime/instant.ts';
import type { EventMark } from '../../storage/event-log.ts';
import type { PayloadStore } from '../../storage/payload-store.ts';
import type { RawEventLog } from '../../storage/raw-events.ts';
import type { Database } from '../../storage/sqlite/driver.ts';
import type { FactRules, LogRules, StreamRules } from '../judging.ts';
import type { RuleName } from '../rules/catalogue.ts';
import type { FoundBreach } from './breaches.ts';
import type { Examiner } from './examine.ts';
import type { JudgedKey, TrustedKeys } from './head-keys.ts';
import type { ClaimedAnchor, KeptClaim, ProvenHead } from './heads.ts';
import { Judgement } from './judgement.ts';
import type { PayloadCounts } from './payloads.ts';

export interface Rules {
  readonly streams: readonly StreamRules<Json>[];
  readonly facts: readonly FactRules[];
  readonly log: readonly LogRules<Json>[];
}

/** What the chain says about an anchor that the log claims; null: its endpoints no longer keep that time. */
export type CheckAnchor = (
  anchor: ClaimedAnchor,
) => Promise<
  { readonly holds: true | null } | { readonly holds: false; readonly expected: string; readonly found: string }
>;

export interface VerifyPorts {
  readonly log: RawEventLog;
  readonly examiner: Examiner;
  /** Null: content is not compared. */
  readonly payloads: Pick<PayloadStore, 'getEncoded' | 'resolve'> | null;
  /** A temporary database, or the checkpoint to go on from. */
  readonly scratch: Database;
  readonly rules: Rules;
  readonly clock: Clock;
  readonly checkAnchor?: CheckAnchor | undefined;
}

export interface VerifyOptions {
  /** A head that somebody kept: the log must begin with its events. */
  readonly kept?: KeptClaim | null;
  /** What the auditor knows about the keys of heads. */
  readonly trusted?: TrustedKeys;
  /** After how many events a killed run need not begin again. */
  readonly commitEvery?: number;
  readonly onProgress?: (progress: Progress) => void;
}

export interface Progress {
  /** `kept`: everything so far is in the checkpoint. */
  readonly stage: 'reading' | 'kept' | 'judging';
  /** Events read by this run. */
  readonly events: number;
  /** Which part of this stage is done, 0 to 1. */
  readonly share: number;
}

export interface Verification {
  readonly logId: string | null;
  /** In the whole log, with what a checkpoint had verified. */
  readonly events: number;
  /** Read by this run. */
  readonly read: number;
  readonly streams: number;
  readonly last: EventMark | null;
  readonly root: string;
  readonly heads: number;
  readonly anchors: number;
  /** The keys that the log introduced for heads, in that order. */
  readonly keys: readonly JudgedKey[];
  readonly proven: ProvenHead | null;
  /** The newest anchor, if the proven head is at least as new. */
  readonly anchored: ClaimedAnchor | null;
  /** Whether this run has found that anchor on the chain. */
  readonly anchorCompared: boolean;
  readonly keptHolds: boolean | null;
  readonly payloads: PayloadCounts | null;
  readonly rules: readonly { readonly rule: RuleName; readonly own: number; readonly following: number }[];
  readonly unprovable: readonly { readonly rule: RuleName; readonly count: number }[];
  readonly until: Instant | null;
  /** In the order of the log; valid until the scratch database is closed. */
  breaches(): Iterable<FoundBreach>;
}

const COMMIT_EVERY = 200_000;

/**
 * Verifies everything up to the present head.
 * @throws CheckpointMismatch if the scratch database is a checkpoint of another log, CheckpointDamaged
 * @throws StorageFailure if the log or the payload store cannot be read
 */
export async function verifyLog(ports: VerifyPorts, options: VerifyOptions = {}): Promise<Verification> {
  const { log, examiner } = ports;
  const { kept = null, commitEvery = COMMIT_EVERY, onProgress = () => undefined } = options;
  const judgement = new Judgement(ports, kept, options.trusted);
  await judgement.assertResumable();
  judgement.noteMisplaced(await log.misplaced());
  const head = await log.head();
  if (head !== null) {
    let uncommitted = 0;
    for await (const examined of examiner.examined(judgement.upTo, head)) {
      await judgement.take(examined);
      uncommitted += examined.count;
      if (uncommitted >= commitEvery) {
        judgement.commit();
        uncommitted = 0;
        onProgress({ stage: 'kept', events: judgement.read, share: log.share(examined.upTo, head) });
      }
      onProgress({ stage: 'reading', events: judgement.read, share: log.share(examined.upTo, head) });
    }
  }
  await judgement.readForHeads();
  judgement.commit();
  judgement.finish((share) => onProgress({ stage: 'judging', events: judgement.read, share }));
  return judgement.result();
}

import type { Json } from '../../events/event.ts';
import { LogHeadAnchored, LogHeadKeyIntroduced, LogHeadRecorded } from '../../events/log-head.ts';
import { LogFounded } from '../../events/log-identity.ts';
import { MasterKeyIntroduced } from '../../events/signing-key.ts';
import type { Instant } from '../../runtime/instant.ts';
import type { Position } from '../../storage/event-log.ts';
import type { MisplacedEvent } from '../../storage/raw-events.ts';
import type { EventPlace, JudgedEvent, LogRules, StreamRules } from '../judging.ts';
import { LogTime } from '../log-time.ts';
import type { RuleName } from '../rules/catalogue.ts';
import { Breaches } from './breaches.ts';
import { assertSameLog, type Checkpoint } from './checkpoint.ts';
import { EventFindings, type LogState } from './event-findings.ts';
import type { ExaminedEvents, Fault } from './examine.ts';
import { Facts } from './facts.ts';
import { NO_TRUSTED_KEYS, type TrustedKeys } from './head-keys.ts';
import { type HeadFindings, Heads, type KeptClaim } from './heads.ts';
import { LookUps } from './look-ups.ts';
import { Payloads } from './payloads.ts';
import { Positions } from './positions.ts';
import { CHECKPOINT_FORMAT, Scratch } from './scratch.ts';
import { type StreamRecord, Streams, TAINTED } from './streams.ts';
import { Taints } from './taints.ts';
import { type Uncovered, uncoveredFault, uncoveredOf } from './uncovered.ts';
import type { Verification, VerifyPorts } from './verify.ts';

const CHECKPOINT = 'checkpoint';

export class Judgement {
  readonly #ports: VerifyPorts;
  readonly #scratch: Scratch;
  readonly #before: Checkpoint | null;
  readonly #breaches: Breaches;
  readonly #taints: Taints;
  readonly #streams: Streams;
  readonly #facts: Facts;
  readonly #heads: Heads;
  readonly #positions: Positions;
  readonly #payloads: Payloads | null;
  readonly #lookUps: LookUps;
  readonly #logRules: readonly { readonly rules: LogRules<Json>; state: Json | undefined }[];
  readonly #logTime: LogTime;
  readonly #findings: EventFindings;
  readonly #headFindings: HeadFindings;
  readonly #kept: KeptClaim | null;
  readonly #trusted: TrustedKeys;
  #uncovered: Uncovered | null = null;
  #last: Checkpoint['last'] = null;
  #upTo: Position | null = null;
  #until: Instant | null = null;
  #logId: string | null = null;
  #read = 0;
  #streamCount = 0;
  /** Whether an event has named its command: from then on all do. */
  #commandNamed = false;
  /** An event that the rules of the whole log see is broken, so what they find from there on follows from that. */
  #logTainted = false;
  #misplaced: readonly MisplacedEvent[] = [];
  /** Streams that have events where no reader finds them. */
  #lacking: ReadonlySet<string> = new Set();
  #at: EventPlace | null = null;

  constructor(ports: VerifyPorts, kept: KeptClaim | null, trusted = NO_TRUSTED_KEYS) {
    this.#ports = ports;
    this.#kept = kept;
    this.#trusted = trusted;
    this.#scratch = new Scratch(ports.scratch);
    const before = this.#scratch.note<Checkpoint>(CHECKPOINT);
    this.#before = before;
    this.#breaches = new Breaches(this.#scratch);
    this.#taints = new Taints(this.#scratch);
    this.#streams = new Streams(this.#scratch, ports.rules.streams, this.#breaches);
    this.#facts = new Facts(this.#scratch, ports.rules.facts, this.#breaches, this.#taints);
    const sameFormat = before?.format === CHECKPOINT_FORMAT ? before : null;
    this.#heads = new Heads(this.#scratch, kept, sameFormat?.heads ?? null);
    this.#positions = new Positions(ports.log.gapless, sameFormat?.positions ?? null);
    const { payloads, log, clock } = ports;
    this.#payloads = payloads && new Payloads(payloads, log, clock, sameFormat?.payloads ?? null);
    this.#logRules = ports.rules.log.map((rules, index) => ({
      rules,
      state: sameFormat?.logRules[index] ?? undefined,
    }));
    this.#lookUps = new LookUps(ports, this.#breaches, this.#payloads);
    this.#logTime = new LogTime(sameFormat?.logTime);
    const logState: LogState = (rules) => this.#logState(rules);
    this.#findings = new EventFindings(this.#breaches, this.#facts, this.#lookUps, logState, this.#logTime);
    this.#headFindings = {
      breach: (rule, expected, found, follows) =>
        this.#breach(
          rule,
          expected,
          found,
          follows ?? (this.#findings.breached ? 'another breach at this event' : null),
        ),
    };
    if (!sameFormat) return;
    this.#last = sameFormat.last;
    this.#upTo = sameFormat.upTo;
    this.#until = sameFormat.until;
    this.#logId = sameFormat.logId;
    this.#streamCount = sameFormat.streams;
    this.#commandNamed = sameFormat.commandNamed;
    this.#logTainted = sameFormat.logTainted;
  }

  /** Everything up to here was judged; null: nothing. */
  get upTo(): Position | null {
    return this.#upTo;
  }

  /** Events judged by this run. */
  get read(): number {
    return this.#read;
  }

  /** @throws CheckpointMismatch unless the log still is the one that the checkpoint is of */
  async assertResumable(): Promise<void> {
    if (!this.#before) return;
    const { log, payloads } = this.#ports;
    const asked = { log, kept: this.#kept, heads: this.#heads, comparesContent: payloads !== null };
    await assertSameLog(this.#before, asked);
  }

  /** To be called before the first batch. */
  noteMisplaced(misplaced: readonly MisplacedEvent[]): void {
    this.#misplaced = misplaced;
    this.#lacking = new Set(misplaced.map(({ stream }) => stream));
    this.#breaches.forget('misplaced');
    for (const { stream, revision, position } of misplaced) {
      const expected = 'a position from 1 on, where readers of the log find it';
      const breach = { rule: 'positions_contiguous', stream, revision, position, expected, found: position } as const;
      this.#breaches.add(breach, 'misplaced');
      this.#taints.add(stream);
    }
  }

  /** Judges one batch. Batches come in log order. */
  async take({ places, hashes, judged, count, upTo, faults, unprovableIds }: ExaminedEvents): Promise<void> {
    const faulty = new Map(faults.map((fault) => [fault.index, fault]));
    for (const [index, place] of places.entries()) {
      const record = this.#continue(place);
      const fault = faulty.get(index);
      const event = judged[index];
      if (fault) this.#broken(record, place, fault);
      else if (event) {
        this.#judgeOrReport(record, event);
        this.#streams.grew(record, event.data);
      }
      this.#heads.add(hashes[index] ?? null, place);
    }
    if (count > 0 && this.#at) {
      const { position, stream, revision, id } = this.#at;
      this.#last = { position, stream, revision, id, hash: hashes.at(-1) ?? null };
    }
    this.#read += count;
    this.#upTo = upTo;
    this.#breaches.addUnprovable('event_id_recomputable', unprovableIds);
    await this.#lookUps.run();
  }

  /** Its position in the log, and its revision in its stream. */
  #continue(place: EventPlace): StreamRecord {
    this.#at = place;
    const { stream, revision, position } = place;
    const rises = this.#positions.next(place);
    if (rises === 'falls') this.#breach('positions_contiguous', 'a position after the one before', position, null);
    if (rises !== 'rises') this.#heads.damaged(`missing or repeated positions before ${stream} ${revision}`);
    const record = this.#streams.of(place);
    if (this.#lacking.size > 0 && this.#lacking.has(stream)) this.#taint(record);
    const [expected, before] = [record.revision + 1, record.position];
    if (before === null && record.id === null) this.#streamCount++;
    const continuation = this.#streams.advance(record, place);
    if (continuation.kind === 'next') return record;
    this.#taint(record);
    this.#heads.damaged(`the revisions of ${stream} at ${revision}`);
    if (continuation.kind === 'late') return record;
    if (continuation.kind === 'gap') this.#positions.lacks(before, position, continuation.missing);
    this.#breach('revisions_contiguous', `revision ${expected}`, `revision ${revision}`, null);
    return record;
  }

  #broken(
    record: StreamRecord,
    { stream, revision, type }: EventPlace,
    { rule, expected, found }: Omit<Fault, 'index'>,
  ): void {
    this.#breach(rule, expected, found, null);
    this.#taint(record);
    this.#heads.damaged(`${rule} at ${stream} ${revision}`);
    if (this.#logRules.some(({ rules }) => rules.types.has(type))) this.#logTainted = true;
  }

  /** What fits its schema may still say something that no rule can work with, such as the 99th of a month. */
  #judgeOrReport(record: StreamRecord, event: JudgedEvent): void {
    try {
      this.#judge(record, event);
    } catch (error) {
      if (!(error instanceof RangeError || error instanceof TypeError || error instanceof SyntaxError)) throw error;
      const found = `what cannot be judged: ${error.message}`;
      this.#broken(record, event, { rule: 'event_readable', expected: 'values that exist', found });
    }
  }

  #judge(record: StreamRecord, event: JudgedEvent): void {
    const { type, metadata } = event;
    this.#until = metadata.recordedAt;
    if (metadata.commandId !== undefined) this.#commandNamed = true;
    else if (this.#commandNamed) this.#breach('command_recorded', 'the command of the event', 'none', null);
    this.#findings.of(event, record.tainted ? TAINTED : null);
    const { rules, states } = record;
    for (let index = 0; index < rules.length; index++) {
      states[index] = (rules[index] as StreamRules<Json>).judge(states[index], event, this.#findings);
    }
    if (this.#logTainted) this.#findings.of(event, 'a broken event that concerns the whole log');
    for (const one of this.#logRules) {
      if (one.rules.types.has(type)) one.state = one.rules.judge(one.state, event, this.#findings);
    }
    this.#logTime.note(metadata.recordedAt, type);
    this.#payloads?.note(event);
    this.#judgeHead(event);
  }

  #logState<State extends Json>(rules: LogRules<State>): State | undefined {
    return this.#logRules.find((one) => one.rules === (rules as LogRules<Json>))?.state as State | undefined;
  }

  #judgeHead({ type, data, stream, revision, position }: JudgedEvent): void {
    switch (type) {
      case LogFounded.type: {
        const { logId } = LogFounded.schema.parse(data);
        this.#logId ??= logId;
        this.#heads.founded(logId);
        break;
      }
      case LogHeadKeyIntroduced.type:
        this.#heads.introduceKey(LogHeadKeyIntroduced.schema.parse(data), { revision, position }, this.#headFindings);
        break;
      case MasterKeyIntroduced.type: {
        const { masterVersion, fingerprint } = MasterKeyIntroduced.schema.parse(data);
        this.#heads.keys.noteMasterKey(masterVersion, fingerprint);
        break;
      }
      case LogHeadRecorded.type:
        this.#heads.check(LogHeadRecorded.schema.parse(data), { revision, position }, this.#headFindings);
        break;
      case LogHeadAnchored.type: {
        const anchor = this.#heads.anchor(LogHeadAnchored.schema.parse(data), this.#headFindings);
        if (anchor) this.#lookUps.anchor(anchor, { stream, revision, position });
      }
    }
  }

  #taint(record: StreamRecord): void {
    if (record.tainted) return;
    record.tainted = true;
    this.#taints.add(record.stream);
  }

  /** A breach at the event that is judged now. */
  #breach(rule: RuleName, expected: string, found: string, followsFrom: string | null): void {
    if (!this.#at) throw new Error('a breach needs an event');
    const { stream, revision, position } = this.#at;
    this.#breaches.add({ rule, stream, revision, position, expected, found }, '', followsFrom);
  }

  /** Makes everything so far durable, so that a run that is killed resumes here. */
  commit(): void {
    this.#streams.store();
    this.#facts.store();
    this.#scratch.setNote(CHECKPOINT, this.#checkpoint());
    this.#scratch.commit();
  }

  /** Reads again what heads need at the end. @throws StorageFailure */
  async readForHeads(): Promise<void> {
    const { log } = this.#ports;
    const upTo = this.#upTo;
    if (upTo === null) return;
    await this.#heads.late.check(log, upTo, (breach, follows) => this.#breaches.add(breach, '', follows));
    const place = this.#heads.uncovered;
    this.#uncovered = place && uncoveredOf(await log.find(place.stream, place.revision));
  }

  /** What only the whole log can tell. To be called after `commit`. */
  finish(onProgress: (share: number) => void): void {
    if (this.#until !== null) {
      // EventStoreDB makes the events of an append readable one by one, and reading may have ended between two.
      const unfinished = this.#ports.log.gapless ? null : (this.#last?.position ?? null);
      this.#streams.end(this.#until, this.#lacking, unfinished, (rules) => this.#logState(rules));
      this.#facts.judge(this.#until, (judged, of) => {
        this.#scratch.commit();
        onProgress(judged / of);
      });
    }
    this.#breaches.forget('positions');
    const missing = this.#positions.missing(this.#misplaced.length);
    if (missing) this.#breaches.add(missing.breach, 'positions', missing.follows);
    this.#breaches.forget('heads');
    for (const breach of this.#heads.keys.breaches(this.#trusted)) this.#breaches.add(breach, 'heads');
    const late = this.#commandNamed && this.#until !== null && uncoveredFault(this.#uncovered, this.#until);
    if (late) this.#breaches.add(late, 'heads');
    this.#breaches.forget('kept head');
    const kept = this.#heads.keptBreach();
    if (kept) {
      const { followsFrom, expected, found } = kept;
      const place = { stream: 'log-head', revision: null, position: null };
      this.#breaches.add({ rule: 'head_kept_matches', ...place, expected, found }, 'kept head', followsFrom);
    }
    this.#scratch.commit();
  }

  result(): Verification {
    const proven = this.#heads.proven;
    const anchored = this.#heads.anchored;
    return {
      logId: this.#logId,
      events: this.#heads.size,
      read: this.#read,
      streams: this.#streamCount,
      last: this.#last,
      root: this.#heads.root(),
      heads: this.#heads.recorded,
      anchors: this.#heads.anchors,
      keys: this.#heads.keys.judged(this.#trusted),
      anchorCompared: anchored !== null && this.#lookUps.anchoredOnChain.has(anchored.transaction),
      proven,
      anchored: anchored && proven && anchored.size <= proven.size ? anchored : null,
      keptHolds: this.#kept && this.#heads.keptBreach() === null,
      payloads: this.#payloads?.counts ?? null,
      rules: this.#breaches.counts(),
      unprovable: this.#breaches.unprovable(),
      until: this.#until,
      breaches: () => this.#breaches.all(),
    };
  }

  #checkpoint(): Checkpoint {
    return {
      format: CHECKPOINT_FORMAT,
      logId: this.#logId,
      last: this.#last,
      upTo: this.#upTo,
      until: this.#until,
      events: this.#heads.size,
      streams: this.#streamCount,
      commandNamed: this.#commandNamed,
      logTainted: this.#logTainted,
      heads: this.#heads.toJson(),
      positions: this.#positions.toJson(),
      logRules: this.#logRules.map(({ state }) => state ?? null),
      payloads: this.#payloads?.counts ?? null,
      logTime: this.#logTime.toJson(),
    };
  }
}

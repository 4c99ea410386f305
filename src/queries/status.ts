/**
 * Everything that `docket status` shows, as one value (docs/design/operations.md#status). Each section is read apart:
 * one that cannot be read says why, and the others are shown.
 */
import type { Court } from '../courts/court.ts';
import type { LiveSourceName } from '../events/source.ts';
import type { Projection } from '../projections/projection.ts';
import { revenue } from '../projections/revenue.ts';
import { type ProjectionReport, projectionReports } from '../projections/status.ts';
import type { Clock, Instant } from '../runtime/instant.ts';
import type { Storage } from '../storage/storage.ts';
import { type KeptAlarm, lastAlarms } from './status-alarms.ts';
import { type CallbackStatus, callbackStatus } from './status-callbacks.ts';
import type { Runway } from './status-fee-payer.ts';
import { type LogStatus, logStatus } from './status-log.ts';
import { type MoneyStatus, moneyStatus } from './status-money.ts';
import { type Nodes, statusNodes } from './status-nodes.ts';
import { type PaymentStatus, paymentStatus } from './status-payments.ts';
import { type SourceStatus, sourceStatus } from './status-sources.ts';

/** Why a section is missing. */
export interface Unreadable {
  readonly unreadable: string;
  /** What an operator can do, if the failure says so. */
  readonly hint?: string;
}

export type Section<Value> = Value | Unreadable;

export const isUnreadable = <Value extends object>(section: Section<Value>): section is Unreadable =>
  'unreadable' in section;

export interface StorageStatus {
  readonly log: Section<LogStatus>;
  readonly projections: Section<readonly ProjectionReport[]>;
  readonly callbacks: Section<CallbackStatus>;
  readonly sources: Section<readonly SourceStatus[]>;
  readonly payments: Section<PaymentStatus>;
  readonly money: Section<ShownMoney>;
  readonly nodes: Section<Nodes>;
  readonly alarms: Section<readonly KeptAlarm[]>;
}

/** Figures of a read model, which may be behind the log, as after an upgrade or a restore. */
export interface ShownMoney extends MoneyStatus {
  /** Whether they include everything but the last seconds; null if that is not known. */
  readonly complete: boolean | null;
}

/** A read model that serves a busy service is behind by less than this. */
const COMPLETE_WITHIN_SECONDS = 10;

export interface FeePayerStatus extends Runway {
  readonly address: string;
  /** Decimal. */
  readonly lamports: string;
  /** When the balance was read. */
  readonly at: Instant;
}

export interface StatusPorts extends Pick<Storage, 'log' | 'readStore'> {
  readonly projections: readonly Projection[];
  /** Those that are configured for a court. */
  readonly liveSourcesOf: (court: Court) => readonly LiveSourceName[];
  readonly clock: Clock;
  /** How many hosts of callbacks to list, besides the paused ones. */
  readonly hosts: number;
  /** How long one section may take, milliseconds. */
  readonly timeoutMs: number;
}

export async function readStatus(ports: StatusPorts): Promise<StorageStatus> {
  const { log, readStore, clock, hosts } = ports;
  const now = clock.now();
  const section = <Value extends object>(read: () => Promise<Value>) => sectionOf(read, ports.timeoutMs);
  const nodes = section(() => statusNodes(readStore, now));
  const sections = {
    log: section(async () => {
      const known = await nodes;
      return logStatus(log, isUnreadable(known) ? [] : known.nodes, now);
    }),
    projections: section(() => projectionReports(ports)),
    callbacks: section(() => callbackStatus(readStore, now, hosts)),
    sources: section(() => sourceStatus(readStore, ports.liveSourcesOf)),
    payments: section(() => paymentStatus(readStore, now)),
    money: section(() => moneyStatus(readStore, now)),
    alarms: section(() => lastAlarms(readStore, now)),
  };
  const projections = await sections.projections;
  const money = await sections.money;
  return {
    log: await sections.log,
    projections,
    callbacks: await sections.callbacks,
    sources: await sections.sources,
    payments: await sections.payments,
    money: isUnreadable(money) ? money : { ...money, complete: isComplete(projections) },
    nodes: await nodes,
    alarms: await sections.alarms,
  };
}

function isComplete(projections: StorageStatus['projections']): boolean | null {
  const report = isUnreadable(projections)
    ? undefined
    : projections.find(({ projection }) => projection === revenue.name);
  return report ? report.active.secondsBehind <= COMPLETE_WITHIN_SECONDS : null;
}

/** An engine that is gone is waited for by its client for long, so the overview gives up earlier. */
export async function sectionOf<Value extends object>(
  read: () => Promise<Value>,
  timeoutMs: number,
): Promise<Section<Value>> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Unreadable>((resolve) => {
    timer = setTimeout(() => resolve({ unreadable: `no answer within ${timeoutMs} ms` }), timeoutMs);
  });
  try {
    return await Promise.race([read(), late]);
  } catch (error) {
    const { hint } = (error ?? {}) as { readonly hint?: unknown };
    const unreadable = error instanceof Error ? error.message : String(error);
    return typeof hint === 'string' ? { unreadable, hint } : { unreadable };
  } finally {
    clearTimeout(timer);
  }
}

/** Recorded actions on the service itself, by an operator or by an upgrade. */
import { z } from 'zod';
import { event } from './event.ts';

/** A person skipped a failing event, for one projection. */
export const EventSkipped = event(
  'EventSkipped',
  1,
  z.strictObject({
    projection: z.string(),
    position: z.string(),
    reason: z.string(),
    /** Absent in events of earlier versions. */
    by: z.string().min(1).optional(),
    /**
     * The event itself. Its position differs from engine to engine, so a restored log finds it by its id. Absent in
     * events of earlier versions.
     */
    eventId: z.uuid().optional(),
  }),
);

const Text = z.string().min(1);
const Generation = z.int().positive();

/** Who decided it, and why. */
const Act = { by: Text, reason: Text };

/** An operator had a new generation of a read model built beside the one that readers see. */
export const RebuildStarted = event(
  'RebuildStarted',
  1,
  z.strictObject({
    projection: Text,
    generation: Generation,
    /** The head of the log at that moment, up to which the rebuild counts its progress; null for an empty log. */
    through: z.string().nullable(),
    ...Act,
  }),
);

/** An operator had a generation dropped that readers have not seen. */
export const RebuildCancelled = event(
  'RebuildCancelled',
  1,
  z.strictObject({ projection: Text, generation: Generation, ...Act }),
);

/** Readers see another generation from now on. */
export const GenerationActivated = event(
  'GenerationActivated',
  1,
  z.strictObject({
    projection: Text,
    generation: Generation,
    previous: Generation,
    act: z.enum(['swap', 'rollback']),
    /** The position at which both generations were compared; null if they were not. */
    comparedAt: z.string().nullable(),
    /** Documents that differed, and were accepted by the reason; null if the generations were not compared. */
    differences: z.int().nonnegative().nullable(),
    /** Documents that changed too often to be compared, and were accepted too; absent if there were none. */
    undecided: z.int().positive().optional(),
    ...Act,
  }),
);

/** A generation that readers no longer see was dropped after its grace period. */
export const GenerationRetired = event(
  'GenerationRetired',
  1,
  z.strictObject({ projection: Text, generation: Generation, ...Act }),
);

/** Scheme, host and port, as a delivery names it. */
const Origin = z.string().regex(/^https?:\/\/[^/?#@]+$/);

/** An operator paused the callbacks to one origin: none is attempted, and none is counted as failed. */
export const HostPaused = event('HostPaused', 1, z.strictObject({ origin: Origin, ...Act }));

/** Callbacks to the origin are attempted again. */
export const HostResumed = event('HostResumed', 1, z.strictObject({ origin: Origin, ...Act }));

const Wallet = z.string().regex(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/);

/** Nothing is sold to this wallet any more. What it has paid for is still delivered. */
export const WalletBanned = event('WalletBanned', 1, z.strictObject({ wallet: Wallet, ...Act }));

/** The wallet may buy again. */
export const WalletUnbanned = event('WalletUnbanned', 1, z.strictObject({ wallet: Wallet, ...Act }));

/** A source that pushes dockets, by the name that marks what it brings. */
const SourceName = z.string().regex(/^[a-z][a-z0-9-]{1,31}$/);
/** SHA-256 of a token, hex: the token itself is shown once and kept nowhere. */
const TokenHash = z.string().regex(/^[0-9a-f]{64}$/);

/** Anyone who has the token may push dockets under this name. A source may have several, so that one can replace another. */
export const SourceTokenIssued = event(
  'SourceTokenIssued',
  1,
  z.strictObject({
    source: SourceName,
    tokenHash: TokenHash,
    /** The courts whose dockets it may push; null for all. */
    courts: z.array(Text).min(1).nullable(),
    ...Act,
  }),
);

/** The token opens nothing any more. What came with it stays. */
export const SourceTokenRevoked = event(
  'SourceTokenRevoked',
  1,
  z.strictObject({ source: SourceName, tokenHash: TokenHash, ...Act }),
);

/** Stored content was masked again: everything up to a position, by the rules of one version. */
export const MaskingApplied = event(
  'MaskingApplied',
  1,
  z.strictObject({
    version: z.int().positive(),
    /** Position in the log up to which content was examined. */
    through: z.string(),
    /** Contents masked by older rules, those in which the new rules hide more, and the filings in those. */
    examined: z.int(),
    replaced: z.int(),
    filings: z.int(),
  }),
);

/** Acts on a projection, in the stream of its subject. */
export const PROJECTION_ACTS = [
  EventSkipped,
  RebuildStarted,
  RebuildCancelled,
  GenerationActivated,
  GenerationRetired,
] as const;

/** Acts on where callbacks go, and on who may buy. */
export const HOST_ACTS = [HostPaused, HostResumed] as const;
export const WALLET_ACTS = [WalletBanned, WalletUnbanned] as const;
/** Acts on who may push dockets. */
export const SOURCE_ACTS = [SourceTokenIssued, SourceTokenRevoked] as const;

export const OPERATOR_EVENTS = [
  ...PROJECTION_ACTS,
  ...HOST_ACTS,
  ...WALLET_ACTS,
  ...SOURCE_ACTS,
  MaskingApplied,
] as const;

/** The subject of actions on the masking of stored content. */
export const MASKING_SUBJECT = 'masking';

/** Stream of an operator's actions on one subject. */
export const operatorStream = (subject: string): string => `operator-${subject}`;
/** The subject of actions on a projection. */
export const projectionSubject = (projection: string): string => `projection-${projection}`;
/** The subject of actions on callbacks to an origin. */
export const hostSubject = (origin: string): string => `host-${origin}`;
/** The subject of an operator's actions on a wallet; the wallet's own stream holds its keys. */
export const walletSubject = (wallet: string): string => `wallet-${wallet}`;
/** The subject of actions on the tokens of a source. */
export const sourceSubject = (source: string): string => `source-${source}`;

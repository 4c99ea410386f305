/**
 * Maps case numbers to docket streams. A stream is named after the first number that its docket was seen under. Every
 * other form of the number is claimed in an alias stream at the exact revision that was read, so that two nodes that
 * see one case under two forms agree (docs/design/dockets.md#aliases).
 */
import { parseCaseNumber } from '../../courts/case-number.ts';
import type { CaseNumber, Court } from '../../courts/court.ts';
import { AliasClaimed, type DocketAliasEvent, docketAliasStream, docketStream } from '../../events/docket.ts';
import { type CommandContext, type EventLog, RevisionConflict } from '../../storage/event-log.ts';
import { type Decider, rejected } from '../decider.ts';
import { type Loaded, load } from '../handle.ts';
import { type IngestPorts, recordPatiently } from './clock.ts';

type Ports = Pick<IngestPorts, 'log' | 'clock' | 'sleep'>;

type Claim = DocketAliasEvent['data'];

/** The meanings of a number. A number without its office may have several. */
type Claims = readonly Claim[];

interface ClaimAlias {
  readonly type: 'ClaimAlias';
  readonly claim: Claim;
}

/** The first claim wins: a number never changes its meaning. */
export const docketAliases: Decider<Claims, ClaimAlias, DocketAliasEvent, 'means_another_docket'> = {
  initialState: [],

  decide(claims, { claim }) {
    const known = claims.find(({ number }) => number === claim.number);
    if (!known) return [AliasClaimed.of(claim)];
    return known.stream === claim.stream ? [] : rejected('means_another_docket');
  },

  evolve: (claims, { data }) => [...claims, data],
};

interface AliasStream extends Loaded<Claims> {
  readonly name: string;
  readonly claims: Claims;
}

/** Several dockets match a number without its office. */
export interface AmbiguousNumber {
  readonly candidates: readonly string[];
}

const ATTEMPTS = 20;

/**
 * Returns the stream of the docket that a number means, and claims the number if no docket has.
 * @param aliases other forms of the number that the source knows
 */
export async function docketStreamOf(
  ports: Ports,
  court: Court,
  number: CaseNumber,
  aliases: readonly string[],
  context: CommandContext,
): Promise<string | AmbiguousNumber> {
  const others = aliases
    .flatMap((alias) => parseCaseNumber(court, alias) ?? [])
    .filter((alias) => alias.complete && alias.canonical !== number.canonical);
  // One command may import many dockets. A claim for one number must not look like a repeat of another's.
  const own = { ...context, commandId: `${context.commandId}\n${number.canonical}` };
  for (let attempt = 1; ; attempt++) {
    try {
      const stream = await claim(ports, court, number, others, own);
      if (typeof stream === 'string') for (const other of others) await claimAlias(ports, court, other, stream, own);
      return stream;
    } catch (error) {
      if (!(error instanceof RevisionConflict) || attempt === ATTEMPTS) throw error;
    }
  }
}

/** The stream of the one docket that a number means, if any has claimed it. Claims nothing. */
export async function knownStreamOf(
  log: Pick<EventLog, 'read'>,
  court: Court,
  { canonical, core, complete }: CaseNumber,
): Promise<string | null> {
  const { claims } = await readAlias(log, court, canonical);
  if (complete) {
    const [first] = claims;
    if (first || canonical === core) return first?.stream ?? null;
    return unfinished((await readAlias(log, court, core)).claims, core) ?? null;
  }
  const streams = new Set(claims.map(({ stream }) => stream));
  const [only] = streams;
  return streams.size === 1 && only !== undefined ? only : null;
}

async function claim(
  ports: Ports,
  court: Court,
  number: CaseNumber,
  others: readonly CaseNumber[],
  context: CommandContext,
): Promise<string | AmbiguousNumber> {
  const { canonical, core, complete } = number;
  const own = await readAlias(ports.log, court, canonical);
  if (complete && own.claims[0]) return own.claims[0].stream;
  const known = await streamOfAny(ports.log, court, others);
  if (complete && canonical === core) {
    const stream = known ?? docketStream(court.code, canonical);
    await claimIn(ports, own, { court: court.code, number: canonical, core, stream }, context);
    return stream;
  }
  if (!complete) {
    const streams = [...new Set(own.claims.map(({ stream }) => stream))];
    if (streams.length > 1) return { candidates: own.claims.map((one) => one.number).filter((one) => one !== core) };
    if (streams[0] !== undefined) return streams[0];
    const stream = known ?? docketStream(court.code, canonical);
    await claimIn(ports, own, { court: court.code, number: canonical, core, stream }, context);
    return stream;
  }
  // The core's list is written first, so that lookups by the core find the docket from then on.
  const list = await readAlias(ports.log, court, core);
  const listed = list.claims.find((one) => one.number === canonical);
  const stream = listed?.stream ?? known ?? unfinished(list.claims, core) ?? docketStream(court.code, canonical);
  const made = { court: court.code, number: canonical, core, stream };
  if (!listed) await claimIn(ports, list, made, context);
  await claimIn(ports, own, made, context);
  return stream;
}

/** A docket that was seen only without its office: this is its complete number. */
function unfinished(claims: readonly Claim[], core: string): string | undefined {
  const bare = claims.find(({ number }) => number === core);
  return bare && claims.every(({ number, stream }) => stream !== bare.stream || number === core)
    ? bare.stream
    : undefined;
}

async function streamOfAny(log: EventLog, court: Court, numbers: readonly CaseNumber[]): Promise<string | undefined> {
  for (const { canonical } of numbers) {
    const [first] = (await readAlias(log, court, canonical)).claims;
    if (first) return first.stream;
  }
  return undefined;
}

/** Claims another form of the number, unless that form already means something. */
async function claimAlias(
  ports: Ports,
  court: Court,
  { canonical, core }: CaseNumber,
  stream: string,
  context: CommandContext,
): Promise<void> {
  const alias = await readAlias(ports.log, court, canonical);
  if (alias.claims.length === 0)
    await claimIn(ports, alias, { court: court.code, number: canonical, core, stream }, context);
}

async function readAlias(log: Pick<EventLog, 'read'>, court: Court, number: string): Promise<AliasStream> {
  const name = docketAliasStream(court.code, number);
  const { state, head } = await load(log, docketAliases, name);
  return { name, state, head, claims: state };
}

async function claimIn(ports: Ports, alias: AliasStream, made: Claim, context: CommandContext): Promise<void> {
  const command = { type: 'ClaimAlias', claim: made } as const;
  await recordPatiently(ports, { decider: docketAliases, stream: alias.name, command, context, known: alias });
}

/** Ids of sources for cases: recorded in the log, found by the case in their read model. */
import { isWritten, record } from '../../commands/handle.ts';
import { type SourceCaseCommand, sourceCase } from '../../commands/source/source-case.ts';
import { canBeSameCase, parseCaseNumber } from '../../courts/case-number.ts';
import { type LiveSourceName, sourceStream } from '../../events/source.ts';
import { SOURCE_CASES, type SourceCaseRecord } from '../../projections/source-cases.ts';
import type { Clock } from '../../runtime/instant.ts';
import type { SourceCases } from '../../sources/courtlistener/source-cases.ts';
import type { CommandContext, EventLog } from '../../storage/event-log.ts';
import type { ReadStore } from '../../storage/read-store.ts';

export interface SourceCasesPorts {
  readonly log: Pick<EventLog, 'append' | 'read'>;
  readonly readStore: Pick<ReadStore, 'find' | 'activeGeneration'>;
  readonly clock: Clock;
}

/** More ids than one case has at a source. */
const MOST_IDS = 50;
const DECISIONS = 5;

export function createSourceCases(ports: SourceCasesPorts, source: LiveSourceName): SourceCases {
  const { readStore } = ports;

  async function decide(command: SourceCaseCommand): Promise<void> {
    const stream = sourceStream.sourceCase(source, command.sourceCaseId);
    const context = contextOf(source, `${command.type} ${stream} ${ports.clock.now()}`);
    // Another node that was first knows the same.
    isWritten(await record(ports, { decider: sourceCase, stream, command, context, decisions: DECISIONS }));
  }

  return {
    async idsOf(court, caseNumber) {
      const number = parseCaseNumber(court, caseNumber);
      if (!number) return [];
      const generation = await readStore.activeGeneration(SOURCE_CASES);
      const query = { collection: SOURCE_CASES, equals: { core: number.core, court: court.code, source } } as const;
      const found = await readStore.find<SourceCaseRecord>({ ...query, limit: MOST_IDS }, generation);
      return found.flatMap(({ document }) => {
        const known = parseCaseNumber(court, document.caseNumber);
        return known && canBeSameCase(known, number) ? [document.sourceCaseId] : [];
      });
    },
    found: (id, court, caseNumber) => decide({ type: 'Find', source, sourceCaseId: id, court: court.code, caseNumber }),
    gone: (id) => decide({ type: 'Lose', source, sourceCaseId: id }),
  };
}

const contextOf = (actor: string, commandId: string): CommandContext => ({
  commandId,
  requestId: null,
  correlationId: commandId,
  causationId: null,
  actor,
});

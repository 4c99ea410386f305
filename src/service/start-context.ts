import { randomUUID } from 'node:crypto';
import type { CommandContext } from '../storage/event-log.ts';

/** Events that a start writes have the actor `start`. */
export const startContext = (): CommandContext => {
  const commandId = randomUUID();
  return { commandId, requestId: null, correlationId: commandId, causationId: null, actor: 'start' };
};

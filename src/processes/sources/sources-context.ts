/** Who writes what sources have shown. */
import { randomUUID } from 'node:crypto';
import type { CommandContext } from '../../storage/event-log.ts';

export function sourcesContext(): CommandContext {
  const commandId = randomUUID();
  return { commandId, requestId: null, correlationId: commandId, causationId: null, actor: 'sources' };
}

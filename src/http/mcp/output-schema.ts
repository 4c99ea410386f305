/**
 * Output schemas are open objects without required members. SDK clients validate every result against them, including
 * errors and payment instructions.
 */
import type { JsonObject } from '../../events/event.ts';

export const openSchema = (members: Readonly<Record<string, JsonObject>>): JsonObject => ({
  type: 'object',
  properties: { meta: { type: 'object' }, ...members, next_step: { type: 'string' } },
  additionalProperties: true,
});

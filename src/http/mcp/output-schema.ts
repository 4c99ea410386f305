/**
 * Output schemas are open objects without required members: clients of the SDK check every result against them, and a
 * refusal or payment instructions are results too.
 */
import type { JsonObject } from '../../events/event.ts';

export const openSchema = (members: Readonly<Record<string, JsonObject>>): JsonObject => ({
  type: 'object',
  properties: { meta: { type: 'object' }, ...members, next_step: { type: 'string' } },
  additionalProperties: true,
});

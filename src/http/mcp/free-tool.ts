/** A tool that costs nothing and answers immediately. */
import type { JsonObject } from '../../events/event.ts';
import { MICROS_PER_SECOND, toInstant } from '../../runtime/instant.ts';
import { type Meta, metaOf } from '../meta.ts';
import { type Issue, refuseFor } from '../parameters/issues.ts';
import type { AnsweringService } from '../send-problem.ts';
import { openSchema } from './output-schema.ts';
import { type Argument, type Parameters, readArguments } from './parameters.ts';
import { refusal } from './refusal.ts';
import type { Tool } from './tool.ts';
import { type Stamped, stampable } from './tool-result.ts';

export interface FreeTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly parameters: Parameters;
  /** Schemas of the answer's members besides `meta`. */
  readonly returns: Readonly<Record<string, JsonObject>>;
  /** All errors in the values at once, or the answer: the JSON of an object that starts with this meta. */
  answer(values: ReadonlyMap<string, Argument>, meta: Meta): string | readonly Issue[];
}

/** Longer results are composed each time, so that cached ones do not fill the memory. */
const LONGEST_KEPT = 24 * 1024;

/**
 * Except for the id and time in `meta`, results are the same for all callers. A result is reused for a second, with
 * both replaced.
 */
export function freeTool(service: AnsweringService, { returns, answer, ...tool }: FreeTool): Tool {
  /** Keyed by the parsed arguments, which a known request shares. */
  const kept = new WeakMap<object, { readonly stamp: Stamped; readonly madeAt: number }>();
  return {
    ...tool,
    outputSchema: openSchema(returns),
    paid: false,
    run(call) {
      const { requestId, sentArguments } = call;
      const now = service.clock.now();
      const known = kept.get(sentArguments);
      if (known && Math.abs(now - known.madeAt) < MICROS_PER_SECOND) return known.stamp(requestId, toInstant(now));
      const { values, issues } = readArguments(tool.parameters, sentArguments);
      const meta = metaOf({ request_id: requestId, queried_at: toInstant(now) });
      const answered = answer(values, meta);
      const [first, ...others] = typeof answered === 'string' ? issues : [...issues, ...answered];
      if (first) return refusal(service, { tool: tool.name, requestId }, refuseFor([first, ...others]));
      if (typeof answered !== 'string') throw new Error(`${tool.name} gave neither an answer nor a fault`);
      const stamp = stampable(answered, meta);
      if (answered.length <= LONGEST_KEPT) kept.set(sentArguments, { stamp, madeAt: now });
      return stamp(requestId, meta.queried_at);
    },
  };
}

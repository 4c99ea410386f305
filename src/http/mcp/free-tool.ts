/** A tool that costs nothing: arguments in, an answer out at once. */
import type { JsonObject } from '../../events/event.ts';
import { MICROS_PER_SECOND } from '../../instant.ts';
import { type Issue, refuseFor } from '../parameters/issues.ts';
import type { AnsweringService } from '../send-problem.ts';
import { openSchema } from './output-schema.ts';
import { type Argument, type Parameters, readArguments } from './parameters.ts';
import { refusal } from './refusal.ts';
import type { Tool, ToolCall } from './tool.ts';
import type { ToolResult } from './tool-result.ts';

export interface FreeTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly parameters: Parameters;
  /** Schemas of the members that an answer has beside `meta`. */
  readonly returns: Readonly<Record<string, JsonObject>>;
  /** What is wrong with the values, all of it at once, or the answer. */
  answer(values: ReadonlyMap<string, Argument>, call: ToolCall): ToolResult | readonly Issue[];
}

/** Longer results are made anew each time: kept ones must not fill the memory. */
const LONGEST_KEPT = 24 * 1024;

/** Its results are the same for everybody: those that are asked for again within a second are given again. */
export function freeTool(service: AnsweringService, { returns, answer, ...tool }: FreeTool): Tool {
  /** By the arguments as they were read: a known request has the same ones. */
  const kept = new WeakMap<object, { readonly result: ToolResult; readonly madeAt: number }>();
  const keep = (args: object, result: ToolResult, madeAt: number): ToolResult => {
    if (result.parts.structured.length <= LONGEST_KEPT) kept.set(args, { result, madeAt });
    return result;
  };
  return {
    ...tool,
    outputSchema: openSchema(returns),
    paid: false,
    run(call) {
      const now = service.clock.now();
      const known = kept.get(call.sentArguments);
      if (known && Math.abs(now - known.madeAt) < MICROS_PER_SECOND) return known.result;
      const { values, issues } = readArguments(tool.parameters, call.sentArguments);
      const answered = answer(values, call);
      const [first, ...others] = 'bytes' in answered ? issues : [...issues, ...answered];
      if (first) return refusal(service, { tool: tool.name, requestId: call.requestId }, refuseFor([first, ...others]));
      if ('bytes' in answered) return keep(call.sentArguments, answered, now);
      throw new Error(`${tool.name} gave neither an answer nor a fault`);
    },
  };
}

/** Looks up the few events that others refer to by their place. */
import type { Json } from '../../events/event.ts';
import type { RawEvent, RawEventLog } from '../../storage/raw-events.ts';
import type { BreachPlace } from '../judging.ts';
import type { RuleName } from '../rules/catalogue.ts';

export interface Reference {
  readonly rule: RuleName;
  /** The event that refers. */
  readonly from: BreachPlace;
  readonly to: { readonly stream: string; readonly revision: number };
  readonly name: string;
}

/** What is wrong with a reference; null if the event is there and has the name as a value. */
export async function referenceFault(
  log: Pick<RawEventLog, 'find'>,
  { to: { stream, revision }, name }: Reference,
): Promise<{ readonly expected: string; readonly found: string } | null> {
  const expected = `${stream} ${revision} naming ${name}`;
  const event = await log.find(stream, revision);
  if (event === null) return { expected, found: 'no such event' };
  return hasValue(event, name) ? null : { expected, found: `${event.type}, which does not name it` };
}

function hasValue({ data }: RawEvent, name: string): boolean {
  try {
    return holds(JSON.parse(data) as Json, name);
  } catch {
    return false;
  }
}

function holds(value: Json, name: string): boolean {
  if (value === name) return true;
  return typeof value === 'object' && value !== null && Object.values(value).some((each) => holds(each, name));
}

/**
 * Sandbox mode (docs/design/interface.md#sandbox): free answers from fixtures in the shape of real ones. The queries that
 * answer paid calls compose each answer once for each kind of court. It is kept as a template with gaps for the values
 * of a call.
 */
import type { Court } from '../../courts/court.ts';
import { isProblem } from '../../errors.ts';
import type { JsonObject } from '../../events/event.ts';
import { COMPLETE } from '../../projections/freshness.ts';
import { type CaseQueries, createCaseQueries } from '../../queries/case-answer.ts';
import { type Clock, type Instant, toInstant } from '../../runtime/instant.ts';
import type { QueryStore } from '../../storage/read-store.ts';
import type { SandboxAnswer, SandboxCallContext } from '../paid/paid-call.ts';
import type { CaseQueryParameters } from '../parameters/case-query.ts';
import type { MonitorRequest } from '../parameters/monitor-request.ts';
import { type AnsweredCall, caseMeta } from '../v2/answer-meta.ts';
import { monitorBody } from '../v2/monitor-body.ts';
import { type FixtureName, fixtureFor } from './fixture-choice.ts';
import { snapshotOf } from './fixture-docket.ts';
import { fixtureStore } from './fixture-store.ts';
import { FIXTURES } from './fixtures.ts';
import {
  type CallGap,
  type Filling,
  fillIn,
  MARKS,
  type Pressed,
  press,
  type Template,
  templateOf,
} from './template.ts';

export interface Sandbox {
  /** The answer of `GET /v2/case`, at once if its fixture is ready. Without a fixture, the court decides. */
  answerCase(query: CaseQueryParameters, fixture?: FixtureName): SandboxAnswer | Promise<SandboxAnswer>;
  /** The answer of `GET /v2/monitor`. */
  answerMonitor(query: MonitorRequest): SandboxAnswer | Promise<SandboxAnswer>;
}

interface CaseTemplates {
  /** The whole answer except its last brace. */
  readonly answer: Template;
  /** The part added for a call with `last_checked`. */
  readonly delta: Template;
}

/** Fixtures count as just read from their source. */
const MOMENT = { queriedAt: MARKS.now, dataAsOf: MARKS.now, cacheAgeSeconds: 0 } as const;
const CALL: AnsweredCall = { requestId: MARKS.requestId, tag: MARKS.tag, costUsd: 0, sandbox: true };

export function createSandbox(clock: Clock): Sandbox {
  const stores = new Map<FixtureName, QueryStore>();
  // At most one for each kind of court and each form of query, so the map cannot grow further.
  const caseTemplates = new Map<string, CaseTemplates | Promise<CaseTemplates>>();
  const monitorTemplates = new Map<string, Template | Promise<Template>>();

  const queriesOf = (name: FixtureName): CaseQueries => {
    let readStore = stores.get(name);
    if (!readStore) {
      readStore = fixtureStore(snapshotOf(FIXTURES[name]));
      stores.set(name, readStore);
    }
    return createCaseQueries({ readStore, freshness: COMPLETE, clock });
  };
  return {
    answerCase(query, name = fixtureFor(query.court, query.caseNumber)) {
      // The language matters only for a case with two names.
      const language = FIXTURES[name].header.caseNameSecondary ? query.language : null;
      const key = `${name} ${courtKey(query.court)} ${query.context} ${language}`;
      const templates = kept(caseTemplates, key, () =>
        composeCase(queriesOf(name), { ...query, language }, toInstant(clock.now())),
      );
      const fill = ({ answer, delta }: CaseTemplates): SandboxAnswer => {
        const { lastChecked } = query;
        const always = ownPart(query, lastChecked?.sent ?? null);
        return filled(lastChecked === null ? [answer] : [answer, delta], '}', always, clock);
      };
      return templates instanceof Promise ? templates.then(fill) : fill(templates);
    },
    answerMonitor(query) {
      const name = fixtureFor(query.court, query.caseNumber);
      const template = kept(monitorTemplates, `${name} ${courtKey(query.court)}`, () =>
        composeMonitor(queriesOf(name), query, toInstant(clock.now())),
      );
      const fill = (ready: Template): SandboxAnswer => {
        return filled([ready], '', ownPart(query, query.lastChecked), clock);
      };
      return template instanceof Promise ? template.then(fill) : fill(template);
    },
  };
}

/** Concatenates templates and fills them in for each call. */
function filled(
  templates: readonly Template[],
  ending: string,
  always: Omit<Filling, CallGap>,
  clock: Clock,
): SandboxAnswer {
  const asText = (call: SandboxCallContext): string => {
    const filling = withCall(always, call, clock);
    return templates.reduce((text, template) => text + fillIn(template, filling), '') + ending;
  };
  let pressed: Pressed | null | undefined;
  return Object.assign(asText, {
    untagged(requestId: string) {
      if (pressed === undefined) pressed = press(templates, ending, always);
      return pressed === null ? null : pressed(requestId, toInstant(clock.now()));
    },
  });
}

/** The parts that are the same in every answer to the same parameters. */
const ownPart = (
  { caseId, courtCode, court, caseNumber }: Pick<CaseQueryParameters, 'caseId' | 'courtCode' | 'court' | 'caseNumber'>,
  since: string | null,
): Omit<Filling, CallGap> => ({
  caseId: JSON.stringify(caseId),
  courtCode: JSON.stringify(courtCode),
  caseNumber: JSON.stringify(caseNumber.canonical),
  courtName: JSON.stringify(court.name),
  since: JSON.stringify(since),
});

const withCall = (
  { caseId, courtCode, caseNumber, courtName, since }: Omit<Filling, CallGap>,
  { requestId, tag }: SandboxCallContext,
  clock: Clock,
): Filling => ({
  requestId: `"${requestId}"`,
  now: `"${toInstant(clock.now())}"`,
  tag: JSON.stringify(tag),
  caseId,
  courtCode,
  caseNumber,
  courtName,
  since,
});

/** Everything about a court that an answer depends on, except its name. */
const courtKey = ({ timeZone, country, language, coverage }: Court): string =>
  `${timeZone} ${country} ${language} ${coverage}`;

/** The value under the key; if there is none, creates it once for all concurrent callers. */
function kept<Value extends object>(
  values: Map<string, Value | Promise<Value>>,
  key: string,
  make: () => Promise<Value>,
): Value | Promise<Value> {
  const known = values.get(key);
  if (known !== undefined) return known;
  const making = make();
  values.set(key, making);
  making.then(
    (value) => values.set(key, value),
    () => values.delete(key),
  );
  return making;
}

function whole<Answer extends object>(answer: Answer): Exclude<Answer, { readonly problem: unknown }> {
  if (isProblem(answer)) throw new Error(`the sandbox rejects its own fixture: ${JSON.stringify(answer)}`);
  return answer as Exclude<Answer, { readonly problem: unknown }>;
}

async function composeCase(queries: CaseQueries, query: CaseQueryParameters, now: Instant): Promise<CaseTemplates> {
  // Any number works, since it is filled in: a batch shows fixtures even for numbers that no court uses.
  const caseId = query.caseNumber.canonical;
  const asked = { ...query, caseId, lastChecked: now, since: MARKS.since, filingTypes: null };
  const answer = whole(await queries.answerCase(asked));
  const { case: shown, delta, ...ids } = answer.body;
  const body = {
    meta: caseMeta({ ...answer, ...MOMENT }, CALL),
    ...ids,
    case_id: MARKS.caseId,
    court_code: MARKS.courtCode,
    case: { ...(shown as JsonObject), case_number: MARKS.caseNumber, court_name: MARKS.courtName },
  };
  return {
    answer: templateOf(JSON.stringify(body).slice(0, -1)),
    delta: templateOf(`,"delta":${JSON.stringify(delta)}`),
  };
}

async function composeMonitor(queries: CaseQueries, query: MonitorRequest, now: Instant): Promise<Template> {
  const answer = whole(await queries.answerMonitor({ ...query, lastChecked: now, filingTypes: null }));
  const ids = { caseId: MARKS.caseId, courtCode: MARKS.courtCode };
  return templateOf(monitorBody({ ...answer, ...MOMENT }, ids, CALL));
}

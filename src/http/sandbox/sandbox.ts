/**
 * Sandbox mode (specification 4; `http-api.md`, Sandbox): answers from fixtures, free, of the shape of real ones. Each
 * is composed by the queries that answer paid calls, once for each kind of court, and kept as text with gaps for what
 * a call fills in itself.
 */
import type { Court } from '../../courts/court.ts';
import { isProblem } from '../../errors.ts';
import type { JsonObject } from '../../events/event.ts';
import { type Clock, type Instant, toInstant } from '../../instant.ts';
import { type CaseAnswer, createCaseQueries, type MonitorAnswer } from '../../queries/case-answer.ts';
import type { QueryStore } from '../../storage/read-store.ts';
import type { SandboxCallContext } from '../paid-call.ts';
import type { CaseQueryParameters } from '../parameters/case-query.ts';
import type { MonitorRequest } from '../parameters/monitor-request.ts';
import { type AnsweredCall, caseMeta } from '../v2/answer-meta.ts';
import { monitorBody } from '../v2/monitor-body.ts';
import { type FixtureName, fixtureFor } from './fixture-choice.ts';
import { snapshotOf } from './fixture-docket.ts';
import { fixtureStore } from './fixture-store.ts';
import { FIXTURES } from './fixtures.ts';

export interface Sandbox {
  /** The answer of `GET /v2/case`: at once where its fixture lies ready. */
  answerCase(query: CaseQueryParameters, call: SandboxCallContext): string | Promise<string>;
  /** The answer of `GET /v2/monitor`. */
  answerMonitor(query: MonitorRequest, call: SandboxCallContext): string | Promise<string>;
}

interface CaseTemplate {
  readonly answer: Omit<CaseAnswer, 'body' | keyof Moment>;
  /** Text of `"case": …` around the number and the court's name, in the order in which they stand. */
  readonly caseParts: readonly [string, string, string];
  /** Text of `"delta": …` around `since`. */
  readonly deltaParts: readonly [string, string];
}

type Moment = Pick<CaseAnswer, 'queriedAt' | 'dataAsOf' | 'cacheAgeSeconds'>;

/** Fixtures are as fresh as a source that was just asked. */
const momentAt = (at: Instant): Moment => ({ queriedAt: at, dataAsOf: at, cacheAgeSeconds: 0 });

export function createSandbox(clock: Clock): Sandbox {
  const stores = new Map<FixtureName, QueryStore>();
  // As many as there are kinds of courts and ways to ask: it cannot grow beyond that.
  const caseTemplates = new Map<string, CaseTemplate | Promise<CaseTemplate>>();
  const monitorAnswers = new Map<string, MonitorAnswer | Promise<MonitorAnswer>>();

  const queriesOf = (name: FixtureName) => {
    let readStore = stores.get(name);
    if (!readStore) {
      readStore = fixtureStore(snapshotOf(FIXTURES[name]));
      stores.set(name, readStore);
    }
    return createCaseQueries({ readStore, clock });
  };
  return {
    answerCase(query, call) {
      const name = fixtureFor(query.court, query.caseNumber);
      // Only where there are two names does the language change anything.
      const language = FIXTURES[name].header.caseNameSecondary ? query.language : null;
      const asked = { ...query, language };
      const template = kept(caseTemplates, `${name} ${courtKey(query.court)} ${query.context} ${language}`, async () =>
        composeCase(queriesOf(name), asked, toInstant(clock.now())),
      );
      const fill = (ready: CaseTemplate): string => fillCase(ready, query, sandboxCall(call), toInstant(clock.now()));
      return template instanceof Promise ? template.then(fill) : fill(template);
    },
    answerMonitor(query, call) {
      const name = fixtureFor(query.court, query.caseNumber);
      const answer = kept(monitorAnswers, `${name} ${courtKey(query.court)}`, async () => {
        const lastChecked = toInstant(clock.now());
        return whole(await queriesOf(name).answerMonitor({ ...query, lastChecked, filingTypes: null }));
      });
      const fill = (ready: MonitorAnswer): string =>
        monitorBody({ ...ready, ...momentAt(toInstant(clock.now())) }, query, sandboxCall(call));
      return answer instanceof Promise ? answer.then(fill) : fill(answer);
    },
  };
}

const sandboxCall = (call: SandboxCallContext): AnsweredCall => ({ ...call, costUsd: 0, sandbox: true });

/** All of a court that an answer depends on, but for its name. */
const courtKey = ({ timeZone, country, language, coverage }: Court): string =>
  `${timeZone} ${country} ${language} ${coverage}`;

/** What is kept under the key, else what is made now; whoever asks meanwhile waits for the same. */
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
  if (isProblem(answer)) throw new Error(`the sandbox refuses its own fixture: ${JSON.stringify(answer)}`);
  return answer as Exclude<Answer, { readonly problem: unknown }>;
}

const NUMBER = '\u0001number\u0001';
const COURT_NAME = '\u0001court\u0001';
const SINCE = '\u0001since\u0001';
const GAPS = [NUMBER, COURT_NAME, SINCE].map((mark) => JSON.stringify(mark));
const GAP = new RegExp(GAPS.map((text) => text.replaceAll('\\', '\\\\')).join('|'));

async function composeCase(
  queries: ReturnType<typeof createCaseQueries>,
  query: CaseQueryParameters,
  now: Instant,
): Promise<CaseTemplate> {
  const asked = { ...query, lastChecked: now, since: SINCE, filingTypes: null };
  const { body, queriedAt: _, dataAsOf: __, cacheAgeSeconds: ___, ...answer } = whole(await queries.answerCase(asked));
  const shown = { ...(body.case as JsonObject), case_number: NUMBER, court_name: COURT_NAME };
  const [beforeNumber = '', beforeCourt = '', rest = '', ...more] = JSON.stringify(shown).split(GAP);
  const [beforeSince = '', afterSince = '', ...others] = JSON.stringify(body.delta).split(GAP);
  if (more.length + others.length > 0 || rest === '' || afterSince === '') {
    throw new Error('a fixture of the sandbox has other gaps than expected');
  }
  return {
    answer,
    caseParts: [`"case":${beforeNumber}`, beforeCourt, rest],
    deltaParts: [`,"delta":${beforeSince}`, afterSince],
  };
}

function fillCase(
  { answer, caseParts, deltaParts }: CaseTemplate,
  { caseId, courtCode, court, caseNumber, lastChecked }: CaseQueryParameters,
  call: AnsweredCall,
  now: Instant,
): string {
  const meta = JSON.stringify(caseMeta({ ...answer, ...momentAt(now) }, call));
  const ids = `"case_id":${JSON.stringify(caseId)},"court_code":${JSON.stringify(courtCode)}`;
  const [beforeNumber, beforeCourt, rest] = caseParts;
  const shown = `${beforeNumber}${JSON.stringify(caseNumber.canonical)}${beforeCourt}${JSON.stringify(court.name)}${rest}`;
  const delta = lastChecked === null ? '' : deltaParts.join(JSON.stringify(lastChecked.sent));
  return `{"meta":${meta},${ids},${shown}${delta}}`;
}

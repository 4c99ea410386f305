/** Callbacks promised by payments against callbacks scheduled. */
import { toMicros } from '../../runtime/instant.ts';
import type { Fact, FactRules } from '../judging.ts';
import { difference } from './compare.ts';
import { OWED_WITHIN } from './limits.ts';
import { tooLate } from './moment.ts';

type Values = Readonly<Record<string, string>>;
const MEMBERS = ['payment', 'wallet', 'requestId', 'target', 'origin'];

export const deliveryFacts: FactRules = {
  kind: 'delivery',
  judge(facts, until, breach) {
    let promise: Fact | null = null;
    /** The newest settlement that owes it, until a rollback. */
    let owed: Fact | null = null;
    let isScheduled = false;
    for (const fact of facts) {
      const { says, value, stream, revision, position } = fact;
      const place = { stream, revision, position };
      if (says === 'undone') owed = null;
      if (says === 'promised') {
        owed = fact;
        promise ??= fact;
        if (promise.stream !== stream) {
          const found = `one that ${promise.stream} promised`;
          breach({ ...place, rule: 'delivery_promised_once', expected: 'a delivery of its own', found });
        }
      }
      if (says !== 'scheduled') continue;
      const late = owed === null || isScheduled ? null : tooLate(owed, fact);
      if (late) breach({ ...place, rule: 'callback_scheduled', expected: `${nameOf(fact)} ${late}`, found: fact.at });
      isScheduled = true;
      if (promise === null) {
        const expected = `a settlement of ${(value as Values).payment} that promised it`;
        breach({ ...place, rule: 'delivery_promised', expected, found: 'none' });
        continue;
      }
      const differing = difference(promise.value as Values, value as Values, MEMBERS);
      if (differing) breach({ ...place, rule: 'delivery_as_promised', ...differing });
    }
    if (owed === null || isScheduled || toMicros(until) - toMicros(owed.at) <= OWED_WITHIN) return;
    const { stream, revision, position } = owed;
    const expected = `${nameOf(owed)} within an hour of ${owed.at}`;
    breach({ rule: 'callback_scheduled', stream, revision, position, expected, found: `none until ${until}` });
  },
};

const nameOf = ({ key }: Fact): string => key.replace(':', '-');

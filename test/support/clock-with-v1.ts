/** For tests of version 1, which remain when it has ended: until then the system's clock, and later one of before the end. */
import { V1_ENDS } from '../../src/http/v1/sunset.ts';
import { type Clock, MICROS_PER_SECOND, systemClock } from '../../src/runtime/instant.ts';

const DAY = 86_400 * MICROS_PER_SECOND;
/** No run of the tests lasts as long. */
const latest = V1_ENDS - DAY;
const ahead = Math.max(0, systemClock.now() - latest);

export const clockWithV1: Clock = { now: () => systemClock.now() - ahead };

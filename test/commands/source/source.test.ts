/** Given what was decided and seen of a source, when it is paused, resumed or reported on, then only changes are recorded. */
import { describe, it } from 'vitest';
import { type SourceCommand, source } from '../../../src/commands/source/source.ts';
import { SourcePaused, SourceResumed, SourceStandingChanged } from '../../../src/events/source.ts';
import { given } from '../../given-when-then.ts';

const act = { source: 'courtlistener', by: 'ann', reason: 'maintenance' } as const;
const whole = { ...act, court: null };
const ilnd = { ...act, court: 'ilnd' };
const pause = (of: typeof whole | typeof ilnd): SourceCommand => ({ type: 'Pause', ...of });
const resume = (of: typeof whole | typeof ilnd): SourceCommand => ({ type: 'Resume', ...of });

describe('a source', () => {
  it('is paused once, and resumed only if it is paused', () => {
    given(source).when(pause(whole)).then(SourcePaused.of(whole));
    given(source, SourcePaused.of(whole)).when(pause(whole)).then();
    given(source).when(resume(whole)).then();
    given(source, SourcePaused.of(whole)).when(resume(whole)).then(SourceResumed.of(whole));
    given(source, SourcePaused.of(whole), SourceResumed.of(whole)).when(pause(whole)).then(SourcePaused.of(whole));
  });

  it('and its courts are paused apart from each other', () => {
    given(source, SourcePaused.of(whole)).when(pause(ilnd)).then(SourcePaused.of(ilnd));
    given(source, SourcePaused.of(ilnd)).when(resume(whole)).then();
  });

  it('works until it is reported otherwise, and each change is recorded once', () => {
    const at = '2026-03-02T17:00:00.000000Z';
    const standing = (is: 'working' | 'failing', why: string | null, court: string | null = null) =>
      ({ source: 'courtlistener', court, standing: is, why, at }) as const;
    const report = (of: ReturnType<typeof standing>): SourceCommand => ({ type: 'ReportStanding', report: of });
    const [working, timeouts, down] = [
      standing('working', null),
      standing('failing', 'timeout'),
      standing('failing', 'unavailable'),
    ];
    given(source).when(report(working)).then();
    given(source).when(report(down)).then(SourceStandingChanged.of(down));
    given(source, SourceStandingChanged.of(down)).when(report(down)).then();
    given(source, SourceStandingChanged.of(down)).when(report(timeouts)).then(SourceStandingChanged.of(timeouts));
    given(source, SourceStandingChanged.of(down)).when(report(working)).then(SourceStandingChanged.of(working));
    const court = standing('failing', 'unavailable', 'ilnd');
    given(source, SourceStandingChanged.of(down)).when(report(court)).then(SourceStandingChanged.of(court));
  });
});

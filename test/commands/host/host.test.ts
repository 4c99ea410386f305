/** Given what was decided about a host before, when an operator pauses or resumes it, then only a change is recorded. */
import { describe, it } from 'vitest';
import { type HostCommand, host } from '../../../src/commands/host/host.ts';
import { HostPaused, HostResumed } from '../../../src/events/operator.ts';
import { given } from '../../given-when-then.ts';

const act = { origin: 'https://receiver.example', by: 'Ann Lee', reason: 'its owner asked' };
const [paused, resumed] = [HostPaused.of(act), HostResumed.of(act)];
const pause: HostCommand = { type: 'Pause', ...act };
const resume: HostCommand = { type: 'Resume', ...act };

describe('a host', () => {
  it('is paused once, with who decided it and why', () => {
    given(host).when(pause).then(paused);
    given(host, paused).when(pause).then();
    given(host, paused, resumed).when(pause).then(paused);
  });
  it('is resumed only if it is paused', () => {
    given(host).when(resume).then();
    given(host, paused).when(resume).then(resumed);
    given(host, paused, resumed).when(resume).then();
  });
});

/** What an operator sees of a copy: one redrawn line on a terminal, one line for each finished step elsewhere. */
import { Writable } from 'node:stream';
import { expect, it } from 'vitest';
import { startCopyProgress } from '../../../src/cli/copies/copy-progress.ts';

function shown(interactive: boolean): string {
  let text = '';
  const stderr = new Writable({
    write(chunk, _encoding, done) {
      text += chunk;
      done();
    },
  });
  const progress = startCopyProgress({ environment: {}, stdin: process.stdin, stdout: stderr, stderr, interactive });
  for (const done of [1, 2, 4]) progress.onProgress('events', done, 4);
  progress.onProgress('content', 7, null);
  progress.onProgress('seconds spent waiting', 3, null);
  progress.end();
  return text;
}

const EVENTS = /^events: 4 of 4 \(100%\), \d+ a second$/;

it('elsewhere: one line for each step', () => {
  expect(shown(false).split('\n')).toEqual([
    expect.stringMatching(EVENTS),
    expect.stringMatching(/^content: 7, \d+ a second$/),
    'seconds spent waiting: 3',
    '',
  ]);
});

it('on a terminal: a line that is redrawn, with what is left', () => {
  const [first, ...lines] = shown(true).split('\r\u001B[K');
  expect(first).toBe('');
  expect(lines[0]).toMatch(/^events: 1 of 4 \(25%\), \d+ a second, \d+ s left$/);
  expect(lines.find((line) => line.endsWith('\n'))?.trimEnd()).toMatch(EVENTS);
});

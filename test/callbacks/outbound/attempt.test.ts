import { connect } from 'node:net';
import { expect, test, vi } from 'vitest';
import { Attempt, type Phase } from '../../../src/callbacks/outbound/attempt.ts';
import { floods, startHostile } from './hostile.ts';

test.each([
  ['resolve', 'dns_timeout'],
  ['connect', 'connect_timeout'],
  ['secure', 'timeout'],
  ['exchange', 'timeout'],
] as const satisfies [Phase, string][])('a deadline in phase %s reports %s', async (phase, failureClass) => {
  const attempt = new Attempt(20);
  attempt.phase = phase;
  await vi.waitFor(() => expect(attempt.signal.reason).toMatchObject({ failureClass }), { timeout: 10_000 });
  expect(attempt.durationMs).toBeGreaterThanOrEqual(19);
});

test('an attempt that has ended cannot end again', async () => {
  const attempt = new Attempt(10);
  attempt.end();
  await new Promise((done) => setTimeout(done, 30));
  expect(attempt.signal.aborted).toBe(false);
});

test('bytes on the wire below TLS are limited, too', async () => {
  const hostile = await startHostile(floods('', 'x'.repeat(10_000)));
  const wire = connect(hostile.port, '127.0.0.1').on('data', () => undefined);
  wire.write('\r\n\r\n');
  const attempt = new Attempt(10_000);
  attempt.watch(wire);
  await vi.waitFor(() => expect(attempt.signal.reason).toMatchObject({ failureClass: 'response_too_large' }), {
    timeout: 10_000,
  });
  attempt.end();
  wire.destroy();
  await hostile.close();
});

test('a connection that transfers only as much as a response needs is not limited', async () => {
  const hostile = await startHostile((socket) => socket.write('x'.repeat(200_000)));
  const wire = connect(hostile.port, '127.0.0.1').on('data', () => undefined);
  const attempt = new Attempt(10_000);
  attempt.watch(wire);
  await vi.waitFor(() => expect(wire.bytesRead).toBe(200_000), { timeout: 10_000 });
  await new Promise((done) => setTimeout(done, 250));
  expect(attempt.signal.aborted).toBe(false);
  attempt.end();
  wire.destroy();
  await hostile.close();
});

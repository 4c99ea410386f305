import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { IdleConnections, type Keepable } from '../../../src/callbacks/outbound/idle-connections.ts';

class Kept implements Keepable {
  open = true;
  constructor(readonly openedAt = performance.now()) {}
  close() {
    this.open = false;
  }
}

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'setImmediate'], now: 0 }));
afterEach(() => void vi.useRealTimers());
const pass = (ms: number) => vi.advanceTimersByTime(ms);

const ORIGIN = 'https://hook.example.com:443';

test('the first connection of an origin is reused once it has been idle for 20 ms', () => {
  const idle = new IdleConnections<Kept>();
  const [first, second] = [new Kept(), new Kept()];
  idle.give(ORIGIN, first);
  pass(19);
  idle.give(ORIGIN, second);
  expect(idle.take(ORIGIN)).toBeNull();
  pass(2);
  expect([idle.take(ORIGIN), idle.take(ORIGIN)]).toEqual([first, null]);
  idle.trust(ORIGIN);
  expect(idle.take(ORIGIN)).toBe(second);
  idle.give(ORIGIN, second);
  idle.distrust(ORIGIN);
  expect(idle.take(ORIGIN)).toBeNull();
});

test('a process that was busy first reads what arrived meanwhile', () => {
  const idle = new IdleConnections<Kept>();
  const kept = new Kept();
  idle.give(ORIGIN, kept);
  setTimeout(() => idle.closed(ORIGIN, kept), 20);
  pass(20);
  pass(1);
  expect(idle.take(ORIGIN)).toBeNull();
});

test('the most recently used connection is reused next, only for its own origin', () => {
  const idle = new IdleConnections<Kept>();
  idle.trust(ORIGIN);
  const [first, second] = [new Kept(), new Kept()];
  idle.give(ORIGIN, first);
  idle.give(ORIGIN, second);
  expect(idle.take('https://other.example.com:443')).toBeNull();
  expect([idle.take(ORIGIN), idle.take(ORIGIN), idle.take(ORIGIN)]).toEqual([second, first, null]);
});

test('a connection is reused for 30 seconds from its opening, however busy it is', () => {
  const idle = new IdleConnections<Kept>();
  idle.trust(ORIGIN);
  const [old, young] = [new Kept(performance.now() - 30_000), new Kept(performance.now() - 29_000)];
  idle.give(ORIGIN, old);
  expect([old.open, idle.take(ORIGIN)]).toEqual([false, null]);
  idle.give(ORIGIN, young);
  expect(idle.take(ORIGIN)).toBe(young);
});

test('a closed connection is not reused', () => {
  const idle = new IdleConnections<Kept>();
  const [closed, forgotten] = [new Kept(), new Kept()];
  idle.trust(ORIGIN);
  idle.give(ORIGIN, forgotten);
  idle.closed(ORIGIN, forgotten);
  idle.give(ORIGIN, closed);
  closed.open = false;
  expect(idle.take(ORIGIN)).toBeNull();
});

test('eight are kept for an origin and 256 in all; the others are closed', () => {
  const idle = new IdleConnections<Kept>();
  const kept = Array.from({ length: 10 }, () => new Kept());
  for (const connection of kept) idle.give(ORIGIN, connection);
  expect(kept.filter(({ open }) => open)).toHaveLength(8);
  const others = Array.from({ length: 300 }, () => new Kept());
  for (const [index, connection] of others.entries()) idle.give(`https://h${index}.example.com:443`, connection);
  expect(others.filter(({ open }) => open)).toHaveLength(248);
  idle.closeAll();
  expect([...kept, ...others].filter(({ open }) => open)).toHaveLength(0);
  const again = new Kept();
  idle.give(ORIGIN, again);
  pass(21);
  expect(idle.take(ORIGIN)).toBe(again);
});

test('an origin that closed a connection it had promised to keep gets no other; a thousand such origins are remembered', () => {
  const idle = new IdleConnections<Kept>();
  const connection = new Kept();
  idle.distrust(ORIGIN);
  idle.give(ORIGIN, connection);
  expect([connection.open, idle.isUnreliable(ORIGIN), idle.take(ORIGIN)]).toEqual([false, true, null]);
  for (let index = 0; index < 1_000; index++) idle.distrust(`https://h${index}.example.com:443`);
  expect([idle.isUnreliable(ORIGIN), idle.isUnreliable('https://h0.example.com:443')]).toEqual([false, true]);
});

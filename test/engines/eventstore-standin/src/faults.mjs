// Faults on demand. A lasting fault holds until it is cleared or its `count` is used up; a momentary one happens once,
// immediately.
import { setTimeout as sleep } from 'node:timers/promises';
import grpc from '@grpc/grpc-js';
import { accessDenied, consumerTooSlow, notLeader, notReady, RpcError } from './errors.mjs';
import { withoutPart } from './incomplete.mjs';

const { status } = grpc;
const flag = (text) => {
  if (!['true', 'false'].includes(text)) throw new Error('must be true or false');
  return text === 'true';
};
const whole = (text) => {
  if (!/^\d{1,9}$/.test(text)) throw new Error('must be a whole number');
  return Number(text);
};
const text = (value) => value;
const requiresLeader = (value) => {
  if (value !== 'requires-leader') throw new Error('can only be requires-leader');
  return value;
};
const right = (value) => {
  if (!['read-all', 'read', 'append'].includes(value)) throw new Error('must be read-all, read or append');
  return value;
};
const missingPart = (value) => {
  if (!['id', 'stream', 'text-id'].includes(value)) throw new Error('must be id, stream or text-id');
  return value;
};
const code = (name) => {
  if (!(name in status)) throw new Error(`must be a gRPC status such as UNAVAILABLE`);
  return name;
};

/** Every fault with its parameters: how each is parsed, and its default. */
export const LASTING = {
  silent: {
    does: 'accepts appends and deletions and never answers',
    written: [flag, 'true'],
    stream: [text, ''],
    count: [whole, ''],
  },
  timeout: {
    does: 'answers appends and deletions with a timeout, as a node that cannot tell in time whether they are committed',
    written: [flag, 'true'],
    stream: [text, ''],
    count: [whole, ''],
  },
  unavailable: { does: 'fails every call with UNAVAILABLE, an open batch of appends included', count: [whole, ''] },
  'not-ready': {
    does: 'answers as a node that is starting: calls fail with UNAVAILABLE, batched appends with an error of their own',
    count: [whole, ''],
  },
  'not-leader': {
    does: 'sends callers to another node',
    host: [text, ''],
    port: [whole, ''],
    only: [requiresLeader, ''],
    count: [whole, ''],
  },
  deny: { does: 'refuses access, as to a user without this right', right: [right, 'read-all'] },
  incomplete: {
    does: 'sends events of streams whose names begin so without their id or the name of their stream, or with an id in the other form',
    part: [missingPart, 'id'],
    stream: [text, ''],
  },
  slow: { does: 'answers late; appends are written at once', ms: [whole, '1000'] },
};
export const MOMENTARY = {
  'drop-subscriptions': { does: 'ends all subscriptions without an error' },
  'abort-subscriptions': {
    does: 'ends all subscriptions with an error (by default that of a subscriber who is too slow)',
    code: [code, 'ABORTED'],
    message: [text, ''],
  },
  disconnect: { does: 'closes all connections' },
};

function parameters(definition, given) {
  const out = {};
  for (const name of given.keys())
    if (!Array.isArray(definition[name])) throw new Error(`there is no parameter ${name}`);
  for (const [name, specification] of Object.entries(definition)) {
    if (!Array.isArray(specification)) continue;
    const [read, otherwise] = specification;
    const value = given.get(name) ?? otherwise;
    try {
      if (value !== '') out[name] = read(value);
    } catch (error) {
      throw new Error(`${name} ${error.message}`);
    }
  }
  return out;
}

/** The right that a call needs; none for queries about the node itself. */
const rightFor = (call, kind) => {
  if (kind === 'write') return 'append';
  if (kind === 'node') return undefined;
  return call.request.getOptions().hasAll() ? 'read-all' : 'read';
};

export class Faults {
  #lasting = new Map();
  #deliveries = new Set();
  #server;

  /** `server` provides its address and closes its connections. */
  constructor(server) {
    this.#server = server;
  }

  /**
   * Starts a lasting fault, or performs a momentary one. `given` is a URLSearchParams. Throws an Error that says what
   * is wrong.
   */
  set(name, given) {
    if (name in LASTING) {
      this.#lasting.set(name, parameters(LASTING[name], given));
      return;
    }
    if (!(name in MOMENTARY))
      throw new Error(
        `there is no fault ${name}; there are ${[...Object.keys(LASTING), ...Object.keys(MOMENTARY)].join(', ')}`,
      );
    const options = parameters(MOMENTARY[name], given);
    if (name === 'disconnect') return void this.#server.disconnect();
    const error =
      options.code &&
      (options.code === 'ABORTED' && !options.message
        ? consumerTooSlow()
        : new RpcError(status[options.code], options.message ?? 'aborted by the stand-in'));
    this.endSubscriptions(error);
  }

  /** With an error, or silently. */
  endSubscriptions(error) {
    for (const delivery of this.#deliveries)
      if (error) delivery.fail(error);
      else delivery.end();
  }

  clear(name) {
    if (name) this.#lasting.delete(name);
    else this.#lasting.clear();
  }
  get active() {
    return Object.fromEntries(this.#lasting);
  }
  get subscriptions() {
    return this.#deliveries.size;
  }
  subscribed(delivery) {
    this.#deliveries.add(delivery);
    delivery.whenOver(() => this.#deliveries.delete(delivery));
  }

  /** Runs before a call is executed. `kind`: 'read', 'write' or 'node'. */
  async enter(call, kind) {
    if (this.#use('unavailable')) throw new RpcError(status.UNAVAILABLE, 'made unavailable by the stand-in');
    if (this.#use('not-ready')) throw Object.assign(notReady(), { inBand: 'Server Is Not Ready' });
    const redirect = this.#lasting.get('not-leader');
    if (
      redirect &&
      kind !== 'node' &&
      (redirect.only !== 'requires-leader' || call.metadata.get('requires-leader')[0] === 'true') &&
      this.#use('not-leader')
    )
      throw notLeader({ ...this.#server.address(), ...redirect });
    const denied = this.#lasting.get('deny');
    if (denied && denied.right === rightFor(call, kind)) throw accessDenied();
    this.#server.admit?.(call, kind);
    if (kind !== 'write') await this.answer();
  }

  /** Performs a write, unless a fault prevents it. */
  async write(streamName, write) {
    for (const [name, result] of [
      ['silent', { result: 'none' }],
      ['timeout', { result: 'timeout', atOnce: true }],
    ]) {
      const fault = this.#lasting.get(name);
      if (!fault || !streamName.startsWith(fault.stream ?? '') || !this.#use(name)) continue;
      if (fault.written) await write();
      return result;
    }
    return write();
  }

  /** A response to a read as it is sent. */
  shown(wire) {
    const fault = this.#lasting.get('incomplete');
    return fault ? withoutPart(wire, fault) : wire;
  }

  /** Runs before an answer is sent. */
  async answer() {
    const slow = this.#lasting.get('slow');
    if (slow) await sleep(slow.ms);
  }

  #use(name) {
    const fault = this.#lasting.get(name);
    if (!fault) return false;
    if (fault.count !== undefined && --fault.count <= 0) this.#lasting.delete(name);
    return true;
  }
}

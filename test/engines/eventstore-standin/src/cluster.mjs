// A cluster of nodes: which one leads, what each says about it in its gossip, and leader changes on demand. All nodes
// use one database, which holds what the cluster has committed; what a deposed leader accepts and never commits is not
// written.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  clusterTimeout,
  consumerTooSlow,
  consumerTooSlowForLive,
  handlerFailed,
  noLeaderInfo,
  notLeader,
  notReady,
} from './errors.mjs';
import { Gate } from './gate.mjs';
import { serve } from './server.mjs';

const pick = (choices) => choices[Math.floor(Math.random() * choices.length)];
/** How long a leader accepts writes that it can no longer commit. */
const TAIL_MS = 40;
/** How long a started node reports that it is not ready. */
const START_MS = 150;
/** How long a leader without a majority answers reads before it resigns. */
const RESIGN_MS = 2000;

export class Cluster {
  #nodes = [];
  #leader = null; // a node, or null during an election
  #changes = 0;
  #electedAt = null;

  static async open({ size, database, host, port, hold }) {
    const cluster = new Cluster();
    for (let i = 0; i < size; i++) {
      const node = { index: i, id: randomUUID(), alive: true, frozen: false, deposed: false };
      const view = {
        address: () => ({ host: node.gate.host, port: node.gate.port }),
        members: () => cluster.#members(),
        admit: (call, kind) => cluster.#admit(node, call, kind),
      };
      node.served = await serve({ database, host: '127.0.0.1', port: 0, hold, view });
      node.gate = await new Gate(node.served.port).open(host, port === 0 ? 0 : port + i);
      cluster.#nodes.push(node);
    }
    cluster.#elect();
    return cluster;
  }

  get ports() {
    return this.#nodes.map(({ gate }) => gate.port);
  }

  /** The faults of all nodes as one. */
  get faults() {
    const each = this.#nodes.map(({ served }) => served.faults);
    return {
      set: (name, given) => {
        for (const faults of each) faults.set(name, given);
      },
      clear: (name) => {
        for (const faults of each) faults.clear(name);
      },
      get active() {
        return each[0].active;
      },
      get subscriptions() {
        return each.reduce((sum, { subscriptions }) => sum + subscriptions, 0);
      },
    };
  }

  get state() {
    return {
      leader: this.#leader?.index ?? null,
      changes: this.#changes,
      electedAt: this.#electedAt,
      nodes: this.#nodes.map(({ index, alive, frozen, gate }) => ({ index, alive, frozen, port: gate.port })),
    };
  }

  close() {
    for (const { gate, served } of this.#nodes) {
      gate.close();
      served.close();
    }
  }

  // --- what nodes report ---

  #members() {
    return this.#nodes.map((node) => ({
      id: node.id,
      host: node.gate.host,
      port: node.gate.port,
      // A frozen node is detected by its silence; until another leads, the others still treat it as alive.
      isAlive: node.alive && !(node.frozen && this.#leader !== null),
      state: node === this.#leader ? 'LEADER' : this.#leader ? 'FOLLOWER' : 'UNKNOWN',
    }));
  }

  #admit(node, call, kind) {
    if (kind === 'node') return;
    if (node.deposed)
      throw kind === 'write' ? Object.assign(new Error('vanishes'), { vanishes: true }) : handlerFailed();
    if (this.#leader === null) throw pick([handlerFailed, handlerFailed, notReady, noLeaderInfo])();
    if (node === this.#leader) {
      if (kind === 'write' && !this.#hasMajority()) throw clusterTimeout();
      return;
    }
    if (call.metadata.get('requires-leader')[0] === 'true')
      throw notLeader({ host: this.#leader.gate.host, port: this.#leader.gate.port });
  }

  #hasMajority() {
    return this.#nodes.filter(({ alive, frozen }) => alive && !frozen).length > this.#nodes.length / 2;
  }

  // --- what happens to them ---

  /** Makes another node the leader: `how` is what happens to the old one. Resolves once the new leader is ready. */
  async change({ how, electionMs, thawMs }) {
    const old = this.#leader;
    if (!old) throw new Error('there is no leader to be changed');
    // What it accepts from now on it does not commit: it is never written and never answered.
    old.deposed = true;
    await sleep(TAIL_MS);
    if (how === 'kill') this.kill(old);
    else if (how === 'freeze') this.freeze(old);
    else old.gate.cut();
    this.#leader = null;
    this.#upset();
    await sleep(electionMs);
    if (how === 'resign') old.deposed = false;
    this.#elect(old);
    if (how === 'kill') setTimeout(() => this.start(old), START_MS);
    if (how === 'freeze') setTimeout(() => this.thaw(old), thawMs);
  }

  kill(node = this.#leader) {
    node.alive = false;
    node.frozen = false;
    node.gate.close();
    if (node === this.#leader) this.#leader = null;
  }

  async start(node) {
    if (node.alive) return;
    node.deposed = false;
    node.served.faults.set('not-ready', new URLSearchParams());
    await node.gate.open(node.gate.host, node.gate.port);
    node.alive = true;
    setTimeout(() => node.served.faults.clear('not-ready'), START_MS);
    if (this.#leader === null && this.#hasMajority()) this.#elect();
  }

  freeze(node = this.#leader) {
    node.frozen = true;
    node.gate.freeze();
  }

  /** A deposed leader finds that it must truncate its log: it ends, and is started again. */
  async thaw(node) {
    if (!node.frozen) return;
    node.frozen = false;
    node.gate.thaw();
    await sleep(START_MS);
    if (!node.deposed || !node.alive) return;
    this.kill(node);
    setTimeout(() => this.start(node), START_MS);
  }

  /** Kills all nodes but the leader: it times out writes, answers reads for some seconds and resigns. */
  loseMajority() {
    for (const node of this.#nodes) if (node !== this.#leader) this.kill(node);
    setTimeout(() => {
      if (this.#hasMajority()) return;
      this.#leader = null;
      this.#upset();
    }, RESIGN_MS);
  }

  /** Restarts everything that was killed or frozen, and ensures that there is a leader. */
  async recover() {
    for (const node of this.#nodes) {
      if (node.frozen) await this.thaw(node);
      await this.start(node);
    }
    if (this.#leader === null) this.#elect();
  }

  node(index) {
    const node = this.#nodes[index];
    if (!node) throw new Error(`there is no node ${index}`);
    return node;
  }

  #elect(but) {
    const able = this.#nodes.filter((node) => node !== but && node.alive && !node.frozen);
    if (able.length === 0) return;
    this.#leader = pick(able);
    this.#leader.deposed = false;
    this.#changes++;
    this.#electedAt = Date.now();
  }

  /** Ends subscriptions, in each way that was observed, and resets some connections of the remaining nodes. */
  #upset() {
    for (const { served, gate, alive, frozen } of this.#nodes) {
      if (!alive || frozen) continue;
      served.faults.endSubscriptions(pick([null, consumerTooSlow(), consumerTooSlowForLive(), handlerFailed()]));
      if (Math.random() < 0.3) gate.cut();
    }
  }
}

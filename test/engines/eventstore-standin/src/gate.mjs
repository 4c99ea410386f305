// The network side of a node in a cluster: a TCP port that can be cut, frozen or closed while the node behind it runs.
// To a client it looks like a process that is killed (`kill -9`), stopped (`kill -STOP`) or unplugged.
import { connect, createServer } from 'node:net';

export class Gate {
  #target;
  #server;
  #pairs = new Set(); // [client, upstream]
  #held = new Set(); // accepted while frozen: never answered
  #frozen = false;
  host;
  port;

  /** `target` is the port that the node listens on behind the gate. */
  constructor(target) {
    this.#target = target;
  }

  open(host, port) {
    this.#server = createServer((client) => {
      client.on('error', () => {});
      if (!this.#frozen) return this.#join(client);
      client.pause();
      this.#held.add(client);
      client.once('close', () => this.#held.delete(client));
    });
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, host, () => {
        this.host = host;
        this.port = this.#server.address().port;
        resolve(this);
      });
    });
  }

  #join(client) {
    const upstream = connect(this.#target, '127.0.0.1');
    const pair = [client.setNoDelay(true), upstream.setNoDelay(true)];
    this.#pairs.add(pair);
    const over = () => {
      this.#pairs.delete(pair);
      client.destroy();
      upstream.destroy();
    };
    client.once('close', over);
    upstream.on('error', over).once('close', over);
    client.pipe(upstream);
    upstream.pipe(client);
  }

  /** Nothing passes any more; new connections are accepted and never answered. */
  freeze() {
    this.#frozen = true;
    for (const [client, upstream] of this.#pairs) {
      client.unpipe(upstream).pause();
      upstream.unpipe(client).pause();
    }
  }

  /** What was sent meanwhile passes. */
  thaw() {
    this.#frozen = false;
    for (const [client, upstream] of this.#pairs) {
      client.pipe(upstream);
      upstream.pipe(client);
    }
    for (const client of this.#held) this.#join(client);
    this.#held.clear();
  }

  /** Resets every connection, even in the middle of a message. */
  cut() {
    for (const [client, upstream] of this.#pairs) {
      client.resetAndDestroy();
      upstream.destroy();
    }
    for (const client of this.#held) client.resetAndDestroy();
  }

  /** Refuses connections from now on, and resets the existing ones. */
  close() {
    this.#server?.close();
    this.#server = undefined;
    this.#frozen = false;
    this.cut();
  }
}

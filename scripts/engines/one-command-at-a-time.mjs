// A proxy for tests on FerretDB: it passes one command at a time, over all connections.
//
// FerretDB 1.24 reads a document, changes it and writes it back without a transaction, so one of two concurrent updates
// is lost, and conditional updates (cells, leases, counters) would fail. MongoDB updates atomically and needs no proxy.
// With this proxy, the tests cover the adapter's logic, but neither races inside the server nor its speed.
//
// A started command runs to its end even if its client disconnects: FerretDB stops a command in the middle when its
// connection closes, and sometimes stops answering all clients after that. MongoDB may finish it or not; a disconnected
// client cannot tell the difference.
//
// node one-command-at-a-time.mjs UPSTREAM_PORT [PORT]; prints "listening on PORT". SIGTERM ends it.
import { connect, createServer } from 'node:net';

const HEADER_BYTES = 16;
const REQUEST_ID = 4;
const RESPONSE_TO = 8;
const SLOW_MS = 10_000;
const OP_MSG = 2013;
/** Flag of an OP_MSG: its sender expects no answer, or sends more before it expects one. */
const MORE_TO_COME = 2;

/** Splits a stream of bytes into messages of the wire protocol; each starts with its length. */
class Messages {
  #bytes = Buffer.alloc(0);

  *take(chunk) {
    this.#bytes = Buffer.concat([this.#bytes, chunk]);
    while (this.#bytes.length >= 4) {
      const length = this.#bytes.readInt32LE(0);
      if (this.#bytes.length < length) return;
      yield this.#bytes.subarray(0, length);
      this.#bytes = this.#bytes.subarray(length);
    }
  }
}

const hasMoreToCome = (message) =>
  message.readInt32LE(12) === OP_MSG && (message.readUInt32LE(HEADER_BYTES) & MORE_TO_COME) !== 0;

/** Drivers use these commands to check that the server is alive, so they must not wait for a long command. */
const GREETINGS = new Set(['hello', 'ismaster', 'isMaster', 'ping']);

/** The first key of the document in a message. */
function commandName(message) {
  const name = HEADER_BYTES + 4 + 1 + 4 + 1;
  return message.toString('latin1', name, message.indexOf(0, name));
}

const isGreeting = (message) => message.readInt32LE(12) !== OP_MSG || GREETINGS.has(commandName(message));

/** A queue: each piece of work starts when the previous one has ended. */
let last = Promise.resolve();
const inTurn = (work) => {
  last = last.then(work);
};

export function serve(upstreamPort, port = 0) {
  const server = createServer((client) => {
    const upstream = connect(upstreamPort, '127.0.0.1');
    const [asked, answered] = [new Messages(), new Messages()];
    let clientGone = false;
    /** The running command: its id, and the function that ends its turn. */
    let running = null;
    const endTurn = () => {
      running?.end();
      running = null;
    };
    const leave = () => {
      clientGone = true;
      client.destroy();
      if (!running) upstream.destroy();
    };
    const upstreamGone = () => {
      endTurn();
      leave();
    };
    client.setNoDelay(true).on('error', leave).on('close', leave);
    upstream.setNoDelay(true).on('error', upstreamGone).on('close', upstreamGone);
    client.on('data', (chunk) => {
      for (const message of asked.take(chunk)) {
        if (isGreeting(message)) {
          upstream.write(message);
          continue;
        }
        inTurn(() => {
          if (clientGone) return;
          upstream.write(message);
          if (hasMoreToCome(message)) return;
          return new Promise((resolve) => {
            const id = message.readInt32LE(REQUEST_ID);
            const slow = setInterval(() => {
              console.error(`FerretDB has not answered for ${SLOW_MS / 1000} s: ${commandName(message)}`);
            }, SLOW_MS);
            const end = () => {
              clearInterval(slow);
              resolve();
            };
            running = { id, end };
          });
        });
      }
    });
    upstream.on('data', (chunk) => {
      for (const message of answered.take(chunk)) {
        if (!clientGone) client.write(message);
        if (hasMoreToCome(message) || message.readInt32LE(RESPONSE_TO) !== running?.id) continue;
        endTurn();
        if (clientGone) upstream.destroy();
      }
    });
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => resolve(server));
  });
}

const [upstreamPort, port = '0'] = process.argv.slice(2);
if (!/^\d+$/.test(upstreamPort ?? '')) throw new Error('expected the port of FerretDB');
const server = await serve(Number(upstreamPort), Number(port));
process.on('SIGTERM', () => process.exit(0));
console.log(`listening on ${server.address().port}`);

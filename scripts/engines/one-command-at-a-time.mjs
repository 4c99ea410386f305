// A proxy for tests that run on FerretDB: it lets one command through at a time, over all connections.
//
// FerretDB 1.24 reads a document, changes it and writes it back without a transaction, so that of two updates which
// race, one is lost: conditional updates (cells, leases, counters) would not hold. MongoDB does each update atomically
// and needs nothing of this. So with this proxy in front the adapter's logic is tested, and nothing is said about races
// inside the server, nor about speed.
//
// A command that has begun is let run to its end, whatever becomes of the client that sent it: FerretDB stops a command
// in the middle when its connection closes, and has been seen to answer nobody any more after that. MongoDB may finish
// it or not; a client that is gone cannot tell.
//
// node one-command-at-a-time.mjs UPSTREAM_PORT [PORT]; prints "listening on PORT". SIGTERM ends it.
import { connect, createServer } from 'node:net';

const HEADER_BYTES = 16;
const REQUEST_ID = 4;
const RESPONSE_TO = 8;
const SLOW_MS = 10_000;
const OP_MSG = 2013;
/** Flag of an OP_MSG: whoever sent it wants no answer, or has more to send before one. */
const MORE_TO_COME = 2;

/** Cuts a stream of bytes into messages of the wire protocol: each begins with its length. */
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

/** By this a driver asks whether the server lives: it must not wait behind a long command. */
const GREETINGS = new Set(['hello', 'ismaster', 'isMaster', 'ping']);

/** The first key of the document in a message. */
function commandName(message) {
  const name = HEADER_BYTES + 4 + 1 + 4 + 1;
  return message.toString('latin1', name, message.indexOf(0, name));
}

const isGreeting = (message) => message.readInt32LE(12) !== OP_MSG || GREETINGS.has(commandName(message));

/** Whose turn it is: each piece of work begins when the one before has ended. */
let last = Promise.resolve();
const inTurn = (work) => {
  last = last.then(work);
};

export function serve(upstreamPort, port = 0) {
  const server = createServer((client) => {
    const upstream = connect(upstreamPort, '127.0.0.1');
    const [asked, answered] = [new Messages(), new Messages()];
    let clientGone = false;
    /** The command that runs now: its id, and what ends its turn. */
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
if (!/^\d+$/.test(upstreamPort ?? '')) throw new Error('the port of FerretDB is expected');
const server = await serve(Number(upstreamPort), Number(port));
process.on('SIGTERM', () => process.exit(0));
console.log(`listening on ${server.address().port}`);

// The durable log: frames of length, CRC-32 and payload, appended to one file. A payload is one transaction: the end
// position of its records and the records' wire bytes. A frame that the last crash truncated is removed on start; a
// damaged one before the end prevents the start.
import { createHash } from 'node:crypto';
import {
  closeSync,
  existsSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { crc32 } from 'node:zlib';

const MAGIC = Buffer.from("eventstore-standin log 1: a test double's file, not an EventStoreDB database\n");
const HEADER = 8;

export class LogFile {
  #fd;

  /**
   * Calls `replay(transaction)` for every transaction in the file, in order. `onRepair(bytes)` is called for a removed
   * tail.
   */
  static async open(directory, replay, onRepair = () => {}) {
    mkdirSync(directory, { recursive: true });
    if (readdirSync(directory).some((name) => /^chunk-\d{6}\.\d{6}$/.test(name)))
      throw new Error(`${directory} holds an EventStoreDB database; choose another directory for the stand-in`);
    await lock(directory);
    const log = new LogFile();
    const path = join(directory, 'events.log');
    if (!existsSync(path)) writeFileSync(path, MAGIC);
    const bytes = readFileSync(path);
    if (
      bytes.length < MAGIC.length
        ? !MAGIC.subarray(0, bytes.length).equals(bytes)
        : !bytes.subarray(0, MAGIC.length).equals(MAGIC)
    )
      throw new Error(`${path} is not a log of the stand-in`);
    if (bytes.length < MAGIC.length) writeFileSync(path, MAGIC);
    const end = bytes.length < MAGIC.length ? MAGIC.length : scan(bytes, path, replay);
    log.#fd = openSync(path, 'r+');
    if (end < bytes.length) {
      ftruncateSync(log.#fd, end);
      onRepair(bytes.length - end);
    }
    closeSync(log.#fd);
    log.#fd = openSync(path, 'a');
    return log;
  }

  /** Hands the transactions to the operating system in one write: from then on they survive a kill of the process. */
  append(transactions) {
    const frames = transactions.map(encode);
    const bytes = frames.length === 1 ? frames[0] : Buffer.concat(frames);
    for (let written = 0; written < bytes.length; ) written += writeSync(this.#fd, bytes, written);
  }

  close() {
    closeSync(this.#fd);
  }
}

/** `{ endPosition, wires }` as a frame. */
function encode({ endPosition, wires }) {
  const length = 12 + wires.reduce((sum, wire) => sum + 4 + wire.length, 0);
  const frame = Buffer.allocUnsafe(HEADER + length);
  frame.writeDoubleLE(endPosition, HEADER);
  frame.writeUInt32LE(wires.length, HEADER + 8);
  let at = HEADER + 12;
  for (const wire of wires) {
    frame.writeUInt32LE(wire.length, at);
    wire.copy(frame, at + 4);
    at += 4 + wire.length;
  }
  frame.writeUInt32LE(length, 0);
  frame.writeUInt32LE(crc32(frame.subarray(HEADER)), 4);
  return frame;
}

function decode(payload) {
  const wires = [];
  let at = 12;
  for (let left = payload.readUInt32LE(8); left > 0; left--) {
    const length = payload.readUInt32LE(at);
    wires.push(payload.subarray(at + 4, at + 4 + length));
    at += 4 + length;
  }
  return { endPosition: payload.readDoubleLE(0), wires };
}

/** Replays whole frames and returns where the first incomplete one begins. */
function scan(bytes, path, replay) {
  let at = MAGIC.length;
  while (at + HEADER <= bytes.length) {
    const next = at + HEADER + bytes.readUInt32LE(at);
    if (next > bytes.length) return at;
    const payload = bytes.subarray(at + HEADER, next);
    if (crc32(payload) !== bytes.readUInt32LE(at + 4)) {
      if (next === bytes.length) return at;
      throw new Error(`${path} is damaged at byte ${at}`);
    }
    replay(decode(payload));
    at = next;
  }
  return at;
}

/**
 * One process for each directory. An abstract socket vanishes with its process, however that ends; other systems than
 * Linux have no lock.
 */
async function lock(directory) {
  if (process.platform !== 'linux') return;
  const server = createServer();
  await new Promise((done, failed) => {
    server.once('error', () => failed(new Error(`${directory} is in use by another stand-in`)));
    server.listen(`\0eventstore-standin:${createHash('sha256').update(resolve(directory)).digest('hex')}`, done);
  });
  server.unref();
}

// Streams.BatchAppend: one long call that carries all appends of a client, each under its own correlation id. The
// client uses this for every append without credentials.
import { MAX_APPEND_SIZE, WRITE_TIMEOUT_MS } from '../limits.mjs';
import { messages } from '../protocol.mjs';
import {
  badRequest,
  inBand,
  maxAppendSizeExceeded,
  streamDeleted,
  success,
  timeout,
  wrongExpectedVersion,
} from './batch-answers.mjs';
import { appendSize, expectedRevision, proposedEvent } from './requests.mjs';

const { BatchAppendResp } = messages;
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

export const batchAppend = (node) => (call) => {
  const batch = new Batch(node, call);
  call.on('data', (request) => batch.receive(request));
  call.on('end', () => batch.finish());
  call.on('cancelled', () => batch.close());
  call.on('error', () => {});
};

class Batch {
  #node;
  #call;
  #incomplete = new Map(); // appends whose last message is still to come, by correlation id
  #unanswered = 0;
  #ended = false;
  #closed = false;

  constructor(node, call) {
    this.#node = node;
    this.#call = call;
  }

  receive(request) {
    const key = request.getCorrelationId().getString();
    if (request.hasOptions() && !this.#begin(key, request)) return;
    const append = this.#incomplete.get(key);
    if (!append) return;
    try {
      append.events.push(
        ...request.getProposedMessagesList().map((message) => proposedEvent(message, missingProperty)),
      );
    } catch (error) {
      // It stays among the incomplete ones, as on a node: at its deadline it is rejected once more, which the client
      // does not survive.
      this.#answer(append, badRequest(error.message));
      return;
    }
    const tooLarge = appendSize(append.events) > MAX_APPEND_SIZE;
    if (!tooLarge && !request.getIsFinal()) return;
    this.#complete(key);
    if (tooLarge) this.#answer(append, maxAppendSizeExceeded(MAX_APPEND_SIZE));
    else if (append.stream === '') this.#answer(append, badRequest('eventStreamId should not be empty.'));
    else this.#write(append);
  }

  /** False if the append is rejected at once. */
  #begin(key, request) {
    const options = request.getOptions();
    const identifier = options.getStreamIdentifier();
    const append = { correlation: request.getCorrelationId(), identifier, events: [] };
    append.stream = Buffer.from(identifier?.getStreamName_asU8() ?? []).toString('utf8');
    const left = Math.min(timeLeft(options), WRITE_TIMEOUT_MS);
    if (left <= 0) return this.#answer(append, timeout());
    try {
      append.expected = expectedRevision(
        options,
        options.hasStreamPosition() ? options.getStreamPosition() : undefined,
      );
    } catch (error) {
      return this.#answer(append, badRequest(error.message));
    }
    if (this.#incomplete.has(key)) return true;
    append.timer = setTimeout(() => {
      this.#incomplete.delete(key);
      this.#answer(append, timeout());
    }, left);
    this.#incomplete.set(key, append);
    return true;
  }

  #complete(key) {
    clearTimeout(this.#incomplete.get(key).timer);
    this.#incomplete.delete(key);
  }

  async #write(append) {
    const { database, faults } = this.#node;
    this.#unanswered++;
    try {
      await faults.enter(this.#call, 'write');
      const outcome = await faults.write(append.stream, () =>
        database.append(append.stream, append.expected, append.events),
      );
      await faults.answer();
      if (outcome.result === 'timeout' && !outcome.atOnce) await pause(WRITE_TIMEOUT_MS);
      if (outcome.result !== 'none') this.#answer(append, answerOf(outcome, append));
    } catch (error) {
      if (error.inBand) this.#answer(append, inBand(error.inBand));
      else this.#fail(error);
    }
    this.#unanswered--;
    if (this.#ended) this.finish();
  }

  /** Always false, so that callers can return it for a rejection. */
  #answer(append, fill) {
    if (this.#closed) return false;
    const resp = new BatchAppendResp();
    resp.setCorrelationId(append.correlation);
    resp.setStreamIdentifier(append.identifier);
    fill(resp);
    this.#call.write(resp);
    return false;
  }

  #fail(error) {
    if (this.#closed) return;
    this.close();
    this.#call.emit('error', error);
  }

  /** The client sends no more: the call ends when everything is answered. */
  finish() {
    this.#ended = true;
    if (this.#unanswered > 0 || this.#closed) return;
    this.close();
    this.#call.end();
  }

  close() {
    this.#closed = true;
    for (const append of this.#incomplete.values()) clearTimeout(append.timer);
    this.#incomplete.clear();
  }
}

function answerOf(outcome, append) {
  if (outcome.result === 'success') return success(outcome);
  if (outcome.result === 'timeout') return timeout();
  if (outcome.result === 'deleted') return streamDeleted(append.identifier);
  return wrongExpectedVersion(outcome.current, append.expected);
}

/** The client sends a point in time, so clocks that differ by more than the deadline make every append time out. */
function timeLeft(options) {
  const deadline = options.getDeadline?.();
  return deadline ? deadline.toDate().getTime() - Date.now() : Infinity;
}

function missingProperty(name) {
  throw new Error(`The given key '${name}' was not present in the dictionary.`);
}

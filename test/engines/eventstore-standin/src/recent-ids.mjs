// Which events were written recently, by id. It forgets the oldest beyond its memory, and everything when the node
// restarts: repeated appends that expect `any` or `stream_exists` are recognized only by it. An id belongs to the first
// stream that used it.
import { RECENT_IDS_BYTES } from './limits.mjs';

const sizeOf = (streamName) => 28 + Math.ceil((21 + 2 * streamName.length) / 8) * 8;

export class RecentIds {
  #entries = new Map();
  #order = [];
  #oldest = 0;
  #bytes = 0;

  get(id, streamName) {
    const entry = this.#entries.get(id);
    return entry?.streamName === streamName ? entry.revision : undefined;
  }

  put(id, streamName, revision) {
    while (this.#bytes > RECENT_IDS_BYTES && this.#oldest < this.#order.length)
      this.#forget(this.#order[this.#oldest++]);
    if (this.#oldest > 65_536) {
      this.#order = this.#order.slice(this.#oldest);
      this.#oldest = 0;
    }
    this.#bytes += sizeOf(streamName);
    this.#order.push(id);
    if (!this.#entries.has(id)) this.#entries.set(id, { streamName, revision });
  }

  #forget(id) {
    const entry = this.#entries.get(id);
    if (!entry) return;
    this.#bytes -= sizeOf(entry.streamName);
    this.#entries.delete(id);
  }
}

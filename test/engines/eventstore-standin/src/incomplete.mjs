// Events without a part that every event of a node has: a client must survive them.
import { messages } from './protocol.mjs';

const { ReadResp, UUID } = messages;

/** A response to a read, in bytes, without the `part` of its event if the event's stream name begins with `stream`. */
export function withoutPart(wire, { part, stream = '' }) {
  const response = ReadResp.deserializeBinary(wire);
  const event = response.getEvent()?.getEvent();
  if (!event) return wire;
  const name = Buffer.from(event.getStreamIdentifier().getStreamName_asU8()).toString('utf8');
  if (!name.startsWith(stream)) return wire;
  if (part === 'id') event.clearId();
  if (part === 'stream') event.clearStreamIdentifier();
  if (part === 'text-id') event.setId(structured());
  return Buffer.from(response.serializeBinary());
}

/** A UUID of no valid version and variant. */
function structured() {
  const halves = new UUID.Structured();
  halves.setMostSignificantBits('-1');
  halves.setLeastSignificantBits('1');
  const id = new UUID();
  id.setStructured(halves);
  return id;
}

// Writes the protobuf bytes of read responses. An event is encoded once, when it is written; every read sends those
// bytes.

const LENGTH_DELIMITED = 2;

function varint(value) {
  const bytes = [];
  if (typeof value === 'number' && value < 0x80000000) {
    while (value > 0x7f) {
      bytes.push((value & 0x7f) | 0x80);
      value >>>= 7;
    }
    bytes.push(value);
    return Buffer.from(bytes);
  }
  let rest = BigInt(value);
  while (rest > 0x7fn) {
    bytes.push(Number(rest & 0x7fn) | 0x80);
    rest >>= 7n;
  }
  bytes.push(Number(rest));
  return Buffer.from(bytes);
}

const bytesField = (number, bytes) =>
  Buffer.concat([Buffer.from([(number << 3) | LENGTH_DELIMITED]), varint(bytes.length), bytes]);
const textField = (number, text) => bytesField(number, Buffer.from(text, 'utf8'));
const numberField = (number, value) => Buffer.concat([Buffer.from([number << 3]), varint(value)]);
const mapEntry = (number, key, value) => bytesField(number, Buffer.concat([textField(1, key), textField(2, value)]));

/** `ReadEvent.RecordedEvent`. Commit and prepare position are the same for every event that was written over gRPC. */
function recordedEvent({ id, streamName, revision, position, type, isJson, created, data, metadata }) {
  return Buffer.concat([
    bytesField(1, textField(2, id)), // UUID.string
    bytesField(2, textField(3, streamName)), // StreamIdentifier.stream_name
    numberField(3, revision),
    numberField(4, position),
    numberField(5, position),
    mapEntry(6, 'type', type),
    mapEntry(6, 'created', String(created)),
    mapEntry(6, 'content-type', isJson ? 'application/json' : 'application/octet-stream'),
    ...(metadata.length ? [bytesField(7, metadata)] : []),
    ...(data.length ? [bytesField(8, data)] : []),
  ]);
}

const readResp = (events, commitPosition) => bytesField(1, Buffer.concat([...events, numberField(3, commitPosition)]));

/** A `ReadResp` with the event. */
export const encodeEvent = (event) => readResp([bytesField(1, recordedEvent(event))], event.position);

/**
 * The `RecordedEvent` inside the bytes that `encodeEvent` made: after the tag and length of `ReadResp.event` and of
 * `ReadEvent.event`.
 */
export function recordedIn(wire) {
  let at = 0,
    length = 0;
  for (let depth = 0; depth < 2; depth++) {
    at++;
    length = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = wire[at++];
      length |= (byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
  }
  return wire.subarray(at, at + length);
}

/** A `ReadResp` with a link and its target (`undefined` if it has none). */
export const encodeResolved = (link, target) =>
  readResp(
    [...(target ? [bytesField(1, recordedIn(target.wire))] : []), bytesField(2, recordedIn(link.wire))],
    link.position,
  );

export const confirmation = (subscriptionId) => bytesField(2, textField(1, subscriptionId));
export const checkpoint = ({ commit, prepare }) =>
  bytesField(3, Buffer.concat([numberField(1, commit), numberField(2, prepare)]));
export const streamNotFound = (streamName) => bytesField(4, bytesField(1, textField(3, streamName)));
export const caughtUp = () => bytesField(8, Buffer.alloc(0));

/**
 * Completes what the client cannot do without. It throws for an event without an id or without the name of its stream,
 * and for an id in another form that is no valid UUID; it does so in the middle of a stream, where the throw ends the
 * process. With an empty id or name in its place the event reaches `recordedEvent`, which judges it.
 */
import shared from '@eventstore/db-client/generated/shared_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';

type WireEvent = streams.ReadResp.ReadEvent.RecordedEvent;

/** @param message what gRPC has received, of whatever call */
export function completeEvents(message: unknown): void {
  if (!(message instanceof streams.ReadResp)) return;
  const resolved = message.getEvent();
  for (const event of [resolved?.getEvent(), resolved?.getLink()]) if (event) complete(event);
}

function complete(event: WireEvent): void {
  if (!event.hasStreamIdentifier()) event.setStreamIdentifier(new shared.StreamIdentifier());
  const id = event.getId();
  if (id && !id.hasStructured()) return;
  const textual = new shared.UUID();
  textual.setString(id ? uuidText(id) : '');
  event.setId(textual);
}

/** The two halves of a UUID as text, whatever they hold. */
function uuidText(id: shared.UUID): string {
  const half = (bits: string | undefined): string =>
    BigInt.asUintN(64, BigInt(bits ?? 0))
      .toString(16)
      .padStart(16, '0');
  const structured = id.getStructured();
  const digits = half(structured?.getMostSignificantBits()) + half(structured?.getLeastSignificantBits());
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

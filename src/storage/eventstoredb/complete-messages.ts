/**
 * Fills in fields without which the client throws inside a stream or callback, which ends the process: a missing id or
 * stream name of an event, and an invalid binary id of an event or a cluster member. `recordedEvent` then checks the
 * event; a member's id is not used.
 */
import gossip from '@eventstore/db-client/generated/gossip_pb.js';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';

/** @param message a message that gRPC has received, of any call */
export function completeMessage(message: unknown): void {
  if (message instanceof streams.ReadResp) {
    const resolved = message.getEvent();
    for (const event of [resolved?.getEvent(), resolved?.getLink()]) if (event) completeEvent(event);
  } else if (message instanceof gossip.ClusterInfo) {
    for (const member of message.getMembersList()) member.setInstanceId(textual(member.getInstanceId()));
  }
}

function completeEvent(event: streams.ReadResp.ReadEvent.RecordedEvent): void {
  if (!event.hasStreamIdentifier()) event.setStreamIdentifier(new shared.StreamIdentifier());
  const id = event.getId();
  if (!id || id.hasStructured()) event.setId(textual(id));
}

/** The id in the form that the client reads unchecked; empty if it is missing. */
function textual(id: shared.UUID | undefined): shared.UUID {
  const text = new shared.UUID();
  text.setString(id?.hasStructured() ? uuidText(id) : (id?.getString() ?? ''));
  return text;
}

/** The two halves of a UUID as text; the value is not validated. */
function uuidText(id: shared.UUID): string {
  const half = (bits: string | undefined): string =>
    BigInt.asUintN(64, BigInt(bits ?? 0))
      .toString(16)
      .padStart(16, '0');
  const structured = id.getStructured();
  const digits = half(structured?.getMostSignificantBits()) + half(structured?.getLeastSignificantBits());
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

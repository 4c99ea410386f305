/**
 * Completes what the client cannot do without. It throws for an event without an id or without the name of its stream, and
 * for an id in binary form that is no valid UUID, of an event or of a member of the cluster. It does so in the middle of a
 * stream or in a callback, where the throw ends the process. With an empty id or name in its place an event reaches
 * `recordedEvent`, which judges it; of a member the id is not used.
 */
import gossip from '@eventstore/db-client/generated/gossip_pb.js';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';

/** @param message what gRPC has received, of whatever call */
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

/** As the client reads it without looking: empty where it is missing. */
function textual(id: shared.UUID | undefined): shared.UUID {
  const text = new shared.UUID();
  text.setString(id?.hasStructured() ? uuidText(id) : (id?.getString() ?? ''));
  return text;
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

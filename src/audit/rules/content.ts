/** The rules of the stream in which the removal of one content is recorded. */
import { ContentRedacted, contentStream } from '../../events/content.ts';
import type { EventOf, JsonObject } from '../../events/event.ts';
import type { StreamRules } from '../judging.ts';

export const contentRules: StreamRules<JsonObject> = {
  covers: (stream) => stream.startsWith(contentStream('')),

  judge(before, judged, findings) {
    if (judged.type !== ContentRedacted.type) {
      findings.breach('event_in_its_stream', ContentRedacted.type, judged.type);
      return before ?? {};
    }
    const { name, stream, revision } = judged.data as EventOf<typeof ContentRedacted>['data'];
    if (judged.stream !== contentStream(name)) {
      findings.breach('redaction_in_its_stream', contentStream(name), judged.stream);
    } else findings.refers?.('redaction_refers', { stream, revision }, name);
    return before ?? {};
  },
};

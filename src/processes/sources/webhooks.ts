/** Applies what CourtListener's webhooks brought, in the order of arrival within a case (docs/design/sources.md#webhooks). */
import type { Json, JsonObject } from '../../events/event.ts';
import { WebhookReceived } from '../../events/source.ts';
import { idOf } from '../../sources/courtlistener/courtlistener.ts';
import type { RecordedEvent } from '../../storage/event-log.ts';
import { StorageFailure } from '../../storage/storage-failure.ts';
import { type Follower, type FollowPorts, followLog } from '../follow-log.ts';
import { type ApplyPorts, applyWebhook } from './apply-webhook.ts';

export type WebhookPorts = ApplyPorts & FollowPorts;

export interface Webhooks {
  /** Follows the log under a lease until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

/** Of the process, its lease and its cursor. */
export const SOURCE_WEBHOOKS = 'source-webhooks';
/** Cases at once. */
const AT_ONCE = 4;

export function createWebhooks(ports: WebhookPorts): Webhooks {
  const follower: Follower = {
    name: SOURCE_WEBHOOKS,
    types: [WebhookReceived.type],
    handle: (received) => applyWebhook(ports, received),
    async inOrder(messages, one) {
      const cases = [...(await byCase(ports, messages)).values()];
      const work = async (): Promise<void> => {
        for (let own = cases.shift(); own !== undefined; own = cases.shift()) {
          for (const message of own) await one(message);
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, work));
    },
    tries: 3,
    setAside: {
      alarm: 'webhook_left_behind',
      message: 'a message of CourtListener could not be applied; retrying every minute',
    },
    waiting: 'messages of CourtListener wait for the storage; retrying',
  };
  return { run: (signal) => followLog(ports, follower, signal) };
}

/** Messages with content in the order of arrival, for each case that they are about. */
async function byCase(ports: Pick<WebhookPorts, 'payloads'>, messages: readonly RecordedEvent[]) {
  const found = new Map<string, RecordedEvent[]>();
  for (const message of messages) {
    const { content } = message.data;
    if (typeof content !== 'string') continue;
    const about = (await subjectOf(ports, content)) ?? message.stream;
    found.set(about, [...(found.get(about) ?? []), message]);
  }
  return found;
}

/** The docket of a message's first entry; null if it names none. */
async function subjectOf({ payloads }: Pick<WebhookPorts, 'payloads'>, content: string): Promise<string | null> {
  try {
    const bytes = await payloads.get(content);
    const { entries } = JSON.parse(bytes?.toString() ?? '{}') as { readonly entries?: readonly JsonObject[] };
    return idOf(entries?.[0]?.docket as Json | undefined);
  } catch (error) {
    if (error instanceof StorageFailure) throw error;
    return null;
  }
}

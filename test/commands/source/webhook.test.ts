/**
 * Given a message that a source pushed, when it comes again or is applied again, then it was recorded and applied once.
 */
import { expect, it } from 'vitest';
import { webhook } from '../../../src/commands/source/webhook.ts';
import { WebhookApplied, WebhookReceived } from '../../../src/events/source.ts';
import { given } from '../../given-when-then.ts';

const keyHash = 'a'.repeat(64);
const source = 'courtlistener';
const data = {
  source,
  keyHash,
  eventType: 1,
  receivedAt: '2026-06-18T20:02:11.000000Z',
  content: 'b'.repeat(64),
} as const;
const received = WebhookReceived.of(data);
const applied = WebhookApplied.of({ source, keyHash, outcome: 'recorded' });

it('is recorded once, with the content that came first', () => {
  const command = { type: 'Receive', received: data, outcome: null } as const;
  given(webhook).when(command).then(received);
  given(webhook, received)
    .when({ ...command, received: { ...data, content: 'c'.repeat(64) } })
    .then();
  expect(given(webhook, received).state.received).toEqual(data);
});

it('ends at once if it has no effect', () => {
  const idle = { ...data, eventType: 2, content: null };
  given(webhook)
    .when({ type: 'Receive', received: idle, outcome: 'ignored' })
    .then(WebhookReceived.of(idle), WebhookApplied.of({ source, keyHash, outcome: 'ignored' }));
});

it('is applied once, and only after it was received', () => {
  given(webhook, received).when({ type: 'Apply', outcome: 'recorded' }).then(applied);
  given(webhook, received, applied).when({ type: 'Apply', outcome: 'unchanged' }).then();
  given(webhook).when({ type: 'Apply', outcome: 'recorded' }).thenRejected('not_received');
});

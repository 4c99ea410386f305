/**
 * A small log with signed heads, the same at every run: written event by event without today's schemas, since what was
 * once written never changes. The published vectors of `examples/verifier` are made from it.
 */
import type { JsonObject } from '../../src/events/event.ts';
import { LOG_HEAD_STREAM } from '../../src/events/log-head.ts';
import { LOG_IDENTITY_STREAM } from '../../src/events/log-identity.ts';
import { type HeadKey, headKeyOf } from '../../src/events/log-note.ts';
import { LogTree, leafOf } from '../../src/events/log-tree.ts';
import { eventId } from '../../src/storage/event-id.ts';
import type { Append, PreparedEvent, RecordedEvent } from '../../src/storage/event-log.ts';
import { hashEvent } from '../../src/storage/prepare-append.ts';

export const LOG_ID = '6f1d7c2a-52b4-4c0e-9d0a-3b5e8f7a9c11';
export const KEYS: readonly HeadKey[] = [1, 2].map((byte) => headKeyOf(Buffer.alloc(32, byte)));
export const WALLET = '7dNXsDvC6xJ6XG7VdeRoW94yN7xZkJhcaRAxKrHzq7gW';
export const TRANSACTION = '5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW';
export const REQUEST = '11111111-2222-4333-8444-555555555555';
export const PAYMENT = `payment-${'0123456789abcdef'.repeat(4)}`;
export const FAILED_PAYMENT = `payment-${'fedcba9876543210'.repeat(4)}`;

type Written = readonly [type: string, schemaVersion: number, data: JsonObject];

export class LogWriter {
  readonly appends: Append[] = [];
  readonly #events: PreparedEvent[] = [];
  readonly #newest = new Map<string, { readonly revision: number; readonly hash: string }>();

  get events(): readonly RecordedEvent[] {
    return this.#events.map((event, index) => ({ ...event, position: String(index + 1).padStart(20, '0') }));
  }

  get size(): number {
    return this.#events.length;
  }

  tree(size = this.size): LogTree {
    const tree = new LogTree();
    for (const { stream, revision, metadata } of this.#events.slice(0, size)) {
      tree.add(leafOf({ stream, revision, hash: metadata.hash }));
    }
    return tree;
  }

  /** One append. @param commandId null as in events of earlier versions */
  write(
    stream: string,
    written: readonly Written[],
    commandId: string | null = this.#commandId(),
    traceparent?: string,
  ): this {
    const before = this.#newest.get(stream) ?? { revision: -1, hash: '' };
    let { hash } = before;
    const events = written.map(([type, schemaVersion, data], index): PreparedEvent => {
      const unhashed = {
        recordedAt: `2026-03-01T12:00:${String(this.appends.length).padStart(2, '0')}.000000Z`,
        requestId: null,
        correlationId: commandId ?? REQUEST,
        causationId: null,
        actor: 'test',
        schemaVersion,
        ...(commandId !== null && { commandId }),
        ...(traceparent !== undefined && { traceparent }),
      };
      const revision = before.revision + 1 + index;
      const id = eventId(commandId ?? REQUEST, stream, before.revision, index);
      const event = { id, stream, revision, type, data, metadata: unhashed };
      hash = hashEvent(hash, event);
      return { ...event, metadata: { ...unhashed, hash } };
    });
    this.#newest.set(stream, { revision: before.revision + written.length, hash });
    this.#events.push(...events);
    this.appends.push({ stream, expected: before.revision, events });
    return this;
  }

  /** Records a signed head of all events so far, or of the first `size`. */
  head(masterVersion: number, { introduces = false, size = this.size, root = '' } = {}): this {
    const key = KEYS[masterVersion - 1] as HeadKey;
    const tree = this.tree(size);
    const last = this.#events[size - 1] as PreparedEvent;
    const claim = { size, root: root || tree.root().toString('hex') };
    const recorded: Written = [
      'LogHeadRecorded',
      1,
      {
        ...claim,
        peaks: tree.peaks.map((peak) => peak.toString('hex')),
        last: { stream: last.stream, revision: last.revision },
        masterVersion,
        signature: key.signHead(claim, LOG_ID),
      },
    ];
    const introduced: Written = ['LogHeadKeyIntroduced', 1, { masterVersion, publicKey: key.publicKey }];
    return this.write(LOG_HEAD_STREAM, introduces ? [introduced, recorded] : [recorded]);
  }

  anchor(size: number, root = this.tree(size).root().toString('hex')): this {
    const { slot, fee } = { slot: 300_000_001, fee: 5000 };
    const blockTime = '2026-03-01T12:00:20.000000Z';
    const data = { size, root, transaction: TRANSACTION, slot, blockTime, fee, by: 'anchor' };
    return this.write(LOG_HEAD_STREAM, [['LogHeadAnchored', 1, data]]);
  }

  #commandId(): string {
    return `00000000-0000-4000-8000-${String(this.appends.length).padStart(12, '0')}`;
  }
}

export const FOUNDED: Written = [
  'LogFounded',
  1,
  {
    logId: LOG_ID,
    network: 'solana:local',
    genesisHash: '4uhcVJyU9pJkvQyS88uRDiswHXSCkY3zQawwpjk2NsNY',
    mint: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
    receiver: WALLET,
    version: '2.0.1',
  },
];

const landed = { transaction: TRANSACTION, slot: 300_000_000 };
const charge = { ...landed, requestId: REQUEST, wallet: WALLET, amount: '990000', answeredCases: 1 };
const authorized = (requestId: string): Written => [
  'PaymentAuthorized',
  2,
  {
    requestId,
    wallet: WALLET,
    dialect: 'x402-v2',
    network: 'solana:local',
    mint: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
    payTo: WALLET,
    amount: '990000',
    queries: 1,
    endpoint: 'GET /v2/case',
    requestHash: 'ab'.repeat(32),
    identifierHash: null,
  },
];

/** Values whose canonical form is easily got wrong. Another program may have written them; a hash covers them too. */
const UNUSUAL: JsonObject = {
  numbers: [0, 1e21, 1e-7, 123456789012345680000, 0.1, 5e-324, 1.7976931348623157e308, 0.000001, 1.5, -2.25e-9, 1e20],
  texts: ['"\\/\b\f\n\r\t\u0000\u001f', '\u007f\u2028\u20ac', '\u{1f600}', '\ud800'],
  '\u{1f600}': 'sorts before the next by UTF-16 code units',
  '\ufb33': 'sorts after the emoji',
  '10': true,
  '9': false,
  empty: [null, {}, []],
};

/** Two payments, one of them failed; a docket; two keys of heads; an anchor; and events that no head covers yet. */
export const writtenLog = (): LogWriter =>
  new LogWriter()
    .write(LOG_IDENTITY_STREAM, [FOUNDED])
    .write('docket-cand-3:24-cv-00042', [['DocketOpened', 1, { court: 'cand', caseNumber: '3:24-cv-00042' }]], null)
    .head(1, { introduces: true })
    .write(PAYMENT, [
      authorized(REQUEST),
      [
        'QueryAnswered',
        2,
        {
          requestId: REQUEST,
          answer: 'cd'.repeat(32),
          keepUntil: '2026-03-31T12:00:00.000000Z',
          answeredCases: 1,
          keyCall: null,
          callbacks: [],
        },
      ],
      ['PaymentSubmitted', 1, { transaction: TRANSACTION, wire: 'AAAA', lastValidBlockHeight: 300_000_150 }],
    ])
    .head(1)
    .write(FAILED_PAYMENT, [
      authorized('22222222-2222-4333-8444-555555555555'),
      ['QueryFailed', 1, { requestId: '22222222-2222-4333-8444-555555555555', code: 'case_not_found', status: 404 }],
      ['PaymentReleased', 1, { reason: 'query_failed' }],
    ])
    .write(PAYMENT, [['PaymentSettled', 2, { ...charge, owes: null }]])
    .head(1, { size: 11 })
    .write('docket-unusual', [['Unusual', 1, UNUSUAL]])
    .write(PAYMENT, [['PaymentFinalized', 1, landed]])
    .head(2, { introduces: true })
    .write('docket-cand-3:24-cv-00042', [
      [
        'DocketChecked',
        1,
        {
          source: 'file',
          askedAt: '2026-03-01T12:00:30.000000Z',
          complete: true,
          outcome: 'unchanged',
          ingestId: null,
        },
      ],
    ])
    .head(2)
    .anchor(18)
    .write('operator-projection-cases', [
      ['EventSkipped', 1, { projection: 'cases', position: '00000000000000000007', reason: 'a fault, fixed since' }],
    ]);

/** A small log with something of everything, and the streams that a test of breaches changes. */
import { Keypair } from '@solana/web3.js';
import { deliveryStream } from '../../src/events/delivery.ts';
import { hostSubject, operatorStream, walletSubject } from '../../src/events/operator.ts';
import { walletStream } from '../../src/events/signing-key.ts';
import { sourceStream } from '../../src/events/source.ts';
import { acknowledged, entry, failing, HOUR, interrupted, MINUTE, openRecorder, type Paid } from './recorder.ts';

export interface BaseLog {
  /** Streams by what they hold. */
  readonly plain: string;
  readonly second: string;
  readonly batch: string;
  readonly failedQuery: string;
  readonly paidAfterFailure: string;
  readonly promising: string;
  readonly expired: string;
  readonly late: string;
  readonly firstOfIdentifier: string;
  readonly secondOfIdentifier: string;
  readonly identifier: string;
  readonly rotation: string;
  readonly bobsKey: string;
  readonly bob: string;
  readonly toNewReceiver: string;
  readonly wallet: string;
  readonly delivered: string;
  readonly givenUp: string;
  readonly interrupted: string;
  readonly waiting: string;
  readonly cancelled: string;
  /** The acts on the host that it waits for, and on a wallet. */
  readonly pausedHost: string;
  readonly unbanned: string;
  readonly docket: string;
  readonly content: string;
  readonly forgotten: string;
  /** A message that a source pushed, and an alert of it. */
  readonly pushed: string;
  readonly alert: string;
  /** The acts on that source and one court of it. */
  readonly pausedSource: string;
}

/** Records the log into a folder. */
export async function recordBaseLog(directory: string): Promise<BaseLog> {
  const recorder = openRecorder(directory);
  const { buy, fail, pay, see, pass, attempt } = recorder;
  const [ada, bob] = [Keypair.generate(), Keypair.generate()];
  const identifierHash = 'e'.repeat(64);
  const hook = 'https://receiver.example/hook';
  const pausedOrigin = 'https://paused.example';
  try {
    await recorder.found();
    const docket = await recorder.ingest([entry(1, 'COMPLAINT', -900), entry(2, 'SUMMONS', -800)]);
    pass(MINUTE);
    const plain = await buy({ wallet: ada });
    pass(MINUTE);
    const second = await buy({ wallet: bob });
    const batch = await buy({ wallet: bob, queries: 3, endpoint: 'POST /v2/cases/batch' });
    const failedQuery = await fail({ wallet: bob });
    const paidAfterFailure = await fail({ wallet: bob });
    pass(MINUTE);
    await buy({ wallet: bob, again: paidAfterFailure });
    const bobsKey = await buy({ wallet: bob, keyCall: 'rotate' });

    const promising = await buy({ wallet: ada, callbacks: [hook, hook, hook] });
    const [first, last, third] = promising.purchase.answer.callbacks.map(({ deliveryId }) => deliveryId);
    if (first === undefined || last === undefined || third === undefined) throw new Error('three were bought');
    await attempt(first, [acknowledged]);
    await attempt(third, [interrupted, interrupted, interrupted, interrupted, acknowledged]);
    // Longer than the 9 minutes of the table and its jitter, and shorter than twice that.
    await attempt(last, [failing, { ...failing, retryAfterSeconds: 800 }]);
    const rotation = await buy({ wallet: ada, keyCall: 'rotate' });
    await recorder.prove(ada, rotation);
    await attempt(last, [failing, failing, failing, failing, failing]);
    await recorder.redeliver(last);
    await attempt(last, [acknowledged]);

    const expired = await pay({ wallet: ada });
    pass(2 * MINUTE);
    await see(expired, { type: 'Fail', reason: 'expired', detail: null });
    const late = await settledLate();
    const [one, other] = await underOneIdentifier();

    pass(MINUTE);
    await recorder.ingest([entry(1, 'COMPLAINT (amended)', -900), entry(2, 'SUMMONS', -800), entry(3, 'MOTION', 30)]);
    pass(MINUTE);
    await recorder.ingest([
      entry(1, 'COMPLAINT (amended)', -900),
      entry(2, 'SUMMONS', -800),
      entry(3, 'MOTION', 30),
      entry(4, 'ORDER', 40),
    ]);
    const content = await withdrawLast(docket);
    const [waiting, cancelled] = await atPausedHost();
    const carol = Keypair.generate().publicKey.toBase58();
    await recorder.ban('Ban', carol);
    await recorder.ban('Unban', carol);
    pass(MINUTE);
    const forgotten = await recorder.ingest([entry(1, 'COMPLAINT', -900)], '3:24-cv-09999');
    pass(MINUTE);
    await recorder.forget({ kind: 'docket', docket: forgotten });
    const pushed = await recorder.push('d'.repeat(64));
    const alert = await recorder.alert('7001');
    await recorder.source('Pause', 'cand');
    await recorder.source('Pause', null);
    await recorder.source('Resume', 'cand');
    // More than a day, and no part of it without an event: the service was never stopped.
    pass(13 * HOUR);
    await recorder.ban('Ban', carol);
    await recorder.ban('Unban', carol);
    pass(13 * HOUR);
    await recorder.changeReceiver();
    const toNewReceiver = await buy({ wallet: bob });
    await recorder.recordHead();

    return {
      plain: plain.stream,
      second: second.stream,
      batch: batch.stream,
      failedQuery: failedQuery.stream,
      paidAfterFailure: paidAfterFailure.stream,
      promising: promising.stream,
      expired: expired.stream,
      late: late.stream,
      firstOfIdentifier: one.stream,
      secondOfIdentifier: other.stream,
      identifier: `payment-id-${identifierHash}`,
      rotation: rotation.stream,
      bobsKey: bobsKey.stream,
      bob: walletStream(bob.publicKey.toBase58()),
      toNewReceiver: toNewReceiver.stream,
      wallet: walletStream(ada.publicKey.toBase58()),
      delivered: deliveryStream(first),
      givenUp: deliveryStream(last),
      interrupted: deliveryStream(third),
      waiting: deliveryStream(waiting),
      cancelled: deliveryStream(cancelled),
      pausedHost: operatorStream(hostSubject(pausedOrigin)),
      unbanned: operatorStream(walletSubject(carol)),
      docket,
      content,
      forgotten,
      pushed,
      alert,
      pausedSource: sourceStream.itself('courtlistener'),
    };
  } finally {
    await recorder.close();
  }

  /** Confirmed, dropped by the cluster, and landed after all. */
  async function settledLate(): Promise<Paid> {
    const paid = await pay({ wallet: ada });
    await see(paid, { type: 'Settle', slot: 90 });
    pass(MINUTE);
    await see(paid, { type: 'RollBack', reason: 'not_on_the_finalized_chain' });
    pass(MINUTE);
    await see(paid, { type: 'Settle', slot: 91 });
    await see(paid, { type: 'Finalize', slot: 91 });
    return paid;
  }

  /** Two callbacks fail once, then their host is paused: one still waits at the end, and one is cancelled. */
  async function atPausedHost(): Promise<readonly [string, string]> {
    const url = `${pausedOrigin}/hook`;
    const { purchase } = await buy({ wallet: ada, callbacks: [url, url] });
    const [waiting, cancelled] = purchase.answer.callbacks.map(({ deliveryId }) => deliveryId);
    if (waiting === undefined || cancelled === undefined) throw new Error('two were bought');
    await attempt(waiting, [failing]);
    await attempt(cancelled, [failing]);
    await recorder.host('Pause', pausedOrigin);
    await recorder.host('Resume', pausedOrigin);
    await recorder.host('Pause', pausedOrigin);
    await recorder.cancel(cancelled);
    return [waiting, cancelled];
  }

  /** A first payment fails, and a second pays for the same request. */
  async function underOneIdentifier(): Promise<readonly [Paid, Paid]> {
    const one = await pay({ wallet: bob, identifierHash });
    pass(2 * MINUTE);
    await see(one, { type: 'Fail', reason: 'expired', detail: null });
    const other = await buy({ wallet: bob, identifierHash });
    return [one, other];
  }

  async function withdrawLast(docket: string): Promise<string> {
    const recorded = (await recorder.log.read(docket)).findLast(({ type }) => type === 'FilingsRecorded');
    const [filing] = (recorded?.data.filings ?? []) as { filingId: string }[];
    await recorder.withdraw(docket, filing?.filingId ?? '');
    return `content-${recorded?.data.content}`;
  }
}

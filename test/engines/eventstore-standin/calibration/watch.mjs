// Follows a subscription and records all its events, in the order in which the client emits them.
import { SILENT, sleep, within } from './kit.mjs';

export class Watch {
  constructor(kit, subscription, show = (resolved) => kit.brief(resolved)) {
    this.kit = kit;
    this.subscription = subscription;
    this.log = [];
    for (const signal of ['confirmation', 'caughtUp', 'fellBehind'])
      subscription.on(signal, () => this.log.push(signal));
    subscription.on('error', () => {}); // the loop below handles it; without a listener a late error would end the process
    this.ended = (async () => {
      try {
        for await (const resolved of subscription) this.log.push(show(resolved));
        this.log.push('ended without an error');
      } catch (error) {
        this.log.push({ threw: kit.error(error) });
      }
    })();
  }

  count(wanted) {
    return this.log.filter((entry) => (typeof wanted === 'function' ? wanted(entry) : entry === wanted)).length;
  }

  /** Waits until `done(log)` holds, then a little longer for anything that should not come. */
  async until(done, ms = 4000, linger = 150) {
    const deadline = Date.now() + ms;
    while (!done(this.log) && Date.now() < deadline) await sleep(10);
    const reached = done(this.log);
    await sleep(linger);
    if (!reached) this.log.push('gave up waiting');
    return this.log;
  }

  untilEvents(count, ms) {
    return this.until(
      (log) => log.filter((entry) => typeof entry === 'string' && entry.includes('@')).length >= count,
      ms,
    );
  }
  untilOver(ms) {
    return this.until((log) => log.some((entry) => entry.threw || entry === 'ended without an error'), ms);
  }

  async stop() {
    await within(this.subscription.unsubscribe(), 1000);
    const how = await within(
      this.ended.then(() => 'loop over'),
      1000,
    );
    return how === SILENT ? 'loop still waiting' : how;
  }

  result() {
    return this.kit.plain(this.log);
  }
}

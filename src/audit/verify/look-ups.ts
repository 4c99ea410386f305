/** What an event makes one look up in the log, the payload store or on the chain: done for many events at once. */
import type { BreachPlace } from '../judging.ts';
import type { RuleName } from '../rules/catalogue.ts';
import type { Breaches } from './breaches.ts';
import type { ClaimedAnchor } from './heads.ts';
import type { Payloads } from './payloads.ts';
import { type Reference, referenceFault } from './references.ts';
import type { VerifyPorts } from './verify.ts';
import { type Withdrawal, withdrawalFault } from './withdrawals.ts';

export class LookUps {
  readonly #ports: Pick<VerifyPorts, 'log' | 'checkAnchor'>;
  readonly #breaches: Breaches;
  readonly #payloads: Payloads | null;
  /** Transactions of anchors that this run has found on the chain as the log says. */
  readonly anchoredOnChain = new Set<string>();
  #references: Reference[] = [];
  #withdrawals: { readonly rule: RuleName; readonly at: Withdrawal; readonly followsFrom: string | null }[] = [];
  #anchors: { readonly anchor: ClaimedAnchor; readonly at: BreachPlace }[] = [];

  /** @param payloads what events name is noted there; null if content is not compared */
  constructor(ports: Pick<VerifyPorts, 'log' | 'checkAnchor'>, breaches: Breaches, payloads: Payloads | null) {
    this.#ports = ports;
    this.#breaches = breaches;
    this.#payloads = payloads;
  }

  reference(reference: Reference): void {
    this.#references.push(reference);
  }

  /** @param followsFrom what a breach there follows from; null if it is one of its own */
  withdrawal(rule: RuleName, at: Withdrawal, followsFrom: string | null): void {
    this.#withdrawals.push({ rule, at, followsFrom });
  }

  /** @param at the event that claims it */
  anchor(anchor: ClaimedAnchor, at: BreachPlace): void {
    if (this.#ports.checkAnchor) this.#anchors.push({ anchor, at });
  }

  /** Looks up everything noted. @throws the errors of the log, of the payload store and of the chain */
  async run(): Promise<void> {
    const [references, anchors] = [this.#references, this.#anchors];
    [this.#references, this.#anchors] = [[], []];
    for (const reference of references) {
      const fault = await referenceFault(this.#ports.log, reference);
      if (fault) this.#breaches.add({ rule: reference.rule, ...reference.from, ...fault });
    }
    const withdrawals = this.#withdrawals;
    this.#withdrawals = [];
    for (const { rule, at, followsFrom } of withdrawals) {
      const found = await withdrawalFault(this.#ports.log, at);
      if (found === null) continue;
      const { stream, revision, position } = at;
      const expected = 'content that was removed or replaced by record, or past its time';
      this.#breaches.add({ rule, stream, revision, position, expected, found }, '', followsFrom);
    }
    for (const { anchor, at } of anchors) {
      const checked = await this.#ports.checkAnchor?.(anchor);
      if (checked?.holds) this.anchoredOnChain.add(anchor.transaction);
      if (checked?.holds === null) this.#breaches.addUnprovable('anchor_on_chain');
      if (checked?.holds !== false) continue;
      const { expected, found } = checked;
      this.#breaches.add({ rule: 'anchor_on_chain', ...at, expected, found });
    }
    await this.#payloads?.check((rule, { stream, revision, position }, expected, found) =>
      this.#breaches.add({ rule, stream, revision, position, expected, found }),
    );
  }
}

/** Leases: one owner at a time, each with a higher token than the one before. */
import type { Collection, Db } from 'mongodb';
import type { Micros } from '../../runtime/instant.ts';
import { isDeadOwner } from '../lease-owner.ts';
import type { Lease, LeaseStanding } from '../read-store.ts';
import { UnrenewedLeases } from '../unrenewed-leases.ts';
import { isDuplicate } from './failures.ts';

interface StoredLease {
  readonly _id: string;
  readonly owner: string;
  readonly token: number;
  readonly expiresAt: Micros;
}

export class Leases {
  readonly #leases: Collection<StoredLease>;
  readonly #unrenewed = new UnrenewedLeases();

  constructor(database: Db) {
    this.#leases = database.collection('leases');
  }

  async acquire(name: string, owner: string, now: Micros, durationMicros: Micros): Promise<Lease | null> {
    const expiresAt = now + durationMicros;
    const token = (await this.#renew(name, owner, now, expiresAt)) ?? (await this.#take(name, owner, now, expiresAt));
    if (token !== null) return { name, owner, token };
    const holder = await this.#leases.findOne({ _id: name });
    if (!holder) return null;
    // A dead process of this machine cannot come back, so its lease need not expire first.
    const isGone = isDeadOwner(holder.owner) || this.#unrenewed.isUnrenewed(name, holder, now, durationMicros);
    if (!isGone) return null;
    await this.#end(holder);
    const inherited = await this.#take(name, owner, now, expiresAt);
    return inherited === null ? null : { name, owner, token: inherited };
  }

  /** The document stays, because its token must keep growing. */
  async release({ name, owner, token }: Lease): Promise<void> {
    await this.#leases.updateOne({ _id: name, owner, token }, { $set: { expiresAt: 0 } });
  }

  async held(now: Micros): Promise<readonly LeaseStanding[]> {
    const held = await this.#leases
      .find({ expiresAt: { $gt: now } })
      .sort({ _id: 1 })
      .toArray();
    return held.map(({ _id: name, owner, token, expiresAt }) => ({ name, owner, token, expiresAt }));
  }

  /** Ends a lease that was read before, unless its holder has renewed it since. */
  async #end({ _id, token, expiresAt }: StoredLease): Promise<void> {
    await this.#leases.updateOne({ _id, token, expiresAt }, { $set: { expiresAt: 0 } });
  }

  async #renew(name: string, owner: string, now: Micros, expiresAt: Micros): Promise<number | null> {
    const renewed = await this.#leases.findOneAndUpdate(
      { _id: name, owner, expiresAt: { $gt: now } },
      { $set: { expiresAt } },
      { returnDocument: 'after' },
    );
    return renewed?.token ?? null;
  }

  /** Acquires a lease that has expired, was released, or was never held; null while it has an owner. */
  async #take(name: string, owner: string, now: Micros, expiresAt: Micros): Promise<number | null> {
    try {
      const taken = await this.#leases.findOneAndUpdate(
        { _id: name, expiresAt: { $lte: now } },
        { $set: { owner, expiresAt }, $inc: { token: 1 } },
        { upsert: true, returnDocument: 'after' },
      );
      return taken?.token ?? null;
    } catch (error) {
      if (isDuplicate(error)) return null;
      throw error;
    }
  }
}

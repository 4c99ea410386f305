/** Which deliveries `docket deliveries retry` and `cancel` act on, by filter: counted before anything is done to them. */
import type { DeliveryStatus } from '../../commands/delivery/delivery.ts';
import type { FailureClass } from '../../events/failure-class.ts';
import { courtKey } from '../../projections/deliveries.ts';
import {
  type DeliveryFilter,
  type DeliveryPage,
  type DeliveryPlace,
  findDeliveries,
} from '../../queries/delivery-history.ts';
import type { ReadStore } from '../../storage/read-store.ts';
import { type PeriodOptions, readPeriod, readWallet } from '../audit/selection.ts';
import { CliError } from '../command.ts';
import { originsOf } from './callback-hosts.ts';

export interface FilterOptions extends PeriodOptions {
  readonly status?: DeliveryStatus;
  readonly host?: string;
  readonly wallet?: string;
  readonly court?: string;
  readonly failureClass?: FailureClass;
}

const FILTERS = ['status', 'host', 'wallet', 'court', 'from', 'to', 'failureClass'] as const;
const PAGE = 500;
const LONGEST_COURT = 100;

export const isFiltered = (options: FilterOptions): boolean => FILTERS.some((name) => options[name] !== undefined);

/** The filters as one line. */
export const filterText = (options: FilterOptions, statuses: readonly DeliveryStatus[]): string =>
  [
    `status ${statuses.join(' or ')}`,
    ...FILTERS.flatMap((name) =>
      name === 'status' || options[name] === undefined
        ? []
        : `${name === 'failureClass' ? 'failure class' : name} ${options[name]}`,
    ),
  ].join(', ');

/**
 * The deliveries that match, newest first.
 * @param statuses those that are meant if no status is given
 * @throws CliError for a filter that is none
 */
export async function* selected(
  readStore: Pick<ReadStore, 'find' | 'tally'>,
  options: FilterOptions,
  statuses: readonly DeliveryStatus[],
): AsyncIterable<string> {
  const { from, to } = readPeriod(options);
  const { court, failureClass = null } = options;
  if (court !== undefined && (court.trim() === '' || court.length > LONGEST_COURT)) {
    throw new CliError('--court is not the code of a court.', 'Find codes with docket courts.');
  }
  const filter: DeliveryFilter = {
    wallet: options.wallet === undefined ? null : readWallet(options.wallet),
    status: options.status ?? statuses,
    court: court === undefined ? null : courtKey(court),
    caseNumber: null,
    attemptedAfter: null,
    failureClass,
    created: from || to ? { ...(from && { from }), ...(to && { upTo: to }) } : null,
  };
  const origins = options.host === undefined ? [null] : await originsOf(readStore, options.host);
  for (const origin of origins) {
    for (let after: DeliveryPlace | null = null; ; ) {
      const page: DeliveryPage = await findDeliveries(readStore, { ...filter, origin }, { limit: PAGE, after });
      for (const { deliveryId } of page.deliveries) yield deliveryId;
      after = page.next;
      if (after === null) break;
    }
  }
}

const UUID_BYTES = 16;

/** UUIDs, packed: a million of them take 16 MB. */
export class PackedIds {
  #bytes = Buffer.alloc(UUID_BYTES * 1_024);
  #count = 0;

  get size(): number {
    return this.#count;
  }

  add(id: string): void {
    const at = this.#count * UUID_BYTES;
    if (at === this.#bytes.length) this.#bytes = Buffer.concat([this.#bytes, Buffer.alloc(this.#bytes.length)]);
    this.#bytes.write(id.replaceAll('-', ''), at, 'hex');
    this.#count++;
  }

  *[Symbol.iterator](): Iterator<string> {
    for (let index = 0; index < this.#count; index++) {
      const hex = this.#bytes.toString('hex', index * UUID_BYTES, (index + 1) * UUID_BYTES);
      yield hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
    }
  }
}

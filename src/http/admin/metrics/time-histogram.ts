/**
 * A histogram of durations for paths where each microsecond counts: an observation adds to a few numbers, and
 * everything else happens when Prometheus asks. The form is that of prom-client, which would hash the labels each time.
 */
import type { Metric, MetricValueWithName, Registry } from 'prom-client';

export interface TimeHistogramOptions<Label extends string> {
  readonly name: string;
  readonly help: string;
  /** Upper bounds of the buckets in seconds, ascending. */
  readonly buckets: readonly number[];
  readonly labelNames?: readonly Label[];
}

const keyOf = (values: readonly string[]): string => (values.length === 1 ? (values[0] ?? '') : values.join('\n'));

/** The durations under one set of labels. */
interface Cell<Label extends string> {
  readonly labels: Readonly<Record<Label, string>>;
  /** Observations in each bucket alone; the last one has those above all bounds. */
  readonly counts: Float64Array;
  sum: number;
}

export class TimeHistogram<Label extends string = never> {
  readonly name: string;
  readonly help: string;
  readonly #buckets: readonly number[];
  readonly #labelNames: readonly Label[];
  readonly #cells = new Map<string, Cell<Label>>();

  constructor(registry: Registry, { name, help, buckets, labelNames = [] }: TimeHistogramOptions<Label>) {
    this.name = name;
    this.help = help;
    this.#buckets = buckets;
    this.#labelNames = labelNames;
    // The registry uses only `name` and `get`.
    registry.registerMetric(this as unknown as Metric);
  }

  /** Shows the histogram before its first observation, which otherwise no rate would see. */
  open(...values: readonly string[]): void {
    const key = keyOf(values);
    if (!this.#cells.has(key)) this.#newCell(key, values);
  }

  /** @param values of the labels, in the order of their names */
  observe(seconds: number, ...values: readonly string[]): void {
    const key = keyOf(values);
    const cell = this.#cells.get(key) ?? this.#newCell(key, values);
    let bucket = 0;
    while (bucket < this.#buckets.length && seconds > (this.#buckets[bucket] ?? 0)) bucket++;
    cell.counts[bucket] = (cell.counts[bucket] ?? 0) + 1;
    cell.sum += seconds;
  }

  async get() {
    return { name: this.name, help: this.help, type: 'histogram', aggregator: 'sum', values: this.#values() };
  }

  #newCell(key: string, values: readonly string[]): Cell<Label> {
    const labels = Object.fromEntries(this.#labelNames.map((name, index) => [name, values[index] ?? '']));
    const cell = {
      labels: labels as Record<Label, string>,
      counts: new Float64Array(this.#buckets.length + 1),
      sum: 0,
    };
    this.#cells.set(key, cell);
    return cell;
  }

  #values(): readonly MetricValueWithName<string>[] {
    return [...this.#cells.values()].flatMap(({ labels, counts, sum }) => {
      let total = 0;
      const buckets = Array.from(counts, (count, index) => {
        total += count;
        const le = this.#buckets[index] ?? '+Inf';
        return { metricName: `${this.name}_bucket`, labels: { le, ...labels }, value: total };
      });
      return [
        ...buckets,
        { metricName: `${this.name}_sum`, labels, value: sum },
        { metricName: `${this.name}_count`, labels, value: total },
      ];
    });
  }
}

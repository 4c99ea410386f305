/** A counter for paths where each microsecond counts, as `TimeHistogram` is for durations. */
import type { Metric, MetricValue, Registry } from 'prom-client';

export interface TallyOptions<Label extends string> {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly Label[];
}

export class Tally<Label extends string> {
  readonly name: string;
  readonly help: string;
  readonly #labelNames: readonly Label[];
  readonly #counts = new Map<string, MetricValue<Label>>();

  constructor(registry: Registry, { name, help, labelNames }: TallyOptions<Label>) {
    this.name = name;
    this.help = help;
    this.#labelNames = labelNames;
    // The registry uses only `name` and `get`.
    registry.registerMetric(this as unknown as Metric);
  }

  /** @param values of the labels, in the order of their names */
  add(amount: number, ...values: readonly string[]): void {
    const key = values.length === 1 ? (values[0] ?? '') : values.join('\n');
    const known = this.#counts.get(key);
    if (known) {
      known.value += amount;
      return;
    }
    const labels = Object.fromEntries(this.#labelNames.map((name, index) => [name, values[index] ?? '']));
    this.#counts.set(key, { labels: labels as MetricValue<Label>['labels'], value: amount });
  }

  async get() {
    return { name: this.name, help: this.help, type: 'counter', aggregator: 'sum', values: [...this.#counts.values()] };
  }
}

/** The metrics of a cluster's workers. Counters of ended workers are kept, so that no sum falls when a worker is replaced. */
import type { MetricObject, MetricObjectWithValues, MetricValueWithName } from 'prom-client';

type Metrics = readonly MetricObject[];
type Counted = MetricObjectWithValues<MetricValueWithName<string>>;

/** The types of metrics that only grow. */
const GROWING: readonly string[] = ['counter', 'histogram'];

export class WorkerMetrics<Worker> {
  /** The last metrics of each running worker. They are used while the worker is too busy to send new ones. */
  readonly #last = new Map<Worker, Metrics>();
  /** The sums of ended workers, by the metric's name. */
  readonly #ended = new Map<string, Counted>();

  /** Replaces the last metrics of a running worker. */
  update(worker: Worker, metrics: Metrics): void {
    this.#last.set(worker, metrics);
  }

  /** Adds the last counters of a worker that has ended to the sums of the ended workers. */
  end(worker: Worker): void {
    for (const metric of (this.#last.get(worker) ?? []) as readonly Counted[]) {
      if (!GROWING.includes(String(metric.type))) continue;
      const before = this.#ended.get(metric.name);
      this.#ended.set(
        metric.name,
        before === undefined ? metric : { ...metric, values: sumOf(before, metric) },
      );
    }
    this.#last.delete(worker);
  }

  /** Returns the metrics to add up: the counters of ended workers, and the last metrics of each running worker. */
  all(): Metrics[] {
    return [[...this.#ended.values()], ...this.#last.values()];
  }
}

const keyOf = ({ metricName = '', labels }: MetricValueWithName<string>): string =>
  JSON.stringify([metricName, ...Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1))]);

function sumOf(one: Counted, other: Counted): Counted['values'] {
  const sums = new Map(one.values.map((value) => [keyOf(value), value]));
  for (const value of other.values) {
    const before = sums.get(keyOf(value))?.value ?? 0;
    sums.set(keyOf(value), { ...value, value: before + value.value });
  }
  return [...sums.values()];
}

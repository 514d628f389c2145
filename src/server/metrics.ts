/** The server's metrics, in Prometheus's text format. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

const PREFIX = 'rhythm_vec_';

/** The metrics of a server; `gauge` adds more. Their names are public; `/metrics` describes them. */
export class Metrics {
  /** Not the global registry: one process may run several servers. */
  readonly registry = new Registry();
  readonly steps = this.#counter('session_steps_total', 'Steps that sessions took.');
  readonly stepBatch = new Histogram({
    name: `${PREFIX}session_step_batch`,
    help: 'Sessions per shared step.',
    buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096],
    registers: [this.registry],
  });
  readonly scored = this.#counter('scored_rows_total', 'Rows that /v1/score scored.');
  readonly rollouts = this.#counter('rollouts_total', 'Rollouts that /v1/rollout played.');
  readonly prompts = this.#counter('prompts_total', 'Prompts that /v1/prompts wrote.');
  readonly parsed = this.#counter('parsed_completions_total', 'Completions that /v1/parse parsed.');
  readonly vecSteps = this.#counter(
    'vec_steps_total',
    'Steps that environments of vector environments took.',
  );
  readonly failures = this.#counter('failures_total', 'Unexpected errors.');
  readonly requests = new Histogram({
    name: `${PREFIX}http_request_seconds`,
    help: 'Seconds from the head of an HTTP request to the start of its answer.',
    labelNames: ['route', 'status'],
    buckets: [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10],
    registers: [this.registry],
  });

  constructor() {
    collectDefaultMetrics({ register: this.registry });
  }

  /** Adds a gauge. @param value called at each scrape. */
  gauge(name: string, help: string, value: () => number): void {
    new Gauge({
      name: PREFIX + name,
      help,
      registers: [this.registry],
      collect() {
        this.set(value());
      },
    });
  }

  #counter(name: string, help: string): Counter {
    return new Counter({ name: PREFIX + name, help, registers: [this.registry] });
  }
}

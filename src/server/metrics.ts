/** What the server tells of itself, in Prometheus's text format. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/** What is asked when somebody looks. */
export interface Sources {
  readonly sessions: () => number;
  readonly capacity: () => number;
  readonly sockets: () => number;
  readonly vecEnvs: () => number;
  readonly vecSlots: () => number;
  readonly batchRequests: () => number;
}

/** Names are part of what scrapers rely on: docs/server.md lists them. */
export class Metrics {
  /** Its own: several servers of one process do not meet. */
  readonly #registry = new Registry();
  readonly steps = this.#counter('rhythm_vec_session_steps_total', 'Steps that sessions took.');
  readonly stepBatch = new Histogram({
    name: 'rhythm_vec_session_step_batch',
    help: 'Sessions that were stepped together.',
    buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096],
    registers: [this.#registry],
  });
  readonly scored = this.#counter('rhythm_vec_scored_rows_total', 'Rows that /v1/score scored.');
  readonly rollouts = this.#counter('rhythm_vec_rollouts_total', 'Rollouts that /v1/rollout played.');
  readonly prompts = this.#counter('rhythm_vec_prompts_total', 'Prompts that /v1/prompts wrote.');
  readonly vecSteps = this.#counter(
    'rhythm_vec_vec_steps_total',
    'Steps that slots of vector environments took.',
  );
  readonly failures = this.#counter('rhythm_vec_failures_total', 'Errors that nobody foresaw.');
  readonly requests = new Histogram({
    name: 'rhythm_vec_http_request_seconds',
    help: 'HTTP requests, from head to answer.',
    labelNames: ['route', 'status'],
    buckets: [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10],
    registers: [this.#registry],
  });

  constructor(sources: Sources) {
    collectDefaultMetrics({ register: this.#registry });
    this.#gauge('rhythm_vec_sessions', 'Sessions that hold a slot.', sources.sessions);
    this.#gauge('rhythm_vec_session_capacity', 'Sessions that there may be.', sources.capacity);
    this.#gauge('rhythm_vec_sockets', 'Open WebSockets.', sources.sockets);
    this.#gauge('rhythm_vec_vec_envs', 'Open vector environments.', sources.vecEnvs);
    this.#gauge('rhythm_vec_vec_slots', 'Slots of open vector environments.', sources.vecSlots);
    this.#gauge('rhythm_vec_batch_requests', 'Requests of /v1 in progress.', sources.batchRequests);
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  text(): Promise<string> {
    return this.#registry.metrics();
  }

  #counter(name: string, help: string): Counter {
    return new Counter({ name, help, registers: [this.#registry] });
  }

  #gauge(name: string, help: string, value: () => number): void {
    new Gauge({
      name,
      help,
      registers: [this.#registry],
      collect() {
        this.set(value());
      },
    });
  }
}

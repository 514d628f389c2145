/** Records the speed of the core during a run of the bench: its clock rate, its rates of operations and its bandwidth. */
import { median, spreadOf } from '../rows.js';
import { type Bandwidth, BUFFERS, type Core, type Operations, type Probe } from './core.js';

/** Medians over all measurements, and their spread: half the distance between the quartiles, divided by the median. */
export interface CoreFigures {
  readonly clock: { readonly gigahertz: number; readonly spread: number };
  /** Instructions per nanosecond and per cycle, for each width of registers and each mix of operations. */
  readonly rates: readonly {
    readonly kernel: string;
    readonly lanes: number;
    readonly mix: Operations;
    readonly perNs: number;
    readonly perCycle: number;
    readonly spread: number;
    /** The median rate divided by the best rate. */
    readonly ofBest: number;
  }[];
  /** Gigabytes per second, by the size of the buffer. `spread` is that of the stores. */
  readonly bandwidths: readonly (Bandwidth & { readonly spread: number })[];
}

const keyOf = ({ kernel, mix }: Probe): string => `${kernel} ${mix}`;

export class CoreRecord {
  readonly #core: Core | null;
  readonly #probes: readonly Probe[];
  readonly #buffers: readonly Uint8Array[];
  readonly #clocks: number[] = [];
  readonly #rates = new Map<string, number[]>();
  readonly #bandwidths: Bandwidth[][] = BUFFERS.map(() => []);

  constructor(core: Core | null) {
    this.#core = core;
    this.#probes = core?.probesOf(() => true) ?? [];
    this.#buffers = core === null ? [] : BUFFERS.map((bytes) => new Uint8Array(bytes).fill(1));
  }

  /** Measures everything once. */
  measure(): void {
    const core = this.#core;
    if (core === null) return;
    this.#clocks.push(core.clock());
    for (const probe of this.#probes) this.note(probe, core.rate(probe));
    this.#buffers.forEach((buffer, k) => void this.#bandwidths[k].push(core.bandwidth(buffer)));
  }

  /** Adds a measured rate. Ignores null. */
  note(probe: Probe | null, rate: number | null): void {
    if (probe === null || rate === null) return;
    const rates = this.#rates.get(keyOf(probe)) ?? [];
    rates.push(rate);
    this.#rates.set(keyOf(probe), rates);
  }

  /** Returns the best rate of a probe. A probe (core.ts) is a width of registers with a mix of operations. */
  bestOf = (probe: Probe): number => Math.max(...this.#rates.get(keyOf(probe))!);

  /**
   * Returns the store bandwidth for a batch of this many bytes: the median of the largest buffer that is not larger than the
   * batch, or of the smallest buffer if all are larger.
   */
  storeFor(bytes: number): number {
    const smaller = BUFFERS.filter((size) => size <= bytes).length - 1;
    return median(this.#bandwidths[Math.max(0, smaller)].map(({ store }) => store));
  }

  figures(): CoreFigures | null {
    const core = this.#core;
    if (core === null) return null;
    const gigahertz = median(this.#clocks);
    return {
      clock: { gigahertz, spread: spreadOf(this.#clocks) },
      rates: this.#probes.map((probe) => {
        const rates = this.#rates.get(keyOf(probe))!;
        const perNs = median(rates) / probe.lanes;
        return {
          kernel: probe.kernel,
          lanes: probe.lanes,
          mix: core.mixOf(probe),
          perNs,
          perCycle: perNs / gigahertz,
          spread: spreadOf(rates),
          ofBest: median(rates) / this.bestOf(probe),
        };
      }),
      bandwidths: this.#bandwidths.map((samples) => ({
        bytes: samples[0].bytes,
        store: median(samples.map(({ store }) => store)),
        copy: median(samples.map(({ copy }) => copy)),
        spread: spreadOf(samples.map(({ store }) => store)),
      })),
    };
  }
}

/**
 * Measures the speed of the processor core at this moment: its clock rate, its operations per nanosecond for each width of
 * registers, and the bandwidth of its stores and copies. Another program on the same physical core lowers all but the clock
 * rate. Keeps what it measures, for the figures of a run of the bench.
 *
 * The addon that does the measured work is not part of the package. It is built if it is missing or older than its sources.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { digits, percent, table } from '../report.js';
import { median, now, spreadOf } from '../runner.js';

/** Numbers of operations on floats and on words (32-bit integers), of the kinds that the rules of the world use. */
export interface Operations {
  /** Sums, differences, products and conversions of floats. */
  readonly arithmetic: number;
  /** Minimums, maximums and comparisons of floats. */
  readonly choices: number;
  /** Sums, rotations, shifts and other operations on words. */
  readonly words: number;
}

export const totalOf = ({ arithmetic, choices, words }: Operations): number => arithmetic + choices + words;

interface Addon {
  readonly probes: readonly { name: string; lanes: number; supported: boolean }[];
  readonly mixes: readonly Operations[];
  pass(probe: number, mix: number, count: number): void;
  fill(probe: number, to: Uint8Array, times: number): void;
  copy(probe: number, to: Uint8Array, from: Uint8Array, times: number): void;
  dependentAdds(count: number): void;
}

const FOLDER = fileURLToPath(new URL('.', import.meta.url));
const ADDON = join(FOLDER, 'build', 'Release', 'core.node');

function isCurrent(): boolean {
  if (!existsSync(ADDON)) return false;
  const built = statSync(ADDON).mtimeMs;
  const sources = readdirSync(FOLDER).filter((name) => /\.(cc|h|gyp)$/.test(name));
  return sources.every((name) => statSync(join(FOLDER, name)).mtimeMs <= built);
}

/**
 * Builds the addon with the headers that are installed beside Node. Without them, node-gyp downloads headers.
 * @returns the reason if the build fails, else null.
 */
function build(): string | null {
  const prefix = join(dirname(process.execPath), '..');
  const headers = existsSync(join(prefix, 'include', 'node', 'node_api.h')) ? [`--nodedir=${prefix}`] : [];
  const nodeGyp = process.env.npm_config_node_gyp;
  const [command, ...first] = nodeGyp ? [process.execPath, nodeGyp] : ['node-gyp'];
  const options = ['rebuild', '--jobs', 'max', '-C', FOLDER, ...headers];
  const { status, error, stderr } = spawnSync(command, [...first, ...options], { encoding: 'utf8' });
  if (status === 0) return null;
  const lines = stderr?.split('\n').filter((line) => /error|not found/i.test(line)) ?? [];
  return error?.message ?? lines[0] ?? 'node-gyp failed';
}

/** Opens the addon that measures the core. @returns the core, or the reason why the addon cannot be built. */
export function openProcessorCore(): Core | string {
  const reason = isCurrent() ? null : build();
  return reason ?? new Core(createRequire(import.meta.url)(ADDON));
}

/** The additions of one measurement of the clock: a millisecond at 4 GHz. */
const ADDS = 4_000_000;
/**
 * The passes of one measurement of operations. A pass does the operations of a mix once, on registers. Chosen by hand: more
 * passes give a steadier rate, and take longer.
 */
const PASSES = 20_000;
/**
 * Sizes of buffers in bytes. On today's processors the first three fit into the first-, second- and third-level cache, and the
 * last fits into none.
 */
const BUFFERS = [2 ** 14, 2 ** 19, 2 ** 23, 2 ** 27];
/**
 * The minimum number of bytes that a measurement of stores writes: it fills a smaller buffer several times, a larger one once.
 * Chosen by hand: more bytes give a steadier bandwidth, and take longer.
 */
const BYTES_PER_SAMPLE = 2 ** 24;

/** What one measurement of operations uses: a width of registers, and a mix of operations. */
export interface Probe {
  /** The kernel that uses these registers. */
  readonly kernel: string;
  /** Numbers in a register. */
  readonly lanes: number;
  /** An index of `kMixes` of probe.h. */
  readonly mix: number;
}

const keyOf = ({ kernel, mix }: Probe): string => `${kernel} ${mix}`;

export class Core {
  readonly #addon: Addon;
  readonly #clocks: number[] = [];
  readonly #rates = new Map<string, number[]>();
  /** The bandwidths of stores and of copies, in bytes per nanosecond, which are gigabytes per second. */
  readonly #buffers = BUFFERS.map((bytes) => ({
    buffer: new Uint8Array(bytes).fill(1),
    stores: [] as number[],
    copies: [] as number[],
  }));

  constructor(addon: Addon) {
    this.#addon = addon;
  }

  /** Measures the clock rate in gigahertz, with a chain of additions that take one cycle each. */
  clock(): number {
    const start = now();
    this.#addon.dependentAdds(ADDS);
    const rate = ADDS / (now() - start);
    this.#clocks.push(rate);
    return rate;
  }

  /** Returns the probes of all supported widths of registers, with every mix. */
  #probes(): Probe[] {
    const { probes, mixes } = this.#addon;
    return probes
      .filter(({ supported }) => supported)
      .flatMap(({ name, lanes }) => mixes.map((_, mix) => ({ kernel: name, lanes, mix })));
  }

  /**
   * Returns the kernel's probe with the mix whose share of words is the closest to that of `operations`. Returns null if the
   * processor does not support the kernel.
   */
  probeFor(kernel: string, operations: Operations): Probe | null {
    const wordsShare = (each: Operations) => each.words / totalOf(each);
    const wanted = wordsShare(operations);
    const distance = ({ mix }: Probe) => Math.abs(wordsShare(this.#addon.mixes[mix]) - wanted);
    const own = this.#probes().filter((probe) => probe.kernel === kernel);
    return own.sort((a, b) => distance(a) - distance(b))[0] ?? null;
  }

  /** Measures the core's operations per nanosecond. An operation on a register counts once for each lane. */
  rate(probe: Probe): number {
    const { kernel, lanes, mix } = probe;
    const index = this.#addon.probes.findIndex(({ name }) => name === kernel);
    const start = now();
    this.#addon.pass(index, mix, PASSES);
    const rate = (totalOf(this.#addon.mixes[mix]) * PASSES * lanes) / (now() - start);
    this.#rates.set(keyOf(probe), [...(this.#rates.get(keyOf(probe)) ?? []), rate]);
    return rate;
  }

  /** Returns the best rate of a probe so far. */
  bestOf = (probe: Probe): number => Math.max(...this.#rates.get(keyOf(probe))!);

  /** Measures everything once. Stores fill a buffer, copies have two halves of it; both use the widest registers. */
  measureAll(): void {
    this.clock();
    for (const probe of this.#probes()) this.rate(probe);
    const widest = this.#addon.probes.findIndex(({ supported }) => supported);
    const bandwidth = (bytes: number, work: () => void) => {
      const start = now();
      work();
      return bytes / (now() - start);
    };
    for (const { buffer, stores, copies } of this.#buffers) {
      const { length } = buffer;
      const [to, from] = [buffer.subarray(0, length / 2), buffer.subarray(length / 2)];
      const times = Math.max(1, BYTES_PER_SAMPLE / length);
      stores.push(bandwidth(times * length, () => this.#addon.fill(widest, buffer, times)));
      copies.push(bandwidth((times * length) / 2, () => this.#addon.copy(widest, to, from, times)));
    }
  }

  /**
   * Returns the store bandwidth for a batch of this many bytes: the median of the largest buffer that is not larger than the
   * batch, or of the smallest buffer if all are larger.
   */
  storeFor(bytes: number): number {
    const smaller = BUFFERS.filter((size) => size <= bytes).length - 1;
    return median(this.#buffers[Math.max(0, smaller)].stores);
  }

  /** Returns medians over all measurements, and their spread: half the distance between the quartiles, divided by the median. */
  figures() {
    const gigahertz = median(this.#clocks);
    return {
      clock: { gigahertz, spread: spreadOf(this.#clocks) },
      // Instructions per nanosecond and per cycle, and the median rate divided by the best rate.
      rates: this.#probes().map((probe) => {
        const { kernel, lanes } = probe;
        const rates = this.#rates.get(keyOf(probe))!;
        const [perNs, ofBest] = [median(rates) / lanes, median(rates) / this.bestOf(probe)];
        const perCycle = perNs / gigahertz;
        const mix = this.#addon.mixes[probe.mix];
        return { kernel, lanes, mix, perNs, perCycle, spread: spreadOf(rates), ofBest };
      }),
      // The spread is that of the stores.
      bandwidths: this.#buffers.map(({ buffer, stores, copies }) => ({
        bytes: buffer.length,
        store: median(stores),
        copy: median(copies),
        spread: spreadOf(stores),
      })),
    };
  }
}

/** Renders the speed of the core. */
export function renderCore({ clock, rates, bandwidths }: ReturnType<Core['figures']>): string {
  const operations = rates.map(({ kernel, lanes, mix, perCycle, perNs, spread, ofBest }) => [
    kernel,
    32 * lanes,
    `${mix.arithmetic} : ${mix.choices} : ${mix.words}`,
    ...[digits(perCycle, 2), digits(perNs, 1), percent(spread), percent(ofBest)],
  ]);
  const memory = bandwidths.map(({ bytes, store, copy, spread }) => [
    `${bytes / 2 ** 10} KiB`,
    ...[digits(store, 0), digits(copy, 0), percent(spread)],
  ]);
  // Choices are minimums, maximums and comparisons.
  const head = ['registers', 'bits', 'floats : choices : words', 'per cycle', 'per ns', '±', 'of its best'];
  return [
    `The core: ${digits(clock.gigahertz, 2)} GHz (± ${percent(clock.spread)}).`,
    table(head, operations),
    table(['buffer', 'stores, GB/s', 'copies, GB/s', '±'], memory),
  ].join('\n');
}

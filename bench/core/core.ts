/**
 * Measures the speed of the processor core at this moment: its clock rate, its operations per nanosecond for each width of
 * registers, and the bandwidth of its stores and copies. Another program on the same physical core lowers all but the clock
 * rate.
 *
 * The addon that does the measured work is not part of the package. It is built if it is missing or older than its sources.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { now } from '../clock.js';

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
  probes(): { name: string; lanes: number; supported: boolean }[];
  mixes(): Operations[];
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
  const sources = readdirSync(FOLDER).filter((name) => /\.(cc|h|inl|gyp)$/.test(name));
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
  const { status, error, stderr } = spawnSync(command, [...first, 'rebuild', '-C', FOLDER, ...headers], {
    encoding: 'utf8',
  });
  if (status === 0) return null;
  const lines = stderr?.split('\n').filter((line) => /error|not found/i.test(line)) ?? [];
  return error?.message ?? lines[0] ?? 'node-gyp failed';
}

/** The additions of one measurement of the clock: a millisecond at 4 GHz. */
const ADDS = 4_000_000;
/**
 * The passes of one measurement of operations. A pass does the operations of a mix once, on registers. Chosen by hand: more
 * passes give a steadier rate, and take longer.
 */
const PASSES = 20_000;

/** What one measurement of operations uses: a width of registers, and a mix of operations. */
export interface Probe {
  /** The kernel that uses these registers. */
  readonly kernel: string;
  /** Numbers in a register. */
  readonly lanes: number;
  /** An index of `kMixes` of probe.h. */
  readonly mix: number;
}

/** Opens the addon that measures the core. @returns the core, or the reason why the addon cannot be built. */
export function openProcessorCore(): Core | string {
  const reason = isCurrent() ? null : build();
  return reason ?? new Core(createRequire(import.meta.url)(ADDON));
}

export class Core {
  readonly #addon: Addon;
  readonly #mixes: readonly Operations[];
  readonly #probes: ReturnType<Addon['probes']>;

  constructor(addon: Addon) {
    this.#addon = addon;
    this.#mixes = addon.mixes();
    this.#probes = addon.probes();
  }

  /** Measures the clock rate in gigahertz, with a chain of additions that take one cycle each. */
  clock(): number {
    const start = now();
    this.#addon.dependentAdds(ADDS);
    return ADDS / (now() - start);
  }

  /** Returns the probes of all supported widths of registers, with every mix that `isWanted` accepts. */
  probesOf(isWanted: (mix: Operations) => boolean): Probe[] {
    return this.#probes
      .filter(({ supported }) => supported)
      .flatMap(({ name, lanes }) =>
        this.#mixes.flatMap((each, mix) => (isWanted(each) ? [{ kernel: name, lanes, mix }] : [])),
      );
  }

  /**
   * Returns the kernel's probe with a mix of floats and words: the mix whose share of words is the closest to that of
   * `operations`. Returns null if the processor does not support the kernel.
   */
  probeFor(kernel: string, operations: Operations): Probe | null {
    const wordsShare = (each: Operations) => each.words / totalOf(each);
    const distance = ({ mix }: Probe) => Math.abs(wordsShare(this.#mixes[mix]) - wordsShare(operations));
    const probes = this.probesOf(({ arithmetic, words }) => arithmetic > 0 && words > 0);
    const own = probes.filter((probe) => probe.kernel === kernel);
    return own.sort((a, b) => distance(a) - distance(b))[0] ?? null;
  }

  mixOf({ mix }: Probe): Operations {
    return this.#mixes[mix];
  }

  /** Measures the core's operations per nanosecond. An operation on a register counts once for each lane. */
  rate({ kernel, lanes, mix }: Probe): number {
    const index = this.#probes.findIndex(({ name }) => name === kernel);
    const start = now();
    this.#addon.pass(index, mix, PASSES);
    return (totalOf(this.#mixes[mix]) * PASSES * lanes) / (now() - start);
  }

  /** Measures stores to a buffer, and copies between two halves of it, with the widest registers. */
  bandwidth(buffer: Uint8Array): Bandwidth {
    const widest = this.#probes.findIndex(({ supported }) => supported);
    const half = buffer.byteLength / 2;
    const [to, from] = [buffer.subarray(0, half), buffer.subarray(half)];
    const times = Math.max(1, BYTES_PER_SAMPLE / buffer.byteLength);
    const rateOf = (bytes: number, work: () => void) => {
      const start = now();
      work();
      return bytes / (now() - start);
    };
    return {
      bytes: buffer.byteLength,
      store: rateOf(times * buffer.byteLength, () => this.#addon.fill(widest, buffer, times)),
      copy: rateOf(times * half, () => this.#addon.copy(widest, to, from, times)),
    };
  }
}

/**
 * Sizes of buffers in bytes. On today's processors the first three fit into the first-, second- and third-level cache, and the
 * last fits into none.
 */
export const BUFFERS = [2 ** 14, 2 ** 19, 2 ** 23, 2 ** 27] as const;

/** The bandwidth of stores and copies in a buffer, in bytes per nanosecond, which are gigabytes per second. */
export interface Bandwidth {
  /** The size of the buffer. */
  readonly bytes: number;
  readonly store: number;
  readonly copy: number;
}

/**
 * The minimum number of bytes that a measurement of stores writes: it fills a smaller buffer several times, a larger one once.
 * Chosen by hand: more bytes give a steadier bandwidth, and take longer.
 */
const BYTES_PER_SAMPLE = 2 ** 24;

/** `--sweep`: times batches of one to a million episodes with 1, 2 and all threads, to find where more threads pay off. */
import { availableParallelism } from 'node:os';
import { FUSED, KERNELS, STEP } from './cases.js';
import { timerTick } from './clock.js';
import { type OnProgress, timePlay, yieldToEventLoop } from './measure.js';
import { SIZE } from './names.js';
import { digits, table } from './report.js';
import { firstEnvs, type OpenRig, type OutputCopies, type Rig, type Setting } from './rig.js';
import { MIN_TICKS, median } from './rows.js';
import { MIN_GAIN, type SweepCell, type ThreadGain, threadGains } from './thread-gains.js';
import { compare, titleOf } from './verify.js';

export interface SweepPlan {
  readonly sizes: readonly number[];
  /** Rounds over the whole sweep. */
  readonly rounds: number;
  /** The minimum number of plays in a sample. */
  readonly plays: number;
  /** The minimum duration of a sample, in milliseconds. */
  readonly ms: number;
}

/** The sizes are 1, 4, 16, ... 2^20. Chosen by hand: more and longer samples give steadier medians, and take longer. */
export const FULL_SWEEP: SweepPlan = {
  sizes: Array.from({ length: 11 }, (_, k) => 4 ** k),
  rounds: 3,
  plays: 3,
  ms: 10,
};
/** Small sizes. Only the batch of 16,384 episodes is large enough to be divided between threads. */
export const SMALL_SWEEP: SweepPlan = { sizes: [1, 64, 16_384], rounds: 1, plays: 1, ms: 0 };

/** The result. Its field names are those in the JSON file. */
export interface Sweep {
  readonly kernel: string;
  readonly layout: string;
  readonly cells: readonly SweepCell[];
  /** The sizes at which more than one thread pays off. */
  readonly pays: readonly ThreadGain[];
}

/** A setting that the sweep times. */
interface Point extends Setting {
  readonly name: string;
  readonly steps: number;
  readonly open: OpenRig;
}

function pointsOf(sizes: readonly number[]): Point[] {
  const threads = [...new Set([1, 2, availableParallelism()])].sort((a, b) => a - b);
  const common = { backend: 'native', kernel: KERNELS[0], layout: 'row-major' } as const;
  return [FUSED, STEP].flatMap(({ name, open, steps }) =>
    sizes.flatMap((episodes) =>
      threads.map((count) => ({ ...common, name, open, steps, episodes, threads: count })),
    ),
  );
}

/** Times every point in each round, and verifies it in the first. @throws Mismatch, or BackendError without the addon. */
export async function sweep(plan: SweepPlan, onProgress: OnProgress): Promise<Sweep> {
  const points = pointsOf(plan.sizes);
  const verifier = new Verifier();
  const samples: number[][] = points.map(() => []);
  const tick = timerTick();
  for (let round = 1; round <= plan.rounds; round++) {
    for (const [k, point] of points.entries()) {
      onProgress(`sweep, round ${round} of ${plan.rounds}: ${titleOf(point)}`);
      await yieldToEventLoop();
      samples[k].push(timePoint(point, plan, round === 1 ? verifier : null));
    }
  }
  const cells = points.map((point, k) => cellOf(point, median(samples[k]), tick));
  const { kernel, layout } = points[0];
  return { kernel: kernel!, layout, cells, pays: threadGains(cells) };
}

/**
 * Returns the number of copies of a batch, at most 64. A single play of a small batch would be too short for the timer. The
 * limit is chosen by hand: opening more copies takes longer.
 */
const copiesOf = (episodes: number): number => Math.min(64, Math.ceil(SIZE.small / episodes));

/** Returns the nanoseconds of one play of all copies. */
function timePoint(point: Point, plan: SweepPlan, verifier: Verifier | null): number {
  const rigs = Array.from({ length: copiesOf(point.episodes) }, () => point.open(point));
  const forAll = (act: (rig: Rig) => void) => () => rigs.forEach(act);
  const all: Rig = {
    begin: forAll((rig) => rig.begin()),
    play: forAll((rig) => rig.play()),
    outputs: () => rigs[0].outputs(),
    close: forAll((rig) => rig.close()),
  };
  try {
    all.begin();
    all.play();
    verifier?.check(point, all.outputs());
    // A warm-up: its time is not used.
    timePlay(all, { plays: 1, ms: plan.ms });
    return timePlay(all, plan);
  } finally {
    all.close();
  }
}

/**
 * Verifies points. With one thread, compares the first environments of a batch with the reference. With more threads,
 * compares all environments with the outputs of one thread. The reference plays one size for all points, because an
 * environment gives the same outputs in a batch of any size.
 */
class Verifier {
  readonly #references = new Map<string, OutputCopies>();
  #singleThreaded: OutputCopies = new Map();

  check(point: Point, outputs: OutputCopies): void {
    if (point.threads > 1) {
      compare(titleOf(point), outputs, this.#singleThreaded);
      return;
    }
    const count = Math.min(point.episodes, SIZE.usual);
    const expected = firstEnvs(this.#referenceOf(point), SIZE.usual, count);
    compare(titleOf(point), firstEnvs(outputs, point.episodes, count), expected);
    this.#singleThreaded = outputs;
  }

  #referenceOf({ name, open, layout }: Point): OutputCopies {
    const known = this.#references.get(name);
    if (known !== undefined) return known;
    const rig = open({ backend: 'reference', kernel: null, threads: 1, episodes: SIZE.usual, layout });
    rig.begin();
    rig.play();
    const outputs = rig.outputs();
    rig.close();
    this.#references.set(name, outputs);
    return outputs;
  }
}

/** Returns the cell of a point. @param ns the time of a play of all copies. @param tick the resolution of the timer. */
function cellOf({ name, threads, episodes, steps }: Point, ns: number, tick: number): SweepCell {
  const isVoid = ns < MIN_TICKS * tick;
  const perStep = ns / (copiesOf(episodes) * episodes * steps);
  return {
    name,
    threads,
    episodes,
    nsPerStep: isVoid ? null : perStep,
    episodesPerSecond: isVoid ? null : 1e9 / (perStep * steps),
  };
}

const sizesText = (sizes: readonly number[]): string =>
  sizes.length === 0 ? 'no size' : `${sizes.join(', ')} episodes`;

/** Renders a table per case, and the sizes at which threads pay off. */
export function renderSweep({ kernel, layout, cells, pays }: Sweep): string {
  const threads = [...new Set(cells.map((cell) => cell.threads))];
  const tables = [...new Set(cells.map((cell) => cell.name))].map((name) => {
    const own = cells.filter((cell) => cell.name === name);
    const head = ['episodes', ...threads.flatMap((count) => [`ns/step, threads ${count}`, 'episodes/s'])];
    const lines = [...new Set(own.map((cell) => cell.episodes))].map((episodes) => [
      String(episodes),
      ...own
        .filter((cell) => cell.episodes === episodes)
        .flatMap((cell) => [digits(cell.nsPerStep, 2), digits(cell.episodesPerSecond, 0)]),
    ]);
    return `Sweep: ${name}, ${kernel}, ${layout}\n${table(head, lines)}`;
  });
  const verdicts = pays.map(
    ({ name, threads: count, episodes }) =>
      `${name}: ${count} threads pay off (at least ${MIN_GAIN} times the rate of one thread) at ${sizesText(episodes)}.`,
  );
  return [...tables, ...verdicts].join('\n');
}

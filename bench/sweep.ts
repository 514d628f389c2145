/** `--sweep`: times batches of one to a million episodes with 1, 2 and all threads, to see where more threads pay off. */
import { availableParallelism } from 'node:os';
import { FUSED, KERNELS, STEP } from './cases.js';
import type { OpenRig, OutputCopies, Setting } from './episodes.js';
import { SIZE } from './ratios.js';
import { digits, type Section, table } from './report.js';
import { inTurn, type Length, median, orVoid, timePlay, timerTick } from './runner.js';
import { compare, firstEnvs, titleOf } from './verify.js';

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

/**
 * Returns the number of copies of a batch, at most 64. A single play of a small batch would be too short for the timer. The
 * limit is chosen by hand: opening more copies takes longer.
 */
const copiesOf = (episodes: number): number => Math.min(64, Math.ceil(SIZE.small / episodes));

/** Returns the nanoseconds of one play of all copies. @param check gets the outputs before anything is timed. */
function timePoint(point: Point, length: Length, check: (outputs: OutputCopies) => void): number {
  const rigs = Array.from({ length: copiesOf(point.episodes) }, () => point.open(point));
  const forAll = (act: 'begin' | 'play') => () => {
    for (const rig of rigs) rig[act]();
  };
  const all = { begin: forAll('begin'), play: forAll('play') };
  try {
    all.begin();
    all.play();
    check(rigs[0].outputs());
    // A warm-up: its time is not used.
    timePlay(all, { plays: 1, ms: length.ms });
    return timePlay(all, length);
  } finally {
    for (const rig of rigs) rig.close();
  }
}

/** Returns the outputs of the reference with `SIZE.usual` episodes. */
function referenceOf({ open }: Pick<Point, 'open'>): OutputCopies {
  const setting = { backend: 'reference', kernel: null, threads: 1, layout: 'row-major' } as const;
  const rig = open({ ...setting, episodes: SIZE.usual });
  rig.begin();
  rig.play();
  const outputs = rig.outputs();
  rig.close();
  return outputs;
}

/**
 * Returns a function that verifies the outputs of points in their order. With one thread, it compares the first environments of
 * a batch with the reference. With more threads, it compares all environments with the outputs of one thread. The reference
 * plays one size for all points, because an environment gives the same outputs in a batch of any size.
 */
function verifier() {
  const references = new Map([FUSED, STEP].map((each) => [each.name, referenceOf(each)]));
  let single: OutputCopies = new Map();
  return (point: Point, outputs: OutputCopies) => {
    if (point.threads > 1) return compare(titleOf(point), outputs, single);
    const count = Math.min(point.episodes, SIZE.usual);
    const expected = firstEnvs(references.get(point.name)!, SIZE.usual, count);
    compare(titleOf(point), firstEnvs(outputs, point.episodes, count), expected);
    single = outputs;
  };
}

export const sweep: Section = {
  help: '1 to 2^20 episodes on 1, 2 and all threads',
  /** Verifies every point in the first round. @throws Mismatch, or BackendError without the addon. */
  async measure(small) {
    // Small sizes: only the batch of 16,384 episodes is large enough to be divided between threads.
    const points = pointsOf(small ? [1, 64, 16_384] : Array.from({ length: 11 }, (_, k) => 4 ** k));
    // Chosen by hand: more and longer samples give steadier medians, and take longer.
    const [rounds, length] = small ? [1, { plays: 1, ms: 0 }] : [3, { plays: 3, ms: 10 }];
    const verify = verifier();
    const samples = await inTurn(points, rounds, titleOf, (point, _, round) =>
      timePoint(point, length, (outputs) => round === 1 && verify(point, outputs)),
    );
    const tick = timerTick();
    const cells = points.map(({ name, threads, episodes, steps }, k) => {
      // Null if the timer was too coarse.
      const ns = orVoid(median(samples[k]), tick);
      const nsPerStep = ns === null ? null : ns / (copiesOf(episodes) * episodes * steps);
      // Whole episodes per second.
      const episodesPerSecond = nsPerStep === null ? null : 1e9 / (nsPerStep * steps);
      return { name, threads, episodes, nsPerStep, episodesPerSecond };
    });
    const [{ kernel, layout }] = points;
    const threads = [...new Set(cells.map((cell) => cell.threads))];
    const tables = [FUSED, STEP].map(({ name }) => {
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
    return { figures: { kernel, layout, cells }, text: tables.join('\n') };
  },
};

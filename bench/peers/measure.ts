/**
 * `--peers`: verifies every player (the engine, its reference and the peers) on golden values, then times all players in turn,
 * in batches of 1 to 2^20 episodes, or to the largest that the player can play.
 */
import { NUM_STEPS } from '../../dist/world/fields.js';
import { isRequired } from '../../test/support/required.js';
import { Missing } from '../child.js';
import { SIZE } from '../ratios.js';
import { atMost, digits, type Ratio, reportOf, type Section, table } from '../report.js';
import { inTurn, median, progress } from '../runner.js';
import { Mismatch } from '../verify.js';
import { goldenInput, goldenOutputs, inFolder, inputOf } from './inputs.js';
import { PLAIN, PLAYERS, type Player, type PlayerKind, SCALAR } from './players.js';

/**
 * The sizes are 1, 4, 16, ... 2^20. `rounds` is the number of samples of each player and size. A sample takes `seconds`, but
 * has 1 to 1,000 plays. Both are chosen by hand: more give steadier rates, and take longer.
 */
const FULL = { sizes: Array.from({ length: 11 }, (_, k) => 4 ** k), rounds: 5, seconds: 0.03 };
/** A size at which a play steps several batches: see `copies`. More sizes take seconds each: JAX compiles for every size. */
const SMALL: typeof FULL = { sizes: [8], rounds: 1, seconds: 0 };

type Opened = PlayerKind & { readonly player: Player };
type Cell = Awaited<ReturnType<typeof measureSize>>[number];

/**
 * Compares a player's outputs for the golden episodes with the golden values.
 * @returns the reason why the player cannot run, or null.
 */
async function verifyPlayer({ name, tolerance, player }: Opened): Promise<string | null> {
  const input = goldenInput();
  try {
    const play = (folder: string) => player.play(input, folder, { plays: 1, copies: 1, records: true });
    const { outputs } = await inFolder(input, play);
    compareOutputs(name, outputs!, goldenOutputs(), tolerance);
    return null;
  } catch (error) {
    if (error instanceof Missing) return error.message;
    throw error;
  }
}

/** @throws Mismatch unless all values are equal, or differ by at most `tolerance`. */
export function compareOutputs(
  name: string,
  got: Float32Array,
  wanted: Float32Array,
  tolerance: number,
): void {
  if (got.length !== wanted.length) {
    throw new Mismatch(`${name}: Expected ${wanted.length} outputs, got ${got.length}.`);
  }
  const isWrong = (a: number, b: number) => a !== b && !(Math.abs(a - b) <= tolerance);
  const wrong = got.findIndex((value, k) => isWrong(value, wanted[k]));
  if (wrong < 0) return;
  throw new Mismatch(
    `${name}: Expected golden output ${wrong} to be ${wanted[wrong]} (tolerance ${tolerance}), got ${got[wrong]}.`,
  );
}

/**
 * The largest allowed difference between the mean scores of two players. Players that fuse operations have other scores. Chosen
 * by hand, above the tolerance for their outputs (players.ts).
 */
const SCORE_TOLERANCE = 1e-5;

/** Measures all players at a size. @throws Mismatch if the sums of their final scores differ. */
function measureSize(size: number, present: readonly Opened[], { rounds, seconds }: typeof FULL) {
  const input = inputOf(size);
  // The batches that a play steps: together at least 16 episodes, so that a play is long enough for the timer.
  const copies = Math.max(1, Math.ceil(16 / size));
  return inFolder(input, async (folder) => {
    const players = present.filter(({ maxEpisodes = Infinity }) => size <= maxEpisodes);
    const titleOf = ({ name }: Opened) => `${name}, ${size} episodes`;
    const plays: number[] = [];
    let expected: number | undefined;
    for (const each of players) {
      await progress(titleOf(each));
      // The first play may compile code. The time of the second decides how many plays a sample has.
      const warm = await each.player.play(input, folder, { plays: 2, copies });
      expected ??= warm.score;
      if (Math.abs(warm.score - expected) > SCORE_TOLERANCE * size) {
        throw new Mismatch(`${titleOf(each)}: Expected scores with the sum ${expected}, got ${warm.score}.`);
      }
      plays.push(Math.max(1, Math.min(1000, Math.floor(seconds / warm.seconds[1]))));
    }
    const samples = await inTurn(players, rounds, titleOf, async ({ player }, k) =>
      median((await player.play(input, folder, { plays: plays[k], copies })).seconds),
    );
    const rate = (time: number): number => (size * copies * NUM_STEPS) / time;
    return players.map(({ name }, k) => ({
      name,
      episodes: size,
      // The median, the slowest and the fastest of the samples.
      stepsPerSecond: rate(median(samples[k])),
      low: rate(Math.max(...samples[k])),
      high: rate(Math.min(...samples[k])),
    }));
  });
}

/**
 * Divides a step's time in the scalar kernel by its time in plain C++, with `SIZE.usual` episodes, if both were measured. The
 * target is chosen by hand.
 */
function ratiosOf(cells: readonly Cell[]): Ratio[] {
  const rateOf = (player: string) =>
    cells.find(({ name, episodes }) => name === player && episodes === SIZE.usual)?.stepsPerSecond;
  const [scalar, plain] = [rateOf(SCALAR), rateOf(PLAIN)];
  return scalar && plain ? [{ name: 'scalar_over_plain', value: plain / scalar, target: atMost(1.1) }] : [];
}

export const peers: Section = {
  help: 'this engine beside plain C++, numba, JAX, NumPy and the reference, by batch size',
  /**
   * Opens and verifies all players, then measures every size.
   * @throws Mismatch for wrong outputs or scores; Missing if a player is missing and RHYTHM_REQUIRE names peers.
   */
  async measure(small) {
    const plan = small ? SMALL : FULL;
    const opened: Opened[] = PLAYERS.map((kind) => ({ ...kind, player: kind.open() }));
    try {
      const players: { name: string; tolerance: number; missing: string | null }[] = [];
      for (const each of opened) {
        await progress(`verifying ${each.name}`);
        const { name, tolerance } = each;
        // Why the player was not measured; null if it was.
        const missing = await verifyPlayer(each);
        if (missing !== null && isRequired('peers')) throw new Missing(`${name}: ${missing}`);
        players.push({ name, tolerance, missing });
      }
      const present = opened.filter((_, k) => players[k].missing === null);
      const cells: Cell[] = [];
      for (const size of plan.sizes) cells.push(...(await measureSize(size, present, plan)));
      const rateOf = (name: string, size: number) =>
        cells.find((cell) => cell.name === name && cell.episodes === size)?.stepsPerSecond ?? Number.NaN;
      const lines = plan.sizes.map((size) => [
        size,
        ...present.map(({ name }) => digits(rateOf(name, size) / 1e6, 3).replace('NaN', '-')),
      ]);
      const texts = [
        'Peers: millions of steps per second on one thread, by the number of episodes',
        table(['episodes', ...present.map(({ name }) => name)], lines),
        ...players.flatMap(({ name, missing }) => (missing ? [`${name} is missing: ${missing}`] : [])),
      ];
      return reportOf({ players, cells }, texts, ratiosOf(cells), small);
    } finally {
      for (const { player } of opened) await player.close();
    }
  },
};

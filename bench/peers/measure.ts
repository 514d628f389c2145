/**
 * `--peers`: verifies every player (the engine, its reference and the peers) on golden values, then times all players in turn,
 * in batches of 1 to 2^20 episodes, or to the largest that the player can play.
 */
import { NUM_STEPS } from '../../dist/world/fields.js';
import type { OnProgress } from '../measure.js';
import { SIZE } from '../names.js';
import type { Ratio } from '../ratios.js';
import { median } from '../rows.js';
import { Mismatch } from '../verify.js';
import { goldenInput, goldenOutputs, type Input, type InputFolder, inputOf, writeInput } from './inputs.js';
import { PLAIN, PLAYERS, type Played, type Player, type PlayerKind, SCALAR } from './players.js';

export interface PeersPlan {
  readonly sizes: readonly number[];
  /** Samples of each player and size. */
  readonly rounds: number;
  /** The length of a sample, in seconds. A sample has 1 to 1,000 plays, so it may be longer or shorter. */
  readonly seconds: number;
}

/** The sizes are 1, 4, 16, ... 2^20. Rounds and seconds are chosen by hand: more give steadier rates, and take longer. */
export const FULL_PEERS: PeersPlan = {
  sizes: Array.from({ length: 11 }, (_, k) => 4 ** k),
  rounds: 5,
  seconds: 0.03,
};
/** A size at which a play steps several batches: see `copiesOf`. More sizes take seconds each: JAX compiles for every size. */
export const SMALL_PEERS: PeersPlan = { sizes: [8], rounds: 1, seconds: 0 };

export interface PeerCell {
  readonly name: string;
  readonly episodes: number;
  /** The median of the samples. */
  readonly stepsPerSecond: number;
  /** The slowest and the fastest sample. */
  readonly low: number;
  readonly high: number;
}

export interface PeersResult {
  readonly players: readonly {
    readonly name: string;
    /** See `PlayerKind`. */
    readonly tolerance: number;
    /** Why the player was not measured; null if it was. */
    readonly missing: string | null;
  }[];
  readonly cells: readonly PeerCell[];
  readonly ratios: readonly Ratio[];
}

interface Opened extends PlayerKind {
  readonly player: Player;
}

/** Opens and verifies all players, then measures every size. @throws Mismatch for wrong outputs or scores. */
export async function measurePeers(plan: PeersPlan, onProgress: OnProgress): Promise<PeersResult> {
  const opened: Opened[] = PLAYERS.map((kind) => ({ ...kind, player: kind.open() }));
  try {
    const missing = new Map<string, string>();
    for (const each of opened) {
      onProgress(`verifying ${each.name}`);
      const reason = await verifyPlayer(each);
      if (reason !== null) missing.set(each.name, reason);
    }
    const present = opened.filter(({ name }) => !missing.has(name));
    const cells: PeerCell[] = [];
    for (const size of plan.sizes) cells.push(...(await measureSize(size, present, plan, onProgress)));
    const players = PLAYERS.map(({ name, tolerance }) => ({
      name,
      tolerance,
      missing: missing.get(name) ?? null,
    }));
    return { players, cells, ratios: ratiosOf(cells) };
  } finally {
    for (const { player } of opened) await player.close();
  }
}

/**
 * Divides a step's time in the scalar kernel by its time in plain C++, with `SIZE.usual` episodes, if both were measured. The
 * target is chosen by hand.
 */
export function ratiosOf(cells: readonly PeerCell[]): Ratio[] {
  const rateOf = (player: string) =>
    cells.find(({ name, episodes }) => name === player && episodes === SIZE.usual)?.stepsPerSecond;
  const [scalar, plain] = [rateOf(SCALAR), rateOf(PLAIN)];
  if (!scalar || !plain) return [];
  return [{ name: 'scalar_over_plain', value: plain / scalar, target: { bound: 'at most', value: 1.1 } }];
}

/**
 * Compares a player's outputs for the golden episodes with the golden values.
 * @returns the reason why the player cannot run, or null.
 */
export async function verifyPlayer({
  name,
  tolerance,
  player,
}: Pick<Opened, 'name' | 'tolerance' | 'player'>): Promise<string | null> {
  const input = goldenInput();
  const folder = writeInput(input);
  try {
    const outputs = await player.record(input, folder);
    if (outputs === null) return player.reason;
    compareOutputs(name, outputs, goldenOutputs(), tolerance);
    return null;
  } finally {
    folder.remove();
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
  const isClose = (value: number, k: number) => Math.abs(value - wanted[k]) <= tolerance;
  const isSame = (value: number, k: number) => value === wanted[k];
  const wrong = got.findIndex((value, k) => !(tolerance === 0 ? isSame : isClose)(value, k));
  if (wrong < 0) return;
  throw new Mismatch(
    `${name}: Expected golden output ${wrong} to be ${wanted[wrong]} (tolerance ${tolerance}), got ${got[wrong]}.`,
  );
}

/** Returns how many batches a play steps: together at least 16 episodes, so that a play is long enough for the timer. */
const copiesOf = (episodes: number): number => Math.max(1, Math.ceil(16 / episodes));

async function measureSize(
  size: number,
  present: readonly Opened[],
  { rounds, seconds }: PeersPlan,
  onProgress: OnProgress,
): Promise<PeerCell[]> {
  const input = inputOf(size);
  const folder = writeInput(input);
  const copies = copiesOf(size);
  try {
    const players = present.filter(({ maxEpisodes = Infinity }) => size <= maxEpisodes);
    const plays: number[] = [];
    const scores: number[] = [];
    for (const { name, player } of players) {
      onProgress(`${name}, ${size} episodes`);
      // The first play may compile code. The time of the second decides how many plays a sample has.
      const warm = await playOf(player, input, folder, { plays: 2, copies });
      checkScore(name, warm.score, scores[0] ?? warm.score, size);
      scores.push(warm.score);
      plays.push(Math.max(1, Math.min(1000, Math.floor(seconds / warm.seconds[1]))));
    }
    const samples: number[][] = players.map(() => []);
    for (let round = 1; round <= rounds; round++) {
      for (const [k, { name, player }] of players.entries()) {
        onProgress(`${name}, ${size} episodes, round ${round} of ${rounds}`);
        const played = await playOf(player, input, folder, { plays: plays[k], copies });
        samples[k].push(median(played.seconds));
      }
    }
    const rate = (time: number): number => (size * copies * NUM_STEPS) / time;
    return players.map(({ name }, k) => ({
      name,
      episodes: size,
      stepsPerSecond: rate(median(samples[k])),
      low: rate(Math.max(...samples[k])),
      high: rate(Math.min(...samples[k])),
    }));
  } finally {
    folder.remove();
  }
}

async function playOf(
  player: Player,
  input: Input,
  folder: InputFolder,
  plays: { plays: number; copies: number },
): Promise<Played> {
  const played = await player.play(input, folder, plays);
  if (played === null) throw new Error(`A peer ended: ${player.reason}`);
  return played;
}

/**
 * The largest allowed difference between the mean scores of two players. Players that fuse operations have other scores. Chosen
 * by hand, above the tolerance for their outputs (players.ts).
 */
const SCORE_TOLERANCE = 1e-5;

/** Compares the sum of a player's final scores with that of the first player. */
function checkScore(name: string, score: number, expected: number, episodes: number): void {
  if (Math.abs(score - expected) <= SCORE_TOLERANCE * episodes) return;
  throw new Mismatch(
    `${name}, ${episodes} episodes: Expected scores with the sum ${expected}, got ${score}.`,
  );
}

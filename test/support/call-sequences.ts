/** Random call sequences of environments, and comparisons of everything that they return. */

import type { VecEnv } from '../../src/engine/node.js';
import { decodeSnapshot } from '../../src/engine/snapshot/codec.js';
import type { EnvStarts, StartStates } from '../../src/engine/validate/starts.js';
import type {
  ResetOptions,
  StepOptions,
  StepResult,
  VecEnvOptions,
} from '../../src/engine/vec-env/vec-env-options.js';
import { NUM_STEPS, OBSERVATION, OBSERVATION_SIZE, PROFILE_NAMES } from '../../src/world/fields.js';
import { type Columns, expectEqual, rowsOf } from './bits.js';
import type { Random } from './random.js';
import { envColumns } from './unchanged.js';

export const LAYOUTS = ['row-major', 'column-major'] as const;
const PROFILES = ['sampled', 'discrete', ...PROFILE_NAMES];

/** The arguments of a step. */
export interface StepArguments {
  readonly actions: Uint8Array;
  readonly options: StepOptions;
}

/** Returns the indices 0 to n - 1. */
export const envIndices = (n: number): Uint32Array => Uint32Array.from({ length: n }, (_, i) => i);

/** Returns the number of steps of each episode, read from raw observations, whose `columnStride` is 0 if they are row-major. */
export function stepsTaken({ observations, columnStride, rewards }: StepResult): number[] {
  const [first, stride] =
    columnStride === 0 ? [OBSERVATION.step, OBSERVATION_SIZE] : [OBSERVATION.step * columnStride, 1];
  return Array.from(rewards, (_, i) => observations[first + i * stride]);
}

/** Returns u8 [numEnvs]: 1 for each episode that has ended and was not reset. */
export const finishedEnvs = (result: StepResult): Uint8Array =>
  Uint8Array.from(stepsTaken(result), (steps) => Number(steps === NUM_STEPS));

/** The options of a reset of every environment. */
export interface EnvResets extends ResetOptions {
  readonly seed: Uint32Array;
  readonly profiles: Float32Array | readonly string[];
  readonly graders: Float32Array;
}

/** Converts starts to the option `start`, without the columns that are null. */
export const toStartStates = (start: EnvStarts): StartStates => {
  const { steps, meters, early, late, returns, crashes, well, skill, beliefs, given } = start;
  return {
    steps,
    meters,
    ...(early && { early }),
    ...(late && { late }),
    ...(returns && { returns }),
    ...(crashes && { crashes }),
    ...(well && { well }),
    ...(skill && { skill }),
    ...(beliefs && { beliefs: beliefs.map((x, at) => (given?.[Math.floor(at / 3)] ? x : Number.NaN)) }),
  };
};

/** Draws seeds in a range, profiles and graders for each environment, and sometimes starts at later steps. */
export function randomReset(
  random: Random,
  numEnvs: number,
  [low, size]: readonly [number, number] = [0, 2 ** 32],
): EnvResets {
  const { seeds, profiles, graders, start } = random.resetAtAnyStep(numEnvs);
  const names = Array.from({ length: numEnvs }, () => random.pick(PROFILES));
  return {
    seed: seeds.map((seed) => low + (seed % size)),
    profiles: random.chance(0.3) ? profiles! : names,
    graders: graders!,
    ...(start && { start: toStartStates(start) }),
  };
}

/** Returns the seeds, profiles and graders that a reset gives the environments `indices`. */
export function selectReset({ seed, profiles, graders }: EnvResets, indices: ArrayLike<number>): EnvResets {
  const columns = { seed, graders, ...(profiles instanceof Float32Array ? { profiles } : {}) };
  const rows = rowsOf(columns, seed.length, indices) as unknown as EnvResets;
  if (profiles instanceof Float32Array) return rows;
  return { ...rows, profiles: Array.from(indices, (index) => profiles[index]) };
}

/** Draws a legal step. @param finished u8 [numEnvs]: the mask omits these, except in next-step mode, which resets them. */
export function randomStep(
  random: Random,
  { numEnvs, metadata }: VecEnv,
  finished: Uint8Array,
): StepArguments {
  const resets = metadata.autoresetMode === 'next-step';
  const { actions, beliefs, stepMask } = random.step(resets ? new Uint8Array(numEnvs) : finished, false);
  return { actions, options: { beliefs: beliefs ?? undefined, mask: stepMask ?? undefined } };
}

/** Returns the step in which environment i acts as environment indices[i] of the given step. */
function selectStep(
  { actions, options: { beliefs, mask } }: StepArguments,
  indices: ArrayLike<number>,
): StepArguments {
  const columns: Columns = {
    actions,
    ...(beliefs === undefined ? {} : { beliefs: beliefs as Float32Array }),
    ...(mask === undefined ? {} : { mask: mask as Uint8Array }),
  };
  const { actions: selected, ...options } = rowsOf(columns, actions.length, indices);
  return { actions: selected as Uint8Array, options };
}

/** Resets, runs each environment to a random step, then takes up to five steps, in which episodes may end and reset. */
export function advanceRandomly(
  random: Random,
  env: VecEnv,
  reset: ResetOptions = randomReset(random, env.numEnvs),
): StepResult {
  env.reset(reset);
  let result: StepResult = env.run(random.pick(['random', 'heuristic']), {
    stops: random.stops(env.numEnvs),
  });
  for (let t = random.integer(0, 5); t > 0; t--) {
    const { actions, options } = randomStep(random, env, finishedEnvs(result));
    result = env.step(actions, options);
  }
  return result;
}

/** Draws options that do not change results. */
export const randomOptions = (random: Random): Partial<VecEnvOptions> => ({
  layout: random.pick(LAYOUTS),
  threads: random.pick([1, 2]),
  copy: random.chance(0.2),
});

/** Draws `to` indices below `from`: a permutation, groups of 16, one index repeated, or a mixture. */
export function randomIndices(random: Random, from: number, to: number): Uint32Array {
  const any = Uint32Array.from({ length: to }, () => random.integer(0, from - 1));
  const kind = random.pick(['permutation', 'groups', 'one', 'mixed']);
  if (kind === 'permutation' && from === to) return random.permutation(from);
  if (kind === 'groups') return any.map((_, i) => any[i - (i % 16)]);
  if (kind === 'one') return any.fill(any[0]);
  // Of each 40 indices the first 23 are equal: some groups of equal indices begin in the middle of a vector of 16 lanes.
  return any.map((_, i) => any[i % 40 < 23 ? i - (i % 40) : i]);
}

/** Copies everything that belongs to episodes, with the words of their states unless `words` is false. */
export function episodeColumns(env: VecEnv, result: StepResult, words = true): Columns {
  // Counters belong to the environment: a copy of episodes does not copy them.
  const { counters: _, ...ofEpisodes } = envColumns(env, result);
  return { ...ofEpisodes, ...(words ? { words: stateWords(env) } : {}) };
}

/** Returns the states as words: u32 [numEnvs, STATE_WORDS]. */
export const stateWords = (env: VecEnv): Uint32Array => decodeSnapshot(env.snapshot()).words;

/** Removes `finalMask` and `finalObservations`, which describe one call. In all other columns a copy equals its original. */
export const withoutFinal = ({ finalMask: _, finalObservations: __, ...rest }: Columns): Columns => rest;

/** Returns the current outputs: assigning an environment to itself changes nothing. */
export const currentOutputs = (env: VecEnv): StepResult => env.assign(env, envIndices(env.numEnvs));

/** Steps both environments with the same arguments. Expects that episode i of the second is episode indices[i] of the first. */
export function expectSameResults(
  random: Random,
  [one, first]: readonly [VecEnv, StepResult],
  [other, second]: readonly [VecEnv, StepResult],
  steps: number,
  indices: ArrayLike<number> = envIndices(one.numEnvs),
): void {
  let [a, b] = [first, second];
  for (let t = 0; t < steps; t++) {
    const step = randomStep(random, one, finishedEnvs(a));
    const selected = selectStep(step, indices);
    a = one.step(step.actions, step.options);
    b = other.step(selected.actions, selected.options);
    expectEqual(rowsOf(episodeColumns(one, a), one.numEnvs, indices), episodeColumns(other, b), `step ${t}:`);
  }
}

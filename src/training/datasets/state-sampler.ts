/** Computes the states of a dataset for GRPO: plays each row's episode up to the row's step. */

import { type EngineCalls, resultOf } from '../../engine/engine-calls.js';
import { type Grader, toGrader } from '../../engine/graders/grader.js';
import type { Env } from '../../engine/vec-env/async-vec-env.js';
import type { VecEnvOptions } from '../../engine/vec-env/vec-env-options.js';
import { InputError } from '../../shared/errors.js';
import { checkBoolean, checkInteger, describe } from '../../shared/values.js';
import { evalSeedsIn, rangeText, type SeedRange, TRAINING_SEEDS } from '../../world/conditions.js';
import { MAX_U32, NUM_METERS, NUM_STEPS, OBSERVATION } from '../../world/fields.js';
import { type ProfileKindName, resolveProfile } from '../../world/resolve-names.js';
import { createWorld } from '../../world/world.js';
import { permutation } from '../permutation.js';
import { drawsOf, type MixedPolicy, type PolicyInput, policyOf } from './policy-mix.js';

/** Options of a dataset for GRPO. */
export interface DatasetOptions {
  /** The number of rows, 1 to 2^32 - 1. */
  readonly rows: number;
  /** Seeds of the episodes. Default 100-9999, the training seeds. */
  readonly seeds?: Range;
  /** 'sampled', 'discrete', names of profiles, or 'mix' for sampled and discrete; all equally often. Default sampled. */
  readonly profiles?: readonly (ProfileKindName | typeof MIX)[];
  /** The range of `step_index`: steps before a row's state. Default 0-27. */
  readonly steps?: Range;
  /** u32, the seed of the selection of states. Default 0. */
  readonly seed?: number;
  /** The grader that the system message describes. It changes no state. Default v2. */
  readonly grader?: Grader;
  /** Whether `seeds` may include evaluation seeds. Default false. */
  readonly allowEvalSeeds?: boolean;
}

/** Options with all defaults filled in. The same plan gives the same rows. */
export interface DatasetPlan extends Required<Omit<DatasetOptions, 'profiles'>> {
  /** 'sampled', 'discrete' and names of profiles, each once. */
  readonly profiles: readonly string[];
}

/** The name that stands for the profiles of MIXED. */
export const MIX = 'mix';

const MIXED = ['sampled', 'discrete'];

const ALL_STEPS: Range = { first: 0, last: NUM_STEPS - 1 };

/**
 * Validates options.
 * @throws InputError `out_of_range`, `wrong_type`, `wrong_length`, `unknown_name`, or `bad_seed` for evaluation seeds.
 */
export function toPlan(options: DatasetOptions): DatasetPlan {
  const { seeds = TRAINING_SEEDS, profiles = ['sampled'], steps = ALL_STEPS } = options;
  const allowEvalSeeds = checkBoolean('allowEvalSeeds', options.allowEvalSeeds ?? false);
  const plan: DatasetPlan = {
    rows: checkInteger('rows', options.rows, 1, MAX_U32),
    seeds: checkRange('seeds', seeds, MAX_U32),
    profiles: toProfiles(profiles),
    steps: checkRange('steps', steps, ALL_STEPS.last),
    seed: checkInteger('seed', options.seed ?? 0, 0, MAX_U32),
    grader: options.grader ?? toGrader('v2'),
    allowEvalSeeds,
  };
  if (!allowEvalSeeds) refuseEvalSeeds(plan.seeds);
  return plan;
}

function toProfiles(names: readonly string[]): readonly string[] {
  const profiles = new Set(names.flatMap((name) => (name === MIX ? MIXED : [name])));
  if (profiles.size === 0) {
    throw new InputError('wrong_length', {
      expected: 'at least one profile',
      got: describe(names),
      remedy: 'Pass the name of a profile.',
    });
  }
  const world = createWorld();
  for (const name of profiles) resolveProfile(world, name);
  return [...profiles];
}

/** Consecutive integers, both ends included. */
export type Range = SeedRange;

/** Refuses a range that has evaluation seeds. @throws InputError `bad_seed`. */
export function refuseEvalSeeds(seeds: Range): void {
  const evalSeeds = evalSeedsIn(seeds).map(rangeText);
  if (evalSeeds.length === 0) return;
  throw new InputError('bad_seed', {
    expected: `seeds among ${rangeText(TRAINING_SEEDS)}`,
    got: `${rangeText(seeds)}, where ${evalSeeds.join(' and ')} are kept for evaluation: a model that was trained on them must not be evaluated on them`,
    remedy: 'Leave them out, or pass --allow-eval-seeds, which the card notes.',
  });
}

/** Validates a range in [0, max]. @throws InputError `wrong_type` or `out_of_range`. */
export function checkRange(what: string, { first, last }: Range, max: number): Range {
  checkInteger(`the first of ${what}`, first, 0, max);
  return { first, last: checkInteger(`the last of ${what}`, last, first, max) };
}

/** The episode and step of a state. The state also depends on the policy that chose the earlier actions (policy-mix.ts). */
interface StateKey {
  readonly seed: number;
  readonly profile: string;
  /** The number of steps before the state. */
  readonly stepIndex: number;
}

/** The second word of the permutation's key: "CELL" in ASCII. No stream of the published world has this number. */
const STREAM = 0x43454c4c;

/**
 * Returns the state key of each row. Every key occurs once, in a shuffled order, before any repeats. The rows of a
 * longer dataset begin with those of a shorter one.
 */
export function stateKeysOf({ seeds, profiles, steps, seed }: DatasetPlan): (row: number) => StateKey {
  const numSteps = steps.last - steps.first + 1;
  const numKeys = (seeds.last - seeds.first + 1) * profiles.length * numSteps;
  const shuffled = permutation(numKeys, [seed, STREAM]);
  return (row) => {
    const keyIndex = shuffled(row % numKeys);
    const episode = Math.floor(keyIndex / numSteps);
    return {
      seed: seeds.first + Math.floor(episode / profiles.length),
      profile: profiles[episode % profiles.length],
      stepIndex: steps.first + (keyIndex % numSteps),
    };
  };
}

/** Options of the computation. They change no result. */
export type Engine = Pick<VecEnvOptions, 'backend' | 'kernel' | 'threads'>;

/** The states of consecutive rows. */
export interface StateBatch {
  readonly keys: readonly StateKey[];
  readonly policies: readonly MixedPolicy[];
  /** u8 [n, 28]: codes of the actions before the state; zeros from `stepIndex` on. */
  readonly actions: Uint8Array;
  /** f32 [n, 106]: observations with their history. A view, valid until the next call. */
  readonly observations: Float32Array;
}

/** Opens a requested number of environments: a ResizableEnv or a ResizableAnyEnv. */
interface Environments {
  of(numEnvs: number): Env | Promise<Env>;
}

/** Computes the states of one plan. */
export class StateSampler {
  readonly #plan: DatasetPlan;
  readonly #keyOf: (row: number) => StateKey;
  readonly #envs: Environments;

  /** @param envs opens environments with `observation: { history: true }`. */
  constructor(plan: DatasetPlan, envs: Environments) {
    this.#plan = plan;
    this.#keyOf = stateKeysOf(plan);
    this.#envs = envs;
  }

  /** Returns the states of `count` rows from row `first` on. The size of a batch changes no state. */
  *sample(first: number, count: number): EngineCalls<StateBatch> {
    const rows = Array.from({ length: count }, (_, i) => first + i);
    const keys = rows.map(this.#keyOf);
    const draws = rows.map((row) => drawsOf(this.#plan.seed, row));
    const policies = draws.map(policyOf);
    const env = yield* resultOf(this.#envs.of(count));
    const starts = {
      seed: Uint32Array.from(keys, ({ seed }) => seed),
      profiles: keys.map(({ profile }) => profile),
    };
    const { observations } = yield* resultOf(env.reset(starts));
    const actions = yield* playToStates(env, observations, { keys, policies, draws });
    return { keys, policies, actions, observations };
  }
}

/** The state key, the policy and the draws of each row: they determine its actions. */
interface EpisodePlans extends Pick<StateBatch, 'keys' | 'policies'> {
  readonly draws: readonly PolicyInput['draw'][];
}

/**
 * Steps each environment until its state is reached.
 * @param observations a view of the environment's observations, which each step overwrites. @returns u8 [n, 28], the actions.
 */
function* playToStates(
  env: Env,
  observations: Float32Array,
  { keys, policies, draws }: EpisodePlans,
): EngineCalls<Uint8Array> {
  const { params } = env.world;
  const width = env.observationSpace.shape[0];
  const taken = new Uint8Array(env.numEnvs * NUM_STEPS);
  const actions = new Uint8Array(env.numEnvs);
  const mask = new Uint8Array(env.numEnvs);
  const steps = keys.reduce((most, { stepIndex }) => Math.max(most, stepIndex), 0);
  for (let step = 0; step < steps; step++) {
    for (const [i, { seed, stepIndex }] of keys.entries()) {
      mask[i] = stepIndex > step ? 1 : 0;
      if (mask[i] === 0) continue;
      const from = i * width + OBSERVATION.meters;
      const meters = observations.subarray(from, from + NUM_METERS);
      actions[i] = policies[i].act({ params, draw: draws[i], seed, step, meters });
      taken[i * NUM_STEPS + step] = actions[i];
    }
    yield* resultOf(env.step(actions, { mask }));
  }
  return taken;
}

/** The messages of vector environments: schemas of requests, and what the answers have. */
import { z } from 'zod';
import type { VecEnv } from '../../engine/node.js';
import { AUTORESET_MODES } from '../../engine/vec-env/autoreset.js';
import type { StepResult, VecEnvOptions } from '../../engine/vec-env/vec-env-options.js';
import { float32Decimals } from '../../shared/float32-decimal.js';
import { camelCase } from '../../shared/names.js';
import { ACTION_NAMES, GRADER_NAMES, MAX_ENVS, MAX_U32, OBSERVATION_FIELDS } from '../../world/fields.js';
import { PROFILE_CHOICES } from '../../world/resolve-names.js';
import { atMost, type FrameArray, type Shaped } from './frame.js';

/** The arrays of a `StepResult`: the key in messages, and the field. */
export const OUTPUTS = {
  observations: 'observations',
  rewards: 'rewards',
  terminated: 'terminated',
  truncated: 'truncated',
  final_mask: 'finalMask',
  final_scores: 'finalScores',
  components: 'components',
  belief_mae: 'beliefMae',
  early_means: 'firstHalfMeans',
  late_means: 'secondHalfMeans',
  episode_returns: 'episodeReturns',
  episode_lengths: 'episodeLengths',
  final_observations: 'finalObservations',
} as const;
/** The names of the arrays of a result. */
export type OutputName = keyof typeof OUTPUTS | 'seeds' | 'episode_numbers';
export const OUTPUT_NAMES = [...Object.keys(OUTPUTS), 'seeds', 'episode_numbers'] as OutputName[];

const FIELD_NAMES = OBSERVATION_FIELDS.map(({ name }) => name);

/** The `data` of `create`. */
export const CREATE = z.strictObject({
  num_envs: z.int().min(1).max(MAX_ENVS),
  autoreset: z.enum(AUTORESET_MODES).optional(),
  seed_range: z.tuple([z.int().min(0).max(MAX_U32), z.int().min(1)]).optional(),
  profiles: z.enum(PROFILE_CHOICES).optional(),
  grader: z.enum(GRADER_NAMES).optional(),
  observation: z
    .strictObject({
      fields: atMost(FIELD_NAMES.length, z.enum(FIELD_NAMES)).optional(),
      one_hot: z.boolean().optional(),
      scale: z.boolean().optional(),
      history: z.boolean().optional(),
    })
    .optional(),
  outputs: atMost(OUTPUT_NAMES.length, z.enum(OUTPUT_NAMES)).optional(),
});
export type Create = z.output<typeof CREATE>;

/** Arrays of `reset` and `step`: lists of a text frame, or arrays of a binary frame. The environment validates them. */
const numbers = z.custom<ArrayLike<number>>((value) => Array.isArray(value) || ArrayBuffer.isView(value), {
  message: 'Input should be a list of numbers, or an array of a binary frame',
});

/** Lists of names in `reset`. The environment validates them. */
const isNames = (value: unknown): boolean =>
  Array.isArray(value) && value.every((name) => typeof name === 'string');
const names = z.custom<readonly string[]>(isNames, { message: 'Input should be a list of names' });

/** The `data` of `reset`. */
export const RESET = z.strictObject({
  seed: z.union([z.int().min(0).max(MAX_U32), numbers]).optional(),
  mask: numbers.optional(),
  profiles: z.union([z.enum(PROFILE_CHOICES), names]).optional(),
  graders: z.union([z.enum(GRADER_NAMES), names]).optional(),
});

/** The `data` of `step`. */
export const STEP = z.strictObject({
  actions: numbers,
  beliefs: numbers.optional(),
  mask: numbers.optional(),
});

/** Arrays with several numbers per environment. */
const WIDE: ReadonlySet<OutputName> = new Set(['observations', 'final_observations', 'components']);

/** Returns the arrays of a result. */
export const resultArrays = (env: VecEnv, outputs: readonly OutputName[], result: StepResult): Shaped[] =>
  outputs.map((name) => {
    const values = outputOf(name, env, result);
    const width = values.length / env.numEnvs;
    return { name, values, shape: WIDE.has(name) ? [env.numEnvs, width] : [env.numEnvs] };
  });

function outputOf(name: OutputName, env: VecEnv, result: StepResult): FrameArray {
  if (name === 'seeds') return env.seeds;
  if (name === 'episode_numbers') return env.episodeNumbers;
  return result[OUTPUTS[name]] as FrameArray;
}

/** Returns the options of the environment that `create` asks for: the same names in camel case. */
export function toOptions({ outputs: _, observation, ...request }: Create): VecEnvOptions {
  const options = { ...request, observation: observation && camelKeys(observation) };
  return camelKeys(options) as unknown as VecEnvOptions;
}

const camelKeys = (fields: object): object =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [camelCase(name), value]));

/** Returns the data of the answer to `create`. */
export function describeEnv(env: VecEnv, outputs: readonly OutputName[]): object {
  const { numEnvs, backend, kernel, spec, metadata, observationSpace, observationFields } = env;
  return {
    num_envs: numEnvs,
    backend,
    kernel,
    outputs,
    world_digest: spec.worldDigest,
    max_episode_steps: spec.maxEpisodeSteps,
    autoreset: metadata.autoresetMode,
    action_names: ACTION_NAMES,
    observation_fields: observationFields.map(({ name, offset, size }) => ({ name, offset, size })),
    observation_low: float32Decimals(observationSpace.low),
    observation_high: float32Decimals(observationSpace.high),
  };
}

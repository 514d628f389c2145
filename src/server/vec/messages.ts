/** What a vector environment is asked for. */
import { z } from 'zod';
import { AUTORESET_MODES } from '../../validate/autoreset-modes.js';
import { GRADER_NAMES, MAX_ENVS, MAX_U32, OBSERVATION_FIELDS } from '../../world/fields.js';
import { PROFILES } from '../protocol/begin.js';

/** What a result has, as arrays; by name on the wire, with the name in a StepResult. */
export const OUTPUTS = {
  observations: 'observations',
  rewards: 'rewards',
  terminated: 'terminated',
  truncated: 'truncated',
  final_mask: 'finalMask',
  final_scores: 'finalScores',
  components: 'components',
  belief_mae: 'beliefMae',
  early_means: 'earlyMeans',
  late_means: 'lateMeans',
  episode_returns: 'episodeReturns',
  episode_lengths: 'episodeLengths',
  final_observations: 'finalObservations',
} as const;
export type OutputName = keyof typeof OUTPUTS | 'seeds' | 'episode_numbers';
export const OUTPUT_NAMES = [...Object.keys(OUTPUTS), 'seeds', 'episode_numbers'] as OutputName[];

const FIELD_NAMES = OBSERVATION_FIELDS.map(({ name }) => name);

export const CREATE = z.strictObject({
  num_envs: z.int().min(1).max(MAX_ENVS),
  autoreset: z.enum(AUTORESET_MODES).optional(),
  seed_range: z.tuple([z.int().min(0).max(MAX_U32), z.int().min(1)]).optional(),
  profiles: z.enum(PROFILES).optional(),
  grader: z.enum(GRADER_NAMES).optional(),
  observation: z
    .strictObject({
      fields: z.array(z.enum(FIELD_NAMES)).optional(),
      one_hot: z.boolean().optional(),
      scale: z.boolean().optional(),
      history: z.boolean().optional(),
    })
    .optional(),
  outputs: z.array(z.enum(OUTPUT_NAMES)).optional(),
});
export type Create = z.output<typeof CREATE>;

/** Arrays of `reset` and `step` are checked by the environment: as lists in a text, or as they come in a binary frame. */
const numbers = z.custom<ArrayLike<number>>((value) => Array.isArray(value) || ArrayBuffer.isView(value), {
  message: 'Input should be a list of numbers, or an array of a binary frame',
});

export const RESET = z.strictObject({
  seed: z.union([z.int().min(0).max(MAX_U32), numbers]).optional(),
  mask: numbers.optional(),
  profiles: z.union([z.enum(PROFILES), z.array(z.enum(PROFILES))]).optional(),
  graders: z.union([z.enum(GRADER_NAMES), z.array(z.enum(GRADER_NAMES))]).optional(),
});

export const STEP = z.strictObject({
  actions: numbers,
  beliefs: numbers.optional(),
  mask: numbers.optional(),
});

/** Schemas of the messages of vector environments. */
import { z } from 'zod';
import { AUTORESET_MODES } from '../../engine/vec-env/autoreset.js';
import { GRADER_NAMES, MAX_ENVS, MAX_U32, OBSERVATION_FIELDS } from '../../world/fields.js';
import { PROFILE_CHOICES } from '../../world/resolve-names.js';

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

/** Returns a list schema that checks the length first, because each invalid entry would give an error of its own. */
export const atMost = <Entry extends z.ZodType>(max: number, entry: Entry) =>
  z.array(z.unknown()).max(max).pipe(z.array(entry));

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

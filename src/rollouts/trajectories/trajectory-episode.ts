/** Types of a trajectory: one episode as a line of JSON. Fields have the names of the file. */
import type { GraderWeights } from '../../engine/graders/grader.js';
import { Episode } from '../../engine/reference/episode.js';
import { isModelName, isPrintable, MODEL_NAME, PRINTABLE } from '../../shared/names.js';
import { expect, flag, isU32, object, oneOf, printableName } from '../../shared/row-schemas.js';
import type { Schema } from '../../shared/schemas.js';
import { COMPONENT_NAMES, MAX_U32, NUM_BELIEFS } from '../../world/fields.js';
import { PROFILE_CHOICES } from '../../world/resolve-names.js';
import type { World } from '../../world/world.js';

/** The suffix of the name of a player that used hidden state. Such a player is not a valid agent. */
export const ORACLE_MARK = ' [oracle]';

/** Returns "TEACHER:MODEL", such as "llm:gpt-4o"; without a model "TEACHER". */
export const teacherName = ({ teacher, model }: Pick<Player, 'teacher' | 'model'>): string =>
  model === null ? teacher : `${teacher}:${model}`;

/** A profile and its belief target. */
export interface HiddenProfile {
  /** f32 [16]. */
  readonly profile: Float32Array;
  /** f32 [3]. */
  readonly target: Float32Array;
}

/**
 * Returns the hidden profile of an episode. @param mode 'sampled', 'discrete' or a profile's name.
 * @throws InputError `unknown_name`.
 */
export function hiddenProfileOf(world: World, mode: string, seed: number): HiddenProfile {
  const { profile, target } = new Episode({ world }).reset(seed, { profile: mode });
  return { profile, target };
}

/** The player of an episode: the policy that chose its actions. */
export interface Player {
  /** The name of the policy: "planner", "llm", "heuristic", ... */
  readonly teacher: string;
  /** The name of the language model; null for other policies. */
  readonly model: string | null;
  /** The teacher's objective: "score" or "wellbeing"; null without an objective. */
  readonly objective: string | null;
  /** Whether the player used hidden state. Tables mark such a player: it is not a valid agent. */
  readonly oracle: boolean;
}

/** Three float32 values in [0, 1], by BELIEF_NAMES. */
export type StoredBelief = readonly [social: number, morning: number, work: number];

/** The rewards of one step (docs/world.md, "The GRPO reward stack"), without shaping. */
export interface StoredRewards {
  readonly format_valid: number;
  readonly action_legal: number;
  /** `reward`, or -3 if no action was parsed. */
  readonly env_reward: number;
  readonly belief_accuracy: number;
  readonly belief_skill: number;
}

/** One step of an episode, as stored in trajectories (docs/trajectories.md). */
export interface TrajectoryStep {
  /** The number of steps taken before this step, 0 to 27. */
  readonly step: number;
  /** f32 [22], by OBSERVATION_FIELDS: the observation before the action. */
  readonly observation: readonly number[];
  /** The user message; null for players without text. The episode holds the system message. */
  readonly prompt: string | null;
  /** The whole completion; null for players without text. */
  readonly completion: string | null;
  /** The reasoning: from the completion's tags, or returned separately by the service; null for none. */
  readonly reasoning: string | null;
  /** The belief stated with the action; null for no belief. */
  readonly belief: StoredBelief | null;
  /** The action that was played, by name. */
  readonly action: string;
  /** Whether the player chose the action. If false, no action was parsed and FALLBACK_ACTION was played. */
  readonly parsed: boolean;
  /** f32: the reward that the agent received, with noise; in the last step also with the grade. */
  readonly reward: number;
  readonly reward_components: StoredRewards;
}

/** Results at the end of an episode: the grade's components by COMPONENT_NAMES, and others. f32 each. */
export interface StoredFinal {
  readonly crash_free: number;
  readonly progress: number;
  readonly connection: number;
  readonly adaptation: number;
  readonly efficiency: number;
  readonly belief_accuracy: number;
  readonly wellbeing: number;
  /** In [-1, 1]. */
  readonly belief_skill: number;
  /** The mean absolute error of the last belief, or of [0.5, 0.5, 0.5] if none was given. */
  readonly belief_mae: number;
  /** The mean reward of the first half, without noise. */
  readonly early_mean: number;
  /** The mean reward of the second half, without noise. */
  readonly late_mean: number;
  /** The score under the episode's grader. */
  readonly final_score: number;
}

/** The use of a language model service by an episode. Fields that do not apply are left out. */
export interface Usage {
  /** The number of requests, including retries. */
  readonly requests?: number;
  readonly prompt_tokens?: number;
  /** The number of prompt tokens that the service read from its cache. */
  readonly cached_tokens?: number;
  readonly completion_tokens?: number;
  readonly cost_usd?: number;
  /** The number of completions that reached the token limit. */
  readonly cut_off?: number;
  /** The number of refusals to answer. */
  readonly refused?: number;
}

export const CHAT_FORMS = ['single', 'conversation', 'tools'] as const;
/**
 * How an episode is put to a language model. 'single': each step is a chat of its own, with the last seven steps; 'conversation':
 * one chat with all messages and answers; 'tools': such a chat in which the model answers by calls of the tool `act`.
 */
export type ChatForm = (typeof CHAT_FORMS)[number];

/** Sampling parameters of a language model, named as in requests. Those left out were the service's defaults. */
export interface Sampling {
  readonly max_tokens: number;
  readonly temperature?: number;
  readonly top_p?: number;
  readonly seed?: number;
  /** The form of the chat, if it is not 'single'. */
  readonly form?: Exclude<ChatForm, 'single'>;
}

/** The fields of Usage, in the order of files. */
export const USAGE_NAMES = [
  'requests',
  'prompt_tokens',
  'cached_tokens',
  'completion_tokens',
  'cost_usd',
  'cut_off',
  'refused',
] as const satisfies readonly (keyof Usage)[];

/** The fields of Sampling, in the order of files. */
export const SAMPLING_NAMES = [
  'max_tokens',
  'temperature',
  'top_p',
  'seed',
  'form',
] as const satisfies readonly (keyof Sampling)[];

/** Hidden state, which no agent may see. */
export interface Hidden {
  /** f32 [16]: 11 traits, 5 reward weights. */
  readonly profile: readonly number[];
  /** f32 [3]. */
  readonly belief_target: readonly number[];
}

/** A whole episode. */
export interface TrajectoryEpisode extends Player {
  readonly schema: Schema;
  /** The package's version. */
  readonly version: string;
  /** The digest of the world in which the episode ran. */
  readonly world_digest: string;
  /** A name of CONDITIONS, or any other label. */
  readonly condition: string;
  /** 'sampled', 'discrete' or a profile's name. */
  readonly profile_mode: string;
  readonly seed: number;
  /** The grader of the episode. The last step's reward contains its grade. */
  readonly grader: { readonly name: string; readonly weights: GraderWeights };
  /** The system message of all prompts; null for players without text. */
  readonly system: string | null;
  /** [28]. */
  readonly steps: readonly TrajectoryStep[];
  readonly final: StoredFinal;
  readonly usage?: Usage;
  readonly sampling?: Sampling;
  readonly hidden?: Hidden;
}

const nameOrNull = expect<string | null>(
  `null or a name of ${PRINTABLE}`,
  (value) => value === null || isPrintable(value),
);
const modelOrNull = expect<string | null>(
  `null or a name of ${MODEL_NAME}`,
  (value) => value === null || isModelName(value),
);
/** @internal A schema of texts, and of null. */
export const textOrNull = expect<string | null>(
  'null or a text',
  (value) => value === null || typeof value === 'string',
);
/** @internal A schema of float32 numbers. Files contain the shortest decimal. */
export const float = expect<number>('a finite number', Number.isFinite).transform(Math.fround);
const amount = expect<number>('a number from 0 on', (value) => Number.isFinite(value) && Number(value) >= 0);
/** @internal A schema of lists of `count` float32 numbers. */
export const floats = (count: number) =>
  expect<number[]>(
    `${count} finite numbers`,
    (value) => Array.isArray(value) && value.length === count && value.every(Number.isFinite),
  ).transform((values) => values.map(Math.fround));
const isFraction = (value: unknown): boolean => typeof value === 'number' && value >= 0 && value <= 1;
/** @internal A schema of beliefs, rounded to float32, and of null. */
export const belief = expect<StoredBelief | null>(
  'null or three numbers from 0 to 1',
  (value) =>
    value === null || (Array.isArray(value) && value.length === NUM_BELIEFS && value.every(isFraction)),
).transform((values) => values && (values.map(Math.fround) as unknown as StoredBelief));

/** @internal A schema of objects with a float32 under each of these keys. */
export const floatsBy = (keys: readonly string[]) =>
  object(Object.fromEntries(keys.map((key) => [key, float])));

/** The names of the fields of `final`, in their order. */
export const FINAL_NAMES: readonly string[] = [
  ...COMPONENT_NAMES,
  ...['belief_mae', 'early_mean', 'late_mean', 'final_score'],
];

/** @internal The schema of `final`. */
export const FINAL = floatsBy(FINAL_NAMES);

/** @internal The first fields of an episode: the package's version, those that identify the episode, and its grader. */
export const FIRST = {
  version: printableName,
  teacher: printableName,
  model: modelOrNull,
  objective: nameOrNull,
  oracle: flag,
  condition: printableName,
  profile_mode: oneOf(PROFILE_CHOICES),
  seed: expect<number>(`an integer from 0 to ${MAX_U32}`, isU32),
  grader: expect<TrajectoryEpisode['grader']>(
    'a grader with name and weights',
    (value) => typeof value === 'object' && value !== null,
  ),
};

/** @internal The optional fields that no replay computes. */
export const OPTIONAL = {
  usage: object(Object.fromEntries(USAGE_NAMES.map((name) => [name, amount.optional()]))).optional(),
  sampling: object({
    ...Object.fromEntries(SAMPLING_NAMES.map((name) => [name, amount.optional()])),
    max_tokens: amount,
    form: oneOf<NonNullable<Sampling['form']>>(CHAT_FORMS.slice(1)).optional(),
  }).optional(),
};

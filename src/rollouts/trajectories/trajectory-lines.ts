/** Writes and reads episodes as lines of JSON. */
import { type Grader, validateGrader } from '../../engine/graders/grader.js';
import { beliefMae, clampSkill, skillTerm } from '../../engine/reference/grade.js';
import { NO_ACTION } from '../../engine/validate/steps.js';
import { RhythmError } from '../../shared/errors.js';
import { float32Decimal, float32Decimals } from '../../shared/float32-decimal.js';
import { BadRow, conform, flag, list, object, oneOf, parseJson } from '../../shared/row-schemas.js';
import { follows, notAnObject, otherSchema, otherWorld, SCHEMAS, schemaName } from '../../shared/schemas.js';
import { CONDITIONS } from '../../world/conditions.js';
import { ACTION_NAMES, NUM_BELIEFS, NUM_STEPS, OBSERVATION_SIZE, PROFILE_SIZE } from '../../world/fields.js';
import { createWorld, type World } from '../../world/world.js';
import { allocateStack, fillStack, toStackSettings } from '../rewards/compute-rewards.js';
import type { PlayedMove } from './move.js';
import {
  belief,
  FINAL,
  FIRST,
  float,
  floats,
  floatsBy,
  type Hidden,
  OPTIONAL,
  type StoredRewards,
  type TrajectoryEpisode,
  type TrajectoryStep,
  textOrNull,
} from './trajectory-episode.js';

/**
 * Returns an episode as JSON with a line end. A float32 is written as the shortest decimal that reads back to it. No value
 * may be -0: JSON.stringify would write it as 0.
 */
export function episodeLine(episode: TrajectoryEpisode): string {
  const { steps, final, hidden } = episode;
  const decimals = {
    steps: steps.map(withDecimals),
    final: decimalsByName(final),
    ...(hidden && { hidden: withHiddenDecimals(hidden) }),
  };
  return `${JSON.stringify({ ...episode, ...decimals })}\n`;
}

const withDecimals = (step: TrajectoryStep) => ({
  ...step,
  observation: float32Decimals(step.observation),
  belief: step.belief && float32Decimals(step.belief),
  reward: float32Decimal(step.reward),
  reward_components: decimalsByName(step.reward_components),
});

const withHiddenDecimals = ({ profile, belief_target }: Hidden) => ({
  profile: float32Decimals(profile),
  belief_target: float32Decimals(belief_target),
});

/** Returns a copy of an object of float32 numbers, each as its shortest decimal. */
export function decimalsByName(numbers: object): object {
  // V8 changes the values of a copy several times as fast as Object.fromEntries builds an object.
  const decimals: Record<string, number> = { ...numbers };
  for (const name of Object.keys(decimals)) decimals[name] = float32Decimal(decimals[name]);
  return decimals;
}

const PLAYER_FIELDS = ['teacher', 'model', 'objective', 'oracle', 'condition', 'profile_mode'] as const;
type PlayerFields = Pick<TrajectoryEpisode, (typeof PLAYER_FIELDS)[number]>;

/** Returns a key of an episode's player, condition and profile mode. With a seed it identifies one episode. */
export const playerKey = (episode: PlayerFields): string =>
  JSON.stringify(PLAYER_FIELDS.map((name) => episode[name]));

/** Returns a key that identifies an episode. A file has each key once. */
export const episodeKey = (episode: PlayerFields & Pick<TrajectoryEpisode, 'seed'>): string =>
  `${playerKey(episode)} ${episode.seed}`;

/** Why a line is not a valid episode: invalid JSON or values, another schema or world, or an episode that was read before. */
export type FaultKind = 'corrupt' | 'foreign' | 'duplicate';

/** The error of a line that is not a valid episode. */
export class BadEpisode extends BadRow {
  readonly kind: FaultKind;
  /** The number of lines that the error concerns: several for a part of a file that cannot be read. */
  readonly lines: number;
  constructor(kind: FaultKind, message: string, lines = 1) {
    super(message);
    this.kind = kind;
    this.lines = lines;
  }
}

let publishedDigest: string | undefined;

/** Returns the digest of the published world. Computed on first use: most programs read no trajectories. */
function digestHere(): string {
  publishedDigest ??= createWorld().digest;
  return publishedDigest;
}

/** The names of the rewards of a step. */
export const STORED_REWARDS: readonly (keyof StoredRewards)[] = [
  'format_valid',
  'action_legal',
  'env_reward',
  'belief_accuracy',
  'belief_skill',
];

const STEP = object({
  step: float,
  observation: floats(OBSERVATION_SIZE),
  prompt: textOrNull,
  completion: textOrNull,
  reasoning: textOrNull,
  belief,
  action: oneOf(ACTION_NAMES),
  parsed: flag,
  reward: float,
  reward_components: floatsBy(STORED_REWARDS),
});

/** The last fields of a line, which are optional. */
const LAST = {
  ...OPTIONAL,
  hidden: object({ profile: floats(PROFILE_SIZE), belief_target: floats(NUM_BELIEFS) }).optional(),
};

const EPISODE = object({
  ...FIRST,
  system: textOrNull,
  steps: list(STEP, `a list of ${NUM_STEPS} steps`).length(NUM_STEPS, {
    error: ({ input }) => `Expected ${NUM_STEPS} steps, got ${(input as unknown[]).length}.`,
  }),
  final: FINAL,
  ...LAST,
});

/** The keys of a line, in their order. */
const KEYS = ['schema', 'world_digest', ...Object.keys(EPISODE.shape)];

/**
 * Parses the episode of a line. Checks types and ranges; only a replay can verify the numbers.
 * @throws BadEpisode with what was expected and what came. Schema, version and world are checked first.
 */
export function parseEpisode(line: string): TrajectoryEpisode {
  return withEpisodeFaults(() => {
    const value = parseJson(line);
    checkOrigin(value);
    const episode = conform(EPISODE, value);
    const grader = graderOf(episode);
    const { version, ...fields } = episode;
    const parsed = { schema: SCHEMAS.trajectory, version, world_digest: digestHere(), ...fields, grader };
    checkSteps(parsed.steps);
    checkCondition(parsed);
    return parsed as unknown as TrajectoryEpisode;
  });
}

/** Returns the validated grader of an episode. @throws InputError `bad_grader`. */
export const graderOf = ({ grader: { name, weights } }: Pick<TrajectoryEpisode, 'grader'>): Grader =>
  validateGrader({ name, weights }, 'grader');

/** Calls `read` and returns its result. @throws BadEpisode: that of `read`, or `corrupt` for a BadRow or RhythmError. */
export function withEpisodeFaults<Result>(read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    if (error instanceof BadEpisode) throw error;
    if (error instanceof BadRow || error instanceof RhythmError)
      throw new BadEpisode('corrupt', error.message);
    throw error;
  }
}

/** Parses the episode of a line, and returns the error of an invalid line instead of throwing it. */
export function readEpisode(line: string): TrajectoryEpisode | BadEpisode {
  try {
    return parseEpisode(line);
  } catch (error) {
    if (error instanceof BadEpisode) return error;
    throw error;
  }
}

/** Checks a line's schema, version and world. @throws BadEpisode. */
function checkOrigin(value: unknown): void {
  const { schema, world_digest: digest } = Object(value) as Record<string, unknown>;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new BadEpisode('corrupt', notAnObject(value, KEYS));
  }
  if (schema === undefined && ('messages' in value || 'prompt' in value)) {
    throw new BadEpisode(
      'foreign',
      `schema: Expected ${schemaName(SCHEMAS.trajectory)}, got a row of a training dataset. Pass the trajectories that the dataset was made from.`,
    );
  }
  if (!follows(SCHEMAS.trajectory, schema))
    throw new BadEpisode('foreign', `schema: ${otherSchema(SCHEMAS.trajectory, schema)}`);
  checkWorld(digest);
}

/** Checks the digest of an episode's world. @throws BadEpisode `foreign`. */
export function checkWorld(digest: unknown): void {
  if (digest !== digestHere())
    throw new BadEpisode('foreign', `world_digest: ${otherWorld(digestHere(), digest)}`);
}

/** Checks that steps are numbered from 0. @throws BadEpisode `corrupt`. */
function checkSteps(steps: readonly Pick<TrajectoryStep, 'step'>[]): void {
  const at = steps.findIndex(({ step }, k) => step !== k);
  if (at < 0) return;
  throw new BadEpisode('corrupt', `steps[${at}].step: Expected ${at}, got ${steps[at].step}.`);
}

/** Checks that a named condition contains the episode's seed and profile. @throws BadEpisode `corrupt`. */
export function checkCondition({
  condition,
  profile_mode,
  seed,
}: Pick<TrajectoryEpisode, 'condition' | 'profile_mode' | 'seed'>): void {
  const named = CONDITIONS.find((each) => each.name === condition);
  if (named === undefined) return;
  const contained = named.parts.some(
    ({ profile, seeds }) =>
      seed >= seeds.first && seed <= seeds.last && (named.allowsProfiles || profile === profile_mode),
  );
  if (contained) return;
  const allowed = named.parts
    .map(({ profile, seeds }) => `${seeds.first}-${seeds.last} (${profile})`)
    .join(', ');
  throw new BadEpisode(
    'corrupt',
    `seed: Expected a seed of the condition ${condition}, ${allowed}, got ${seed} (${profile_mode}). Change the condition, for example to custom.`,
  );
}

/** Memory of `storedRewardsOf`: one row of the reward stack, valid without validation. */
const row = {
  actions: new Int8Array(1),
  given: new Uint8Array(1),
  stepRewards: new Float64Array(1),
  beliefMae: new Float64Array(1),
  beliefSkill: new Float64Array(1),
};
const stack = allocateStack(1);
const SETTINGS = toStackSettings({}, null);

/** Returns the rewards of a step. @param reward the step's reward. @param target f32 [3], the profile's belief target. */
export function storedRewardsOf(
  world: World,
  { action, parsed, belief }: Pick<PlayedMove, 'action' | 'parsed' | 'belief'>,
  reward: number,
  target: Float32Array,
): StoredRewards {
  row.actions[0] = parsed ? action : NO_ACTION;
  row.given[0] = Number(belief !== null);
  row.stepRewards[0] = parsed ? reward : 0;
  row.beliefMae[0] = belief === null ? 0 : beliefMae(world.params, belief, target);
  row.beliefSkill[0] = belief === null ? 0 : clampSkill(skillTerm(world.params, belief, target));
  fillStack(stack, row, null, SETTINGS, 0, 1);
  return {
    format_valid: stack.formatValid[0],
    action_legal: stack.actionLegal[0],
    env_reward: stack.envReward[0],
    belief_accuracy: stack.beliefAccuracy[0],
    belief_skill: stack.beliefSkill[0],
  };
}

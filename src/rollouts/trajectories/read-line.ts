/** Parses and validates lines of trajectories. */
import { validateGrader } from '../../engine/graders/grader.js';
import { RhythmError } from '../../shared/errors.js';
import { currentPlayer } from '../../shared/former-names.js';
import { isModelName, isPrintable, MODEL_NAME, PRINTABLE } from '../../shared/printable-names.js';
import {
  BadRow,
  conform,
  expect,
  flag,
  isU32,
  list,
  notAnObject,
  object,
  oneOf,
  parseJson,
  printableName,
  storedPolicy,
} from '../../shared/row-schemas.js';
import { SCHEMAS, schemaName } from '../../shared/schemas.js';
import { describe } from '../../shared/values.js';
import { CONDITIONS } from '../../world/conditions.js';
import {
  ACTION_NAMES,
  MAX_U32,
  NUM_BELIEFS,
  NUM_STEPS,
  OBSERVATION_SIZE,
  PROFILE_SIZE,
} from '../../world/fields.js';
import { FORMER_WORLDS, storedComponents } from '../../world/former-worlds.js';
import { PROFILE_CHOICES } from '../../world/resolve-names.js';
import { createWorld } from '../../world/world.js';
import { storedRewardNames } from './step-rewards.js';
import type { StoredBelief, TrajectoryEpisode, TrajectoryStep } from './trajectory-episode.js';

/**
 * Why a line is not a valid episode: invalid JSON or values, another schema or world, an older or newer version of the
 * schema, or an episode that was read before.
 */
export type FaultKind = 'corrupt' | 'foreign' | 'older' | 'newer' | 'duplicate';

/** The error of a line that is not a valid episode. */
export class BadEpisode extends BadRow {
  readonly kind: FaultKind;
  constructor(kind: FaultKind, message: string) {
    super(message);
    this.kind = kind;
  }
}

const world = createWorld();

const nameOrNull = expect<string | null>(
  `null or a name of ${PRINTABLE}`,
  (value) => value === null || isPrintable(value),
);
const modelOrNull = expect<string | null>(
  `null or a name of ${MODEL_NAME}`,
  (value) => value === null || isModelName(value),
);
const textOrNull = expect<string | null>(
  'null or a text',
  (value) => value === null || typeof value === 'string',
);
/** A float32. Its text is the nearest one's: the shortest decimal, or that of the equal float64 in earlier releases. */
const float = expect<number>('a finite number', Number.isFinite).transform(Math.fround);
const amount = expect<number>('a number from 0 on', (value) => Number.isFinite(value) && Number(value) >= 0);
const floats = (count: number) =>
  expect<number[]>(
    `${count} finite numbers`,
    (value) => Array.isArray(value) && value.length === count && value.every(Number.isFinite),
  ).transform((values) => values.map(Math.fround));
const isShare = (value: unknown): boolean => typeof value === 'number' && value >= 0 && value <= 1;
const belief = expect<StoredBelief | null>(
  'null or three numbers from 0 to 1',
  (value) => value === null || (Array.isArray(value) && value.length === NUM_BELIEFS && value.every(isShare)),
).transform((values) => values && (values.map(Math.fround) as unknown as StoredBelief));

/** A schema of objects with a float32 under these keys. */
const floatsBy = (keys: readonly string[]) => object(Object.fromEntries(keys.map((key) => [key, float])));

const stepSchema = (digest: string) =>
  object({
    step: float,
    observation: floats(OBSERVATION_SIZE),
    prompt: textOrNull,
    completion: textOrNull,
    reasoning: textOrNull,
    belief,
    action: oneOf(ACTION_NAMES),
    parsed: flag,
    reward: float,
    reward_components: floatsBy(storedRewardNames(digest)),
  });

/** The fields before and after `steps` and `final`, which are the same in all worlds. */
const FIRST = {
  version: printableName,
  teacher: storedPolicy,
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
  system: textOrNull,
};
const LAST = {
  usage: object({
    requests: amount.optional(),
    prompt_tokens: amount.optional(),
    cached_tokens: amount.optional(),
    completion_tokens: amount.optional(),
    cost_usd: amount.optional(),
    cut_off: amount.optional(),
    refused: amount.optional(),
  }).optional(),
  sampling: object({
    max_tokens: amount,
    temperature: amount.optional(),
    top_p: amount.optional(),
    seed: amount.optional(),
  }).optional(),
  hidden: object({ profile: floats(PROFILE_SIZE), belief_target: floats(NUM_BELIEFS) }).optional(),
};

const FINAL = ['belief_mae', 'early_mean', 'late_mean', 'final_score'];

/** Returns the schema of episodes. @param digest of their world. */
const episodeSchema = (digest: string) =>
  object({
    ...FIRST,
    steps: list(stepSchema(digest), `a list of ${NUM_STEPS} steps`).length(NUM_STEPS, {
      error: ({ input }) => `Expected ${NUM_STEPS} steps, got ${(input as unknown[]).length}.`,
    }),
    final: floatsBy([...storedComponents(digest), ...FINAL]),
    ...LAST,
  });

const EPISODES = new Map(
  [world.digest, ...FORMER_WORLDS.keys()].map((digest) => [digest, episodeSchema(digest)]),
);
const KEYS = ['schema', 'world_digest', ...Object.keys(FIRST), 'steps', 'final', ...Object.keys(LAST)];

/**
 * Parses the episode of a line, of this world or a former one. It checks types and ranges; only a replay can verify the
 * numbers.
 * @throws BadEpisode with what was expected and what came. Schema, version and world are checked first.
 */
export function parseEpisode(line: string): TrajectoryEpisode {
  try {
    const value = parseJson(line);
    const digest = checkOrigin(value);
    const episode = conform(EPISODES.get(digest)!, value);
    const grader = validateGrader({ name: episode.grader.name, weights: episode.grader.weights }, 'grader');
    const parsed = { schema: SCHEMAS.trajectory, world_digest: digest, ...episode, grader };
    checkSteps(parsed.steps);
    checkCondition(parsed);
    return currentPlayer(parsed as unknown as TrajectoryEpisode);
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

/** Appended to the error for a row of a dataset. */
const DATASET_ROW =
  ' This is a row of a training dataset: pass the trajectories that the dataset was made from.';

/** Checks a line's schema, version and world. Returns the digest of the world. */
function checkOrigin(value: unknown): string {
  const { schema, world_digest: digest } = Object(value) as Record<string, unknown>;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new BadEpisode('corrupt', notAnObject(value, KEYS));
  }
  const stored = Object(schema) as { name?: unknown; version?: unknown };
  if (stored.name !== SCHEMAS.trajectory.name || !Number.isInteger(stored.version)) {
    const got = schema === undefined ? 'none' : describe(stored.name ?? schema);
    const rows = schema === undefined && ('messages' in value || 'prompt' in value) ? DATASET_ROW : '';
    throw new BadEpisode('foreign', `schema: Expected ${schemaName(SCHEMAS.trajectory)}, got ${got}.${rows}`);
  }
  if (stored.version !== SCHEMAS.trajectory.version) {
    const kind = Number(stored.version) < SCHEMAS.trajectory.version ? 'older' : 'newer';
    throw new BadEpisode(
      kind,
      `schema: Expected ${schemaName(SCHEMAS.trajectory)}, got the ${kind} version ${stored.version}. Use the release that wrote it.`,
    );
  }
  if (typeof digest === 'string' && EPISODES.has(digest)) return digest;
  const got = digest === undefined ? 'none' : describe(digest);
  throw new BadEpisode(
    'foreign',
    `world_digest: Expected ${world.digest}, the world of this release, got ${got}.`,
  );
}

/** Checks that steps are numbered from 0. */
function checkSteps(steps: readonly Pick<TrajectoryStep, 'step'>[]): void {
  const at = steps.findIndex(({ step }, k) => step !== k);
  if (at < 0) return;
  throw new BadEpisode('corrupt', `steps[${at}].step: Expected ${at}, got ${steps[at].step}.`);
}

/** Checks that a named condition contains the episode's seed and profile. */
function checkCondition({
  condition,
  profile_mode,
  seed,
}: Pick<TrajectoryEpisode, 'condition' | 'profile_mode' | 'seed'>): void {
  const known = CONDITIONS.find((each) => each.name === condition);
  if (known === undefined) return;
  const contained = known.parts.some(
    ({ profile, seeds }) =>
      seed >= seeds.first && seed <= seeds.last && (known.allowsProfiles || profile === profile_mode),
  );
  if (contained) return;
  const allowed = known.parts
    .map(({ profile, seeds }) => `${seeds.first}-${seeds.last} (${profile})`)
    .join(', ');
  throw new BadEpisode(
    'corrupt',
    `seed: Expected a seed of the condition ${condition}, ${allowed}, got ${seed} (${profile_mode}). Change the condition, for example to custom.`,
  );
}

/** Plays episodes with a teacher: a policy that states its reasons. */
import { modelPlayer } from '../../agents/llm/language-model.js';
import type { PlayOptions } from '../../agents/llm/play-episodes.js';
import { POLICY_NAMES } from '../../agents/policies/fixed-policies.js';
import {
  type PolicyName,
  STEPPED_NAMES,
  STEPPED_POLICIES,
  type SteppedPolicy,
} from '../../agents/policies/stepped-policies.js';
import { runAsync, yieldTurn } from '../../engine/engine-calls.js';
import type { Grader } from '../../engine/graders/grader.js';
import type { PolicyActions, PolicyPlayer } from '../../engine/policy/policy.js';
import type { EngineOptions } from '../../engine/vec-env/vec-env-options.js';
import { PolicyPlayers, playerOf, trueProfilesOf } from '../../evaluation/play-policy.js';
import type { UserPolicy } from '../../evaluation/user-policy.js';
import { ResizableAnyEnv } from '../../rollouts/resizable-env.js';
import { prompts } from '../../rollouts/text/prompt.js';
import { digitOf, spell } from '../../rollouts/text/spelling.js';
import { TrajectoryRecorder } from '../../rollouts/trajectories/episode-recorder.js';
import type { TextMove } from '../../rollouts/trajectories/move.js';
import type { TrajectoryEpisode } from '../../rollouts/trajectories/trajectory-episode.js';
import { episodeKey } from '../../rollouts/trajectories/trajectory-lines.js';
import { InputError } from '../../shared/errors.js';
import { checkName } from '../../shared/values.js';
import { CUSTOM, type SeedRange } from '../../world/conditions.js';
import { ACTION_NAMES, NUM_BELIEFS, NUM_STEPS, OBSERVATION_SIZE } from '../../world/fields.js';
import type { ProfileKindName } from '../../world/resolve-names.js';

/**
 * The default policy. A teacher that maximises the score of v1 or v2 neglects the first half, and students would learn that.
 */
export const DEFAULT_TEACHER = 'planner-wellbeing';

/** Options of `teach`. */
export interface TeachOptions extends EngineOptions {
  /**
   * A policy that states beliefs and reasons: a name of STEPPED_POLICIES, as in `evaluate`, or a policy of your own. Default
   * planner-wellbeing.
   */
  readonly policy?: PolicyName | UserPolicy;
  readonly seeds: SeedRange;
  /** 'sampled', 'discrete' or a profile's name. */
  readonly profiles: ProfileKindName;
  readonly grader: Grader;
  /** Called after each step of a batch with the steps done and their total, over all episodes. */
  readonly onProgress?: (done: number, total: number) => void;
  readonly signal?: AbortSignal;
}

interface Teacher {
  readonly name: string;
  readonly player: PolicyPlayer;
  readonly grader: Grader;
}

/** The number of episodes in a batch. One step of a batch takes less than a second. */
const BATCH_SIZE = 64;

/**
 * Plays every seed once, and yields the episodes in batches, in the order of their seeds. Completions state each number of
 * a belief as a digit, as a language model's answer must, and the episodes use these rounded beliefs.
 * @throws InputError `unknown_name`; `missing_setting` for a policy without reasons or beliefs; the errors of `openChecked`,
 *   which checks the policy's answers; the signal's reason.
 */
export async function* teach(options: TeachOptions): AsyncGenerator<TrajectoryEpisode[]> {
  const { seeds, backend, kernel, threads } = options;
  const { policy: given = DEFAULT_TEACHER } = options;
  const policy = typeof given === 'string' ? teacherNamed(given) : given;
  using players = new PolicyPlayers();
  await using envs = new ResizableAnyEnv({ backend, kernel, threads, observation: { history: true } });
  for (let first = seeds.first; first <= seeds.last; first += BATCH_SIZE) {
    const length = Math.min(BATCH_SIZE, seeds.last - first + 1);
    const batch = Array.from({ length }, (_, i) => first + i);
    yield await playBatch(envs, players, batch, policy, options);
  }
}

/** Returns the policy with this name. @throws InputError `unknown_name`, also for a policy that states no reasons. */
export function teacherNamed(name: string): SteppedPolicy {
  if (POLICY_NAMES.includes(name)) {
    throw new InputError('unknown_name', {
      expected: `a policy that states its reasons (${STEPPED_NAMES.join(', ')})`,
      got: `"${name}"`,
      remedy: 'Pass one of these. eval --trajectories records all policies, without reasons.',
    });
  }
  checkName('policy', name, STEPPED_NAMES);
  return STEPPED_POLICIES.find((policy) => policy.name === name)!;
}

async function playBatch(
  envs: ResizableAnyEnv,
  players: PolicyPlayers,
  seeds: readonly number[],
  policy: SteppedPolicy,
  options: TeachOptions,
): Promise<TrajectoryEpisode[]> {
  const { profiles, grader, backend, kernel, threads, signal } = options;
  const env = await envs.of(seeds.length);
  const recorder = new TrajectoryRecorder(env, playerOf(policy), grader);
  const { numEnvs, world } = env;
  const setting = { numEnvs, world, grader, backend, kernel, threads };
  const batch = { profile: profiles, seeds: Uint32Array.from(seeds) };
  const episodes = {
    mask: new Uint8Array(numEnvs).fill(1),
    seeds: batch.seeds,
    profiles: () => trueProfilesOf(world, batch),
  };
  const player = await players.begin(policy, setting, episodes, signal);
  const teacher = { name: policy.name, player, grader };
  const starts = seeds.map((seed) => ({ seed, profileMode: profiles, condition: CUSTOM }));
  let { observations } = await runAsync(recorder.begin(starts));
  for (let step = 0; step < NUM_STEPS; step++) {
    signal?.throwIfAborted();
    const moves = await movesOf(teacher, observations, numEnvs, step);
    ({ observations } = await runAsync(recorder.step(moves)));
    options.onProgress?.(...progressOf(options.seeds, seeds[0], numEnvs, step + 1));
    // Lets signals and timers run.
    await yieldTurn();
  }
  return recorder.take();
}

/** Returns the arguments of `onProgress`. @param batchFirst the first seed of the batch of `numEnvs` episodes. */
const progressOf = ({ first, last }: SeedRange, batchFirst: number, numEnvs: number, steps: number) =>
  [(batchFirst - first) * NUM_STEPS + numEnvs * steps, (last - first + 1) * NUM_STEPS] as const;

/** Returns the teacher's moves. @param observations f32 [n, 106], with the history at the end of each row. */
async function movesOf(
  { name, player, grader }: Teacher,
  observations: Float32Array,
  n: number,
  step: number,
): Promise<TextMove[]> {
  const width = observations.length / n;
  const withoutHistory = new Float32Array(n * OBSERVATION_SIZE);
  for (let i = 0; i < n; i++) {
    const row = observations.subarray(i * width, i * width + OBSERVATION_SIZE);
    withoutHistory.set(row, i * OBSERVATION_SIZE);
  }
  const { actions, beliefs } = await player.act({
    observations: withoutHistory,
    steps: new Uint8Array(n).fill(step),
    playing: new Uint8Array(n).fill(1),
  });
  if (player.reasons === undefined || !areComplete(beliefs)) refuseTeacher(name, player);
  const moves: TextMove[] = [];
  for (const [i, prompt] of prompts(observations, undefined, { grader }).entries()) {
    const belief = Float32Array.from({ length: NUM_BELIEFS }, (_, k) => beliefs[i * NUM_BELIEFS + k]);
    moves.push({ prompt, completion: completionOf(await player.reasons(i), belief, actions[i]) });
  }
  return moves;
}

/** Returns whether every row has a belief. */
const areComplete = (beliefs: PolicyActions['beliefs']): beliefs is ArrayLike<number> =>
  beliefs != null && Array.from(beliefs).every(Number.isFinite);

function refuseTeacher(name: string, player: PolicyPlayer): never {
  const missing = player.reasons === undefined ? 'a function reasons' : 'a belief at every step';
  throw new InputError(
    'missing_setting',
    `Expected the policy "${name}" to have ${missing}, because completions state both reasons and beliefs; got none. ` +
      'Add it: withInference(policy) has both.',
  );
}

/** Returns a completion in the form that the system message demands. */
function completionOf(reasons: string, belief: Float32Array, action: number): string {
  const digits = Array.from(belief, digitOf).join(' ');
  return `<reasoning>${reasons}</reasoning>\n${digits} ${spell(ACTION_NAMES[action])}`;
}

interface TeachByModelOptions extends Omit<PlayOptions, 'player'> {
  readonly seeds: SeedRange;
  /** 'sampled', 'discrete' or a profile's name. */
  readonly profiles: string;
}

/** Returns the keys of the episodes of a range of seeds, in the order of the seeds. */
export function keysOf({ first, last }: SeedRange, profiles: string, model: string): string[] {
  const common = { ...modelPlayer(model), condition: CUSTOM, profile_mode: profiles };
  return Array.from({ length: last - first + 1 }, (_, i) => episodeKey({ ...common, seed: first + i }));
}

/**
 * Plays the missing episodes of a range of seeds, and yields each when it ends.
 * @param exists whether the episode with a key exists (see `keysOf`). @throws as `playEpisodes`.
 */
export async function* teachByModel(
  { seeds, profiles, ...options }: TeachByModelOptions,
  exists: (key: string) => boolean,
): AsyncGenerator<TrajectoryEpisode> {
  const missing = keysOf(seeds, profiles, options.model.name)
    .map((key, i) => ({ key, seed: seeds.first + i, profileMode: profiles, condition: CUSTOM }))
    .filter(({ key }) => !exists(key));
  // Loaded only if a language model plays.
  const { playEpisodes } = await import('../../agents/llm/play-episodes.js');
  yield* playEpisodes(missing, { ...options, player: modelPlayer(options.model.name) });
}

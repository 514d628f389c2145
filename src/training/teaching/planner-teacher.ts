/** Plays episodes of the planner as a teacher that states its reasons. */

import { digitOf } from '../../agents/inference/inference-words.js';
import type { Objective } from '../../agents/planner/objectives.js';
import {
  STEPPED_POLICIES,
  type SteppedPlayer,
  type SteppedPolicy,
} from '../../agents/policies/observing-policies.js';
import type { Grader } from '../../engine/graders/grader.js';
import { yieldTurn } from '../../engine/vec-env/yield-turn.js';
import { trueProfilesOf } from '../../evaluation/play-chunk.js';
import { ResizableEnv } from '../../evaluation/resizable-env.js';
import { prompts } from '../../rollouts/text/prompt.js';
import { spell } from '../../rollouts/text/system.js';
import { TrajectoryRecorder } from '../../rollouts/trajectories/env-recorder.js';
import type { TextMove } from '../../rollouts/trajectories/move.js';
import type { TrajectoryEpisode } from '../../rollouts/trajectories/trajectory-episode.js';
import { InputError } from '../../shared/errors.js';
import { checkName } from '../../shared/values.js';
import { CUSTOM, type SeedRange } from '../../world/conditions.js';
import { ACTION_NAMES, NUM_BELIEFS, NUM_STEPS, OBSERVATION_SIZE } from '../../world/fields.js';

/** The default objective. A teacher that maximises the score neglects the first half, and students would learn that. */
const DEFAULT_OBJECTIVE: Objective = 'wellbeing';

/** Not a variant: it is the variant `planner` with the objective wellbeing. */
const WELLBEING = 'planner-wellbeing';
const VARIANTS = STEPPED_POLICIES.filter(({ name }) => name !== WELLBEING);
const VARIANT_NAMES: readonly string[] = VARIANTS.map(({ name }) => name);

export interface TeachOptions {
  /** The name of the teacher in files. */
  readonly teacher: 'planner';
  /** The name of a stepped policy. The objective of `planner` is a separate option. */
  readonly variant: string;
  /** The planner's objective. Default wellbeing. Refused for a variant without a planner. */
  readonly objective?: Objective;
  readonly seeds: SeedRange;
  /** 'sampled', 'discrete' or a profile's name. */
  readonly profiles: string;
  readonly grader: Grader;
  readonly backend?: string;
  readonly kernel?: string;
  readonly threads?: number;
  /** Called after every step with the steps that are done and their total, over all episodes. */
  readonly onProgress?: (done: number, total: number) => void;
  readonly signal?: AbortSignal;
}

/** The number of episodes in a batch. One step of a batch takes less than a second. */
const BATCH_SIZE = 64;

/**
 * Plays every seed once, and yields the episodes in batches, in the order of their seeds. Completions state beliefs in
 * digits, as a student does, and the episodes use these rounded beliefs.
 * @throws InputError `unknown_name` or `unknown_option`; the signal's reason.
 */
export async function* teach(options: TeachOptions): AsyncGenerator<TrajectoryEpisode[]> {
  const { seeds, backend, kernel, threads } = options;
  const variant = variantOf(options);
  using envs = new ResizableEnv({ backend, kernel, threads, observation: { history: true } });
  for (let first = seeds.first; first <= seeds.last; first += BATCH_SIZE) {
    const length = Math.min(BATCH_SIZE, seeds.last - first + 1);
    const batch = Array.from({ length }, (_, i) => first + i);
    yield await playBatch(envs, batch, variant, options);
  }
}

function variantOf({ variant, objective }: TeachOptions): SteppedPolicy {
  if (variant === WELLBEING) {
    throw new InputError(
      'unknown_name',
      `Expected variant to be one of ${VARIANT_NAMES.join(', ')}; got "${WELLBEING}", which is not a variant but an ` +
        'objective of the planner. Pass planner, with --objective wellbeing, the default.',
    );
  }
  checkName('variant', variant, VARIANT_NAMES);
  const found = VARIANTS.find(({ name }) => name === variant)!;
  if (objective === undefined || found.objective !== null) return found;
  throw new InputError(
    'unknown_option',
    `Expected no objective for ${variant}, which has no planner, got "${objective}". Leave it out.`,
  );
}

async function playBatch(
  envs: ResizableEnv,
  seeds: readonly number[],
  variant: SteppedPolicy,
  options: TeachOptions,
): Promise<TrajectoryEpisode[]> {
  const { profiles, grader, backend, kernel, threads, signal } = options;
  const env = envs.of(seeds.length);
  const objective = variant.objective === null ? null : (options.objective ?? DEFAULT_OBJECTIVE);
  const model = variant.name === options.teacher ? null : variant.name;
  const player = { teacher: options.teacher, model, objective, oracle: variant.oracle };
  const recorder = new TrajectoryRecorder(env, player, grader);
  const engine = { backend, kernel, threads };
  const setting = { numEnvs: env.numEnvs, grader, ...engine, objective: objective ?? undefined };
  using teacher = variant.open(setting, () =>
    trueProfilesOf(env.world, { profile: profiles, seeds: Uint32Array.from(seeds) }),
  );
  let { observations } = recorder.begin(
    seeds.map((seed) => ({ seed, profileMode: profiles, condition: CUSTOM })),
  );
  for (let step = 0; step < NUM_STEPS; step++) {
    signal?.throwIfAborted();
    ({ observations } = recorder.step(movesOf(teacher, observations, env.numEnvs)));
    options.onProgress?.(...progressOf(options.seeds, seeds[0], env.numEnvs, step + 1));
    // Lets signals and timers run.
    await yieldTurn();
  }
  return recorder.take();
}

/** Returns the steps that are done and their total. @param next the first seed of the batch of `numEnvs` episodes. */
const progressOf = ({ first, last }: SeedRange, next: number, numEnvs: number, steps: number) =>
  [(next - first) * NUM_STEPS + numEnvs * steps, (last - first + 1) * NUM_STEPS] as const;

/** Returns the teacher's moves. @param observations f32 [n, 106], with the history at the end of each row. */
function movesOf(teacher: SteppedPlayer, observations: Float32Array, n: number): TextMove[] {
  const width = observations.length / n;
  const withoutHistory = new Float32Array(n * OBSERVATION_SIZE);
  for (let i = 0; i < n; i++) {
    const row = observations.subarray(i * width, i * width + OBSERVATION_SIZE);
    withoutHistory.set(row, i * OBSERVATION_SIZE);
  }
  const { actions, beliefs } = teacher.decide(withoutHistory);
  return prompts(observations).map((prompt, i) => ({
    prompt,
    completion: completionOf(
      teacher.reasons(i),
      beliefs.subarray(i * NUM_BELIEFS, (i + 1) * NUM_BELIEFS),
      actions[i],
    ),
  }));
}

/** Returns a completion in the form that the system message demands. */
function completionOf(reasons: string, belief: Float32Array, action: number): string {
  const digits = Array.from(belief, digitOf).join(' ');
  return `<reasoning>${reasons}</reasoning>\n${digits} ${spell(ACTION_NAMES[action])}`;
}

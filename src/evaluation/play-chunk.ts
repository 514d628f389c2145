/** Plays episodes of an evaluation: in one call, or step by step. */

import type { SteppedPolicy } from '../agents/policies/observing-policies.js';
import type { Policy } from '../agents/policies/policies.js';
import type { Grader } from '../engine/graders/grader.js';
import type { VecEnv } from '../engine/node.js';
import { Episode } from '../engine/reference/episode.js';
import type { RunResult } from '../engine/vec-env/vec-env-options.js';
import { yieldTurn } from '../engine/vec-env/yield-turn.js';
import { NUM_STEPS, PROFILE_SIZE } from '../world/fields.js';
import type { World } from '../world/world.js';
import type { EpisodeBatch } from './episode-batch.js';
import type { EvaluationRecorder } from './record-trajectories.js';

/** The grader, engine and signal of `EvaluateOptions`. */
export interface PlayOptions {
  readonly grader: Grader;
  readonly backend: string | undefined;
  readonly kernel: string | undefined;
  readonly threads: number | undefined;
  readonly signal: AbortSignal | undefined;
}

/** A policy that plays an episode in one call. */
type WholeRunPolicy = Pick<Policy, 'choice' | 'options'>;

export const isStepped = <Other extends object>(policy: Other | SteppedPolicy): policy is SteppedPolicy =>
  'open' in policy;

/**
 * Plays the episodes, one in each environment.
 * @param recorder records every step; null for no recording. It does not change results.
 * @returns views of the environment's outputs. @throws the signal's reason.
 */
export async function play(
  env: VecEnv,
  batch: EpisodeBatch,
  policy: WholeRunPolicy | SteppedPolicy,
  options: PlayOptions,
  recorder: EvaluationRecorder | null,
): Promise<RunResult> {
  const { observations } = env.reset({ seed: batch.seeds, profiles: batch.profile });
  if (isStepped(policy)) return playSteps(env, observations, batch, policy, options, recorder);
  const choice = policy.choice(env.numEnvs, options.grader.name);
  if (recorder === null) return env.run(choice, policy.options);
  const first = observations.slice();
  const result = env.run(choice, { ...policy.options, trajectory: true });
  recorder.run(first, result.trajectory!, policy.options.beliefs);
  return result;
}

async function playSteps(
  env: VecEnv,
  first: Float32Array,
  batch: EpisodeBatch,
  policy: SteppedPolicy,
  { signal, ...settings }: PlayOptions,
  recorder: EvaluationRecorder | null,
): Promise<RunResult> {
  using player = policy.open({ numEnvs: env.numEnvs, ...settings }, () => trueProfilesOf(env.world, batch));
  let observations = first;
  for (let step = 0; ; step++) {
    const { actions, beliefs } = player.decide(observations);
    const before = recorder && observations.slice();
    const result = env.step(actions, { beliefs });
    if (before !== null) {
      const reasons = (i: number) => player.reasons(i);
      recorder?.step(before, { actions, beliefs, rewards: result.rewards, reasons });
    }
    if (step === NUM_STEPS - 1) return { ...result, trajectory: null };
    observations = result.observations;
    // Lets signals and timers run, because a step may take a second.
    await yieldTurn();
    signal?.throwIfAborted();
  }
}

/** Returns the true profiles of a batch, for an oracle, f32 [n, 16]. */
export function trueProfilesOf(world: World, { profile, seeds }: EpisodeBatch): Float32Array {
  const profiles = new Float32Array(seeds.length * PROFILE_SIZE);
  const episode = new Episode({ world });
  seeds.forEach((seed, i) => {
    profiles.set(episode.reset(seed, { profile }).profile, i * PROFILE_SIZE);
  });
  return profiles;
}

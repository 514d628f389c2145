/** How weeks of an evaluation are played: in one call, or step by step by whoever is asked. */
import type { Grader } from '../graders/grader.js';
import type { Policy } from '../policies/policies.js';
import type { SteppedPolicy } from '../policies/stepped.js';
import { Episode } from '../reference/episode.js';
import type { RunResult } from '../vec-env/options.js';
import { othersTurn } from '../vec-env/turns.js';
import type { VecEnv } from '../vec-env.js';
import { NUM_STEPS, PROFILE_SIZE } from '../world/fields.js';
import type { World } from '../world/world.js';
import type { WeekRecorder } from './recording.js';
import type { Weeks } from './weeks.js';

/** Under which grader weeks are played, and by what, as `EvaluateOptions` say it. */
export interface PlayOptions {
  readonly grader: Grader;
  readonly backend: string | undefined;
  readonly kernel: string | undefined;
  readonly threads: number | undefined;
  readonly signal: AbortSignal | undefined;
}

/** What plays a week in one call. */
type Run = Pick<Policy, 'choice' | 'options'>;

export const isStepped = <Other extends object>(policy: Other | SteppedPolicy): policy is SteppedPolicy =>
  'open' in policy;

/**
 * Plays the weeks, one in each slot.
 * @param recorder notes every step, which changes no result; null where nobody asks.
 * @returns the environment's views. @throws the signal's reason.
 */
export async function play(
  env: VecEnv,
  weeks: Weeks,
  policy: Run | SteppedPolicy,
  options: PlayOptions,
  recorder: WeekRecorder | null,
): Promise<RunResult> {
  const { observations } = env.reset({ seed: weeks.seeds, profiles: weeks.profile });
  if (isStepped(policy)) return playSteps(env, observations, weeks, policy, options, recorder);
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
  weeks: Weeks,
  policy: SteppedPolicy,
  { signal, ...told }: PlayOptions,
  recorder: WeekRecorder | null,
): Promise<RunResult> {
  using player = policy.open({ numEnvs: env.numEnvs, ...told }, () => personsOf(env.world, weeks));
  let observations = first;
  for (let step = 0; ; step++) {
    const { actions, beliefs } = player.decide(observations);
    const seen = recorder && observations.slice();
    const result = env.step(actions, { beliefs });
    if (seen !== null) {
      const reasons = (i: number) => player.reasons(i);
      recorder?.step(seen, { actions, beliefs, rewards: result.rewards, reasons });
    }
    if (step === NUM_STEPS - 1) return { ...result, trajectory: null };
    observations = result.observations;
    // A step may take a second.
    await othersTurn();
    signal?.throwIfAborted();
  }
}

/** f32 [n, 16]: who the persons are, for an oracle. */
export function personsOf(world: World, { profile, seeds }: Weeks): Float32Array {
  const persons = new Float32Array(seeds.length * PROFILE_SIZE);
  const episode = new Episode({ world });
  seeds.forEach((seed, i) => {
    persons.set(episode.reset(seed, { profile }).profile, i * PROFILE_SIZE);
  });
  return persons;
}

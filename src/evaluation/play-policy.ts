/** Plays the episodes of a batch with one policy: in one call, or step by step. */

import type {
  FixedPolicy,
  PolicyDescription,
  WholeEpisodePolicy,
} from '../agents/policies/fixed-policies.js';
import type { SteppedPolicy } from '../agents/policies/stepped-policies.js';
import { yieldTurn } from '../engine/engine-calls.js';
import type { Grader } from '../engine/graders/grader.js';
import type { Env } from '../engine/node.js';
import type { EpisodeStarts, PolicyPlayer, PolicySetting } from '../engine/policy/policy.js';
import { Episode } from '../engine/reference/episode.js';
import type { RunResult } from '../engine/vec-env/vec-env-options.js';
import type { Player } from '../rollouts/trajectories/trajectory-episode.js';
import type { Condition } from '../world/conditions.js';
import { NUM_STEPS, PROFILE_SIZE } from '../world/fields.js';
import type { World } from '../world/world.js';
import type { EpisodeBatch } from './evaluate-options.js';
import type { LlmEpisodes } from './llm-episodes.js';
import type { EvaluationRecorder } from './record-trajectories.js';

const RESULTS = ['components', 'beliefMae', 'firstHalfMeans', 'secondHalfMeans', 'finalScores'] as const;

/** Results of n finished episodes: `components` f32 [n, 8], row-major; the others f32 [n]. */
export type Graded = Pick<RunResult, (typeof RESULTS)[number]>;

/** Returns the results that `change` returns for each. By default they are copies. */
export const copyOf = (results: Graded, change = (values: Float32Array) => values.slice()): Graded =>
  Object.fromEntries(RESULTS.map((name) => [name, change(results[name])])) as Record<
    keyof Graded,
    Float32Array
  >;

/** The open players of policies, which play further batches of the same size. */
export class PolicyPlayers implements Disposable {
  readonly #open = new Map<SteppedPolicy, { readonly numEnvs: number; readonly player: PolicyPlayer }>();

  /**
   * Returns a player of a policy, reset for `episodes`. Opens the policy unless its open player has the same number of
   * environments and can begin further episodes.
   */
  async begin(
    policy: SteppedPolicy,
    setting: PolicySetting,
    episodes: EpisodeStarts,
    signal: AbortSignal | undefined,
  ): Promise<PolicyPlayer> {
    let opened = this.#open.get(policy);
    if (opened?.numEnvs !== setting.numEnvs || opened.player.reset === undefined) {
      this.#close(policy);
      opened = { numEnvs: setting.numEnvs, player: await policy.open(setting, signal) };
      this.#open.set(policy, opened);
    }
    await opened.player.reset?.(episodes);
    return opened.player;
  }

  #close(policy: SteppedPolicy): void {
    this.#open.get(policy)?.player[Symbol.dispose]?.();
    this.#open.delete(policy);
  }

  [Symbol.dispose](): void {
    for (const policy of [...this.#open.keys()]) this.#close(policy);
  }
}

/** The grader, engine and signal of `EvaluateOptions`. */
export interface PlayOptions {
  readonly grader: Grader;
  readonly backend: string | undefined;
  readonly kernel: string | undefined;
  readonly threads: number | undefined;
  readonly signal: AbortSignal | undefined;
  /** The players of stepped policies. */
  readonly players: PolicyPlayers;
}

/** Seeds with one choice of profiles for all, or one for each seed. */
export interface Episodes extends Pick<EpisodeBatch, 'seeds'> {
  readonly profile: string | readonly string[];
}

/** A policy that requests every action from a language model. */
export interface LlmPolicy extends PolicyDescription {
  readonly kind: 'model';
  readonly player: Player;
  /** Returns the model's episodes under conditions, before any is played. */
  episodesOf(conditions: readonly Condition[]): Promise<LlmEpisodes>;
}

/** A policy under its name in results, of any kind. */
export type NamedPolicy = FixedPolicy | SteppedPolicy | LlmPolicy;

/** Returns the player of a policy: the fields by which trajectories identify it. */
export const playerOf = (policy: NamedPolicy): Player =>
  policy.kind === 'model'
    ? policy.player
    : {
        teacher: policy.name,
        model: null,
        objective: policy.objective,
        oracle: policy.usesHiddenState,
      };

/**
 * Plays the episodes, one in each environment.
 * @param recorder records every step; null for no recording. Recording does not change results.
 * @returns views of the environment's outputs. @throws the errors of a policy (engine/policy/policy.ts); the signal's reason.
 */
export async function playPolicy(
  env: Env,
  batch: Episodes,
  policy: WholeEpisodePolicy | SteppedPolicy,
  options: PlayOptions,
  recorder: EvaluationRecorder | null,
): Promise<RunResult> {
  const { observations } = await env.reset({ seed: batch.seeds, profiles: batch.profile });
  if (policy.kind === 'stepped') return playSteps(env, observations, batch, policy, options, recorder);
  const choice = policy.choice(env.numEnvs, options.grader.name);
  if (recorder === null) return await env.run(choice, policy.options);
  const first = observations.slice();
  const result = await env.run(choice, { ...policy.options, trajectory: true });
  recorder.run(first, result.trajectory!, policy.options.beliefs);
  return result;
}

/** Plays the episodes with a policy that is called at each step. @param first f32 [n, 22]: observations after the reset. */
async function playSteps(
  env: Env,
  first: Float32Array,
  batch: Episodes,
  policy: SteppedPolicy,
  { signal, players, ...settings }: PlayOptions,
  recorder: EvaluationRecorder | null,
): Promise<RunResult> {
  const { numEnvs, world } = env;
  const playing = new Uint8Array(numEnvs).fill(1);
  const episodes = {
    mask: playing.slice(),
    seeds: batch.seeds,
    profiles: () => trueProfilesOf(world, batch),
  };
  const player = await players.begin(policy, { numEnvs, world, ...settings }, episodes, signal);
  let observations = first;
  for (let step = 0; ; step++) {
    const steps = new Uint8Array(numEnvs).fill(step);
    const { actions, beliefs = null } = await player.act({ observations, steps, playing });
    const before = recorder && observations.slice();
    const result = await env.step(actions, { beliefs: beliefs ?? undefined });
    if (before !== null) {
      const reasons = await reasonsOf(player, numEnvs);
      recorder?.step(before, {
        actions,
        beliefs: beliefs as Float32Array | null,
        rewards: result.rewards,
        reasons,
      });
    }
    if (step === NUM_STEPS - 1) return { ...result, trajectory: null };
    observations = result.observations;
    // Lets signals and timers run, because a step may take a second.
    await yieldTurn();
    signal?.throwIfAborted();
  }
}

/** Returns the reasons for the last action in each environment; undefined if the player has no `reasons`. */
async function reasonsOf(player: PolicyPlayer, numEnvs: number): Promise<string[] | undefined> {
  if (player.reasons === undefined) return undefined;
  const reasons: string[] = [];
  for (let i = 0; i < numEnvs; i++) reasons.push(await player.reasons(i));
  return reasons;
}

/** Returns the true profiles of a batch, for an oracle, f32 [n, 16]. */
export function trueProfilesOf(world: World, { profile, seeds }: Episodes): Float32Array {
  const profiles = new Float32Array(seeds.length * PROFILE_SIZE);
  const episode = new Episode({ world });
  seeds.forEach((seed, i) => {
    const mode = typeof profile === 'string' ? profile : profile[i];
    profiles.set(episode.reset(seed, { profile: mode }).profile, i * PROFILE_SIZE);
  });
  return profiles;
}

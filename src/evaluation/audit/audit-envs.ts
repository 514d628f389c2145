/** Plays the episodes of an audit, on fresh seeds: those from FRESH_FIRST on (audit-options.ts). */
import { repeatActions } from '../../agents/policies/open-loop.js';
import type { Trajectory } from '../../engine/backends/backend.js';
import { yieldTurn } from '../../engine/engine-calls.js';
import { type Env, openEnv, type RunOptions } from '../../engine/node.js';
import type { RunResult } from '../../engine/vec-env/vec-env-options.js';
import {
  type Bands,
  bandsOf,
  commonActionsOf,
  type StepRewards,
  stepRewardsOf,
} from '../../figures/episode-means.js';
import { NUM_STEPS } from '../../world/fields.js';
import { copyOf, type Graded } from '../play-policy.js';
import { type AuditProfiles, type AuditRequest, freshSeeds, profileChoice } from './audit-options.js';
import { type FittedBeliefs, statedBeliefs } from './beliefs.js';
import type { Player } from './players.js';

/** A player's episodes, in the order of the fresh seeds. */
export interface Play extends Graded {
  readonly player: Player;
  /** u32 [n]: all fresh seeds, or the first n of them if the player has actions for n episodes. */
  readonly seeds: Uint32Array;
}

/** The environments of an audit: a batch for all fresh seeds, and one for each smaller number of episodes. */
export class AuditEnvs implements AsyncDisposable {
  readonly #request: AuditRequest;
  readonly #beliefs: FittedBeliefs;
  readonly #profiles: AuditProfiles;
  readonly #envs = new Map<number, Env>();

  /**
   * Opens no environment yet; `env`, `play` and `playWithTrajectory` do.
   * @param beliefs the constant beliefs fitted to these profiles.
   */
  constructor(request: AuditRequest, beliefs: FittedBeliefs, profiles: AuditProfiles = 'sampled') {
    this.#request = request;
    this.#beliefs = beliefs;
    this.#profiles = profiles;
  }

  /** The batch for all fresh seeds. */
  get env(): Promise<Env> {
    return this.#envOf(this.#request.episodes);
  }

  async #envOf(numEnvs: number): Promise<Env> {
    const { engine, weights: grader } = this.#request;
    const profiles = profileChoice(this.#profiles, numEnvs);
    const env = this.#envs.get(numEnvs) ?? (await openEnv({ numEnvs, grader, profiles, ...engine }));
    this.#envs.set(numEnvs, env);
    return env;
  }

  /** Plays all fresh seeds, or the first n if the player has a sequence for each of n episodes. */
  async play(player: Player): Promise<Play> {
    const { seeds, result } = await this.#run(player, {});
    return { player, seeds, ...copyOf(result) };
  }

  /** Plays the same episodes as `play` and returns every step. `finalScores` is a view, valid until the next call. */
  async playWithTrajectory(player: Player): Promise<{
    seeds: Uint32Array;
    trajectory: Trajectory;
    finalScores: Float32Array;
  }> {
    const { seeds, result } = await this.#run(player, { trajectory: true });
    return { seeds, trajectory: result.trajectory!, finalScores: result.finalScores };
  }

  async #run(
    player: Player,
    options: Pick<RunOptions, 'trajectory'>,
  ): Promise<{ seeds: Uint32Array; result: RunResult }> {
    // Lets signals and timers run.
    await yieldTurn();
    this.#request.signal?.throwIfAborted();
    const { actions } = player;
    const isForAll = typeof actions === 'string' || actions.length === NUM_STEPS;
    const env = await this.#envOf(isForAll ? this.#request.episodes : actions.length / NUM_STEPS);
    const seeds = freshSeeds(env.numEnvs);
    await env.reset({ seed: seeds });
    const choice = typeof actions === 'string' || !isForAll ? actions : repeatActions(actions, env.numEnvs);
    const beliefs = await this.#beliefsOf(player, env, seeds);
    return { seeds, result: await env.run(choice, { ...options, beliefs }) };
  }

  async #beliefsOf(
    { belief, beliefs }: Player,
    env: Env,
    seeds: Uint32Array,
  ): Promise<ArrayLike<number> | undefined> {
    return belief === 'own' ? beliefs! : statedBeliefs(belief, env, seeds, this.#beliefs);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const env of this.#envs.values()) await env.close();
  }
}

/** The mean episode of a policy. */
export interface MeanEpisode {
  readonly policy: string;
  /** u8 [28]: the action of each step; the most common action if episodes differ. */
  readonly actions: Uint8Array;
  /** Whether the policy plays these actions in all episodes. */
  readonly isSingleSequence: boolean;
  /** Percentiles of each meter after each step. */
  readonly bands: Bands;
  /** The mean reward of each step and each half, without the noise and the terminal term. */
  readonly rewards: StepRewards;
}

/**
 * The policies in the figures. The sequences found for single components (role 'push') are drawn too. Of policies that differ
 * only in beliefs, one is drawn.
 */
const DRAWN_POLICIES = [
  'heuristic',
  'open-loop',
  'open-loop-honest',
  'reactive',
  'planner',
  'oracle-open-loop+truth',
];

/** Returns the data of a player, [] if the figures omit it. */
export async function meanEpisodeOf(envs: AuditEnvs, player: Player): Promise<MeanEpisode[]> {
  const { name, role, searchResult } = player;
  if (!DRAWN_POLICIES.includes(name) && !(role === 'push' && searchResult !== null)) return [];
  const { seeds, trajectory, finalScores } = await envs.playWithTrajectory(player);
  return [
    {
      policy: name,
      actions: commonActionsOf(trajectory.actions),
      isSingleSequence: searchResult !== null,
      bands: bandsOf(trajectory.meters),
      rewards: stepRewardsOf({ rewards: trajectory.rewards, finalScores, seeds }),
    },
  ];
}

/** Plays users' policies as baselines of a re-evaluation, on the seeds of the stored episodes. */

import { type Grader, graderWeights } from '../../engine/graders/grader.js';
import { ResizableAnyEnv } from '../../rollouts/resizable-env.js';
import type { ReplayEngine } from '../../rollouts/trajectories/episode-replayer.js';
import { PolicyPlayers, playPolicy } from '../play-policy.js';
import type { UserPolicy } from '../user-policy.js';
import { copyOf, type EpisodeIdentity, type Graded } from './baselines.js';

/** Users' policies as baselines, with their environments and players. */
export class UserBaselines implements AsyncDisposable {
  readonly #policies: readonly UserPolicy[];
  readonly #engine: ReplayEngine;
  readonly #envs = new Map<Grader, { readonly env: ResizableAnyEnv; readonly players: PolicyPlayers }>();

  constructor({ backend, kernel, threads }: ReplayEngine, policies: readonly UserPolicy[]) {
    this.#engine = { backend, kernel, threads };
    this.#policies = policies;
  }

  get names(): readonly string[] {
    return this.#policies.map(({ name }) => name);
  }

  /** Plays the policies. Returns their names and results, newly allocated. @param episodes at least one. */
  async play(episodes: readonly EpisodeIdentity[], grader: Grader): Promise<[string, Graded][]> {
    const results: [string, Graded][] = [];
    for (const policy of this.#policies)
      results.push([policy.name, await this.#play(policy, episodes, grader)]);
    return results;
  }

  async #play(policy: UserPolicy, episodes: readonly EpisodeIdentity[], grader: Grader): Promise<Graded> {
    const { backend, kernel, threads } = this.#engine;
    const { env, players } = this.#envsOf(grader);
    const batch = {
      seeds: Uint32Array.from(episodes, ({ seed }) => seed),
      profile: episodes.map(({ profile_mode }) => profile_mode),
    };
    const options = { grader, backend, kernel, threads, signal: undefined, players };
    return copyOf(await playPolicy(await env.of(episodes.length), batch, policy, options, null));
  }

  /** Returns the environments and players for a grader. Creates them at the first call. */
  #envsOf(grader: Grader) {
    const existing = this.#envs.get(grader);
    if (existing !== undefined) return existing;
    const env = new ResizableAnyEnv({ ...this.#engine, grader: graderWeights(grader) });
    const opened = { env, players: new PolicyPlayers() };
    this.#envs.set(grader, opened);
    return opened;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { env, players } of this.#envs.values()) {
      players[Symbol.dispose]();
      await env[Symbol.asyncDispose]();
    }
  }
}

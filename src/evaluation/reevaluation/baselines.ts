/** Plays the baselines of a re-evaluation on the seeds of the stored episodes: built-in policies and policies of users. */
import { type FixedPolicy, findPolicy } from '../../agents/policies/fixed-policies.js';
import { type Grader, graderWeights } from '../../engine/graders/grader.js';
import { gradeAll } from '../../engine/graders/regrade.js';
import { ResizableAnyEnv } from '../../rollouts/resizable-env.js';
import type { ReplayEngine } from '../../rollouts/trajectories/episode-replayer.js';
import { copyOf, type Graded, PolicyPlayers, playPolicy } from '../play-policy.js';
import type { UserPolicy } from '../user-policy.js';

export type { Graded };

/** The baselines in the order in which tables list them. Their beliefs do not depend on observations. */
export const BASELINES: readonly FixedPolicy[] = [
  'random',
  'heuristic',
  'open-loop',
  'heuristic+constant',
  'open-loop+constant',
].map(findPolicy);

/** The baselines of paired comparisons: without beliefs, and with the constant belief. */
export const PAIRED_BASELINES = { heuristic: 'heuristic', constant: 'heuristic+constant' } as const;

/** The seed and profile mode of a stored episode. */
export interface EpisodeIdentity {
  readonly seed: number;
  /** 'sampled', 'discrete' or a profile's name. */
  readonly profile_mode: string;
}

/** Plays the baselines on the seeds and profiles of stored episodes. */
export class BaselinePlayer implements AsyncDisposable {
  readonly #engine: ReplayEngine;
  readonly #policies: readonly (FixedPolicy | UserPolicy)[];
  /** The environments and the open players of users' policies, by grader. */
  readonly #opened = new Map<Grader, { readonly envs: ResizableAnyEnv; readonly players: PolicyPlayers }>();

  /** Opens nothing yet. @param policies further baselines, of users. */
  constructor({ backend, kernel, threads }: ReplayEngine, policies: readonly UserPolicy[] = []) {
    this.#engine = { backend, kernel, threads };
    this.#policies = [...BASELINES, ...policies];
  }

  /** The names of all baselines, in the order in which tables list them. */
  get names(): readonly string[] {
    return this.#policies.map(({ name }) => name);
  }

  /** Returns newly allocated results by name. @param episodes at least one. @throws as `createVecEnv` and `playPolicy`. */
  async play(episodes: readonly EpisodeIdentity[], grader: Grader): Promise<ReadonlyMap<string, Graded>> {
    const { backend, kernel, threads } = this.#engine;
    const { envs, players } = this.#openedFor(grader);
    const env = await envs.of(episodes.length);
    const batch = {
      seeds: Uint32Array.from(episodes, ({ seed }) => seed),
      profile: episodes.map(({ profile_mode }) => profile_mode),
    };
    const options = { grader, backend, kernel, threads, signal: undefined, players };
    const results = new Map<string, Graded>();
    for (const policy of this.#policies)
      results.set(policy.name, copyOf(await playPolicy(env, batch, policy, options, null)));
    return results;
  }

  #openedFor(grader: Grader) {
    const existing = this.#opened.get(grader);
    if (existing !== undefined) return existing;
    const envs = new ResizableAnyEnv({ ...this.#engine, grader: graderWeights(grader) });
    const opened = { envs, players: new PolicyPlayers() };
    this.#opened.set(grader, opened);
    return opened;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { envs, players } of this.#opened.values()) {
      players[Symbol.dispose]();
      await envs[Symbol.asyncDispose]();
    }
  }
}

/** Grades components, without playing episodes. */
export const gradeResults = (results: Graded, grader: Grader): Graded => ({
  ...results,
  finalScores: gradeAll(results.components, graderWeights(grader)),
});

/** Returns copies of the results of some episodes. */
export const pickEpisodes = (graded: Graded, indices: readonly number[]): Graded =>
  copyOf(graded, (values) => {
    const width = values.length / graded.finalScores.length;
    const selected = new Float32Array(indices.length * width);
    for (const [to, from] of indices.entries()) {
      selected.set(values.subarray(from * width, (from + 1) * width), to * width);
    }
    return selected;
  });

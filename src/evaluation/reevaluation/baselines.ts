/** Plays the baselines of a re-evaluation on the seeds of the stored episodes: built-in policies and policies of users. */
import { type FixedPolicy, findPolicy } from '../../agents/policies/fixed-policies.js';
import { type Grader, graderWeights } from '../../engine/graders/grader.js';
import { gradeAll } from '../../engine/graders/regrade.js';
import type { RunResult } from '../../engine/vec-env/vec-env-options.js';
import { ResizableAnyEnv } from '../../rollouts/resizable-env.js';
import type { ReplayEngine } from '../../rollouts/trajectories/episode-replayer.js';
import { PolicyPlayers, playPolicy } from '../play-policy.js';
import type { UserPolicy } from '../user-policy.js';
import type { ComponentResults } from './trajectory-replayer.js';

/** Components and scores under one grader. */
export interface Graded extends ComponentResults {
  /** f32 [n]. */
  readonly finalScores: Float32Array;
}

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
  readonly #envs: ResizableAnyEnv;

  constructor({ backend, kernel, threads }: ReplayEngine) {
    this.#envs = new ResizableAnyEnv({ backend, kernel, threads });
  }

  /** Returns newly allocated results by names of BASELINES. @param episodes at least one. @throws as `createVecEnv`. */
  async play(episodes: readonly EpisodeIdentity[], grader: Grader): Promise<ReadonlyMap<string, Graded>> {
    const env = await this.#envs.of(episodes.length);
    const weights = graderWeights(grader);
    const start = {
      seed: Uint32Array.from(episodes, ({ seed }) => seed),
      profiles: episodes.map(({ profile_mode }) => profile_mode),
      graders: weights,
    };
    const results = new Map<string, Graded>();
    for (const { name, choice, options } of BASELINES) {
      await env.reset(start);
      results.set(name, copyOf(await env.run(choice(episodes.length, grader.name), options)));
    }
    return results;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#envs[Symbol.asyncDispose]();
  }
}

/** Returns copies of the results of a run, which are views. */
export const copyOf = ({
  components,
  beliefMae,
  firstHalfMeans,
  secondHalfMeans,
  finalScores,
}: RunResult): Graded => ({
  components: components.slice(),
  beliefMae: beliefMae.slice(),
  firstHalfMeans: firstHalfMeans.slice(),
  secondHalfMeans: secondHalfMeans.slice(),
  finalScores: finalScores.slice(),
});

/** Grades components, without playing episodes. */
export const gradeResults = (results: ComponentResults, grader: Grader): Graded => ({
  ...results,
  finalScores: gradeAll(results.components, graderWeights(grader)),
});

/** Returns copies of the results of some episodes. */
export function pickEpisodes(graded: Graded, indices: readonly number[]): Graded {
  const selectRows = (values: Float32Array): Float32Array => {
    const width = values.length / graded.finalScores.length;
    const selected = new Float32Array(indices.length * width);
    for (const [to, from] of indices.entries()) {
      selected.set(values.subarray(from * width, (from + 1) * width), to * width);
    }
    return selected;
  };
  return {
    components: selectRows(graded.components),
    beliefMae: selectRows(graded.beliefMae),
    firstHalfMeans: selectRows(graded.firstHalfMeans),
    secondHalfMeans: selectRows(graded.secondHalfMeans),
    finalScores: selectRows(graded.finalScores),
  };
}

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

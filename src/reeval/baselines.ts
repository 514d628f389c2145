/** What every teacher is measured against, on its own seeds. */
import { EnvOfSize } from '../evaluate/env-of-size.js';
import { type Grader, graderWeights } from '../graders/grader.js';
import { gradeAll } from '../graders/regrade.js';
import { findPolicy, type Policy } from '../policies/policies.js';
import type { RunResult } from '../vec-env/options.js';
import type { Earned, Engine } from './replayer.js';

/** What is earned, and its scores under one grader. */
export interface Graded extends Earned {
  /** f32 [n]. */
  readonly finalScores: Float32Array;
}

/** In the order of a table. All know nobody. */
export const BASELINES: readonly Policy[] = [
  'random',
  'heuristic',
  'blind-tape',
  'heuristic+constant',
  'blind-tape+constant',
].map(findPolicy);

/** Whose scores are to be beaten: what plays without beliefs, and what believes without knowing. */
export const RIVALS = { heuristic: 'heuristic', constant: 'heuristic+constant' } as const;

export interface Week {
  readonly seed: number;
  readonly profile_mode: string;
}

/** Plays the baselines, each episode with the person and luck of a stored one. */
export class BaselinePlayer implements Disposable {
  readonly #envs: EnvOfSize;

  constructor({ backend, kernel, threads }: Engine) {
    this.#envs = new EnvOfSize({ backend, kernel, threads });
  }

  /** By the names of BASELINES; newly allocated. @param weeks at least one. */
  play(weeks: readonly Week[], grader: Grader): ReadonlyMap<string, Graded> {
    const env = this.#envs.of(weeks.length);
    const weights = graderWeights(grader);
    const start = {
      seed: Uint32Array.from(weeks, ({ seed }) => seed),
      profiles: weeks.map(({ profile_mode }) => profile_mode),
      graders: weights,
    };
    const entries = BASELINES.map(({ name, choice, options }) => {
      env.reset(start);
      return [name, copyOf(env.run(choice(weeks.length, grader.name), options))] as const;
    });
    return new Map(entries);
  }

  [Symbol.dispose](): void {
    this.#envs[Symbol.dispose]();
  }
}

const copyOf = ({ components, beliefMae, earlyMeans, lateMeans, finalScores }: RunResult): Graded => ({
  components: components.slice(),
  beliefMae: beliefMae.slice(),
  earlyMeans: earlyMeans.slice(),
  lateMeans: lateMeans.slice(),
  finalScores: finalScores.slice(),
});

/** Scores under a grader, without playing. */
export const gradedBy = (earned: Earned, grader: Grader): Graded => ({
  ...earned,
  finalScores: gradeAll(earned.components, graderWeights(grader)),
});

/** Some of the episodes. */
export function picked(graded: Graded, indices: readonly number[]): Graded {
  const take = (values: Float32Array): Float32Array => {
    const width = values.length / graded.finalScores.length;
    const taken = new Float32Array(indices.length * width);
    for (const [to, from] of indices.entries()) {
      taken.set(values.subarray(from * width, (from + 1) * width), to * width);
    }
    return taken;
  };
  return {
    components: take(graded.components),
    beliefMae: take(graded.beliefMae),
    earlyMeans: take(graded.earlyMeans),
    lateMeans: take(graded.lateMeans),
    finalScores: take(graded.finalScores),
  };
}

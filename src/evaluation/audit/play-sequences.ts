/** Plays the episodes of an audit, which have fresh seeds. */

import { repeatActions } from '../../agents/policies/open-loop.js';
import type { Trajectory } from '../../engine/backends/backend.js';
import { createVecEnv, type RunOptions, type VecEnv } from '../../engine/node.js';
import type { RunResult } from '../../engine/vec-env/vec-env-options.js';
import { NUM_BELIEFS, NUM_STEPS } from '../../world/fields.js';
import type { AuditRequest } from './audit-options.js';
import { freshSeeds, trainingSeeds } from './audit-seeds.js';
import type { AuditBelief, Player } from './players.js';

/** A player's episodes, one for each fresh seed, in order. */
export interface Play {
  readonly player: Player;
  /** u32 [n]: all fresh seeds, or the first ones, whose profiles have a sequence of their own. */
  readonly seeds: Uint32Array;
  /** f32 [n]: final scores. */
  readonly scores: Float32Array;
  /** f32 [n, 6]: COMPONENT_FIELDS. */
  readonly components: Float32Array;
  /** f32 [n] each. */
  readonly beliefMae: Float32Array;
  readonly firstHalfMeans: Float32Array;
  readonly secondHalfMeans: Float32Array;
}

const CONSTANT = [0.5, 0.5, 0.5];

/** The environments of an audit: one batch for all fresh seeds, one for the profiles with a sequence of their own. */
export class AuditEnvs implements Disposable {
  readonly #all: VecEnv;
  readonly #ofProfiles: VecEnv;
  readonly #request: AuditRequest;
  readonly #median: readonly number[];

  constructor(request: AuditRequest) {
    const { episodes, profiles, engine, weights } = request;
    this.#request = request;
    this.#median = medianTargets(request);
    this.#all = createVecEnv({ numEnvs: episodes, grader: weights, ...engine });
    this.#ofProfiles = createVecEnv({ numEnvs: profiles, grader: weights, ...engine });
  }

  /** An environment with the audit's settings. */
  get env(): VecEnv {
    return this.#all;
  }

  /** Plays all fresh seeds, or those of the profiles if the player has a sequence for each. */
  play(player: Player): Play {
    const { seeds, result } = this.#run(player, {});
    return {
      player,
      seeds,
      scores: result.finalScores.slice(),
      components: result.components.slice(),
      beliefMae: result.beliefMae.slice(),
      firstHalfMeans: result.firstHalfMeans.slice(),
      secondHalfMeans: result.secondHalfMeans.slice(),
    };
  }

  /** Plays the same episodes and returns every step. The arrays are views, valid until the next call. */
  playWithTrajectory(player: Player): {
    seeds: Uint32Array;
    trajectory: Trajectory;
    finalScores: Float32Array;
  } {
    const { seeds, result } = this.#run(player, { trajectory: true });
    return { seeds, trajectory: result.trajectory!, finalScores: result.finalScores };
  }

  #run({ actions, belief }: Player, options: RunOptions): { seeds: Uint32Array; result: RunResult } {
    const hasOwnSequences = typeof actions !== 'string' && actions.length !== NUM_STEPS;
    const env = hasOwnSequences ? this.#ofProfiles : this.#all;
    const seeds = freshSeeds(hasOwnSequences ? this.#request.profiles : this.#request.episodes);
    env.reset({ seed: seeds });
    const choice =
      typeof actions === 'string' || hasOwnSequences ? actions : repeatActions(actions, env.numEnvs);
    return { seeds, result: env.run(choice, { ...options, ...this.#beliefs(env, belief) }) };
  }

  #beliefs(env: VecEnv, belief: AuditBelief): RunOptions {
    switch (belief) {
      case 'none':
        return {};
      case 'constant':
        return { beliefs: CONSTANT };
      case 'median':
        return { beliefs: this.#median };
      case 'truth':
        return { beliefs: repeatAtEveryStep(env.beliefTargets()) };
    }
  }

  [Symbol.dispose](): void {
    this.#all.close();
    this.#ofProfiles.close();
  }
}

/** Repeats beliefs f32 [n, 3] at every step. Returns f32 [n, 28, 3]. */
function repeatAtEveryStep(beliefs: Float32Array): Float32Array {
  const sequence = new Float32Array(beliefs.length * NUM_STEPS);
  for (let offset = 0; offset < sequence.length; offset += NUM_BELIEFS) {
    const env = Math.floor(offset / (NUM_STEPS * NUM_BELIEFS));
    sequence.set(beliefs.subarray(env * NUM_BELIEFS, (env + 1) * NUM_BELIEFS), offset);
  }
  return sequence;
}

/** Returns the median belief targets of the training seeds. The median minimizes the mean absolute error. */
function medianTargets({ engine }: AuditRequest): number[] {
  const seeds = trainingSeeds();
  using env = createVecEnv({ numEnvs: seeds.length, ...engine });
  env.reset({ seed: seeds });
  const targets = env.beliefTargets();
  return Array.from({ length: NUM_BELIEFS }, (_, k) => {
    const column = targets.filter((_, i) => i % NUM_BELIEFS === k).sort();
    return column[Math.floor(column.length / 2)];
  });
}

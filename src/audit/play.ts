/** What players earn on fresh seeds. */
import type { Trajectory } from '../backends/backend.js';
import { repeatTape } from '../policies/tapes.js';
import type { RunResult } from '../vec-env/options.js';
import { createVecEnv, type RunOptions, type VecEnv } from '../vec-env.js';
import { NUM_BELIEFS, NUM_STEPS } from '../world/fields.js';
import type { AuditRequest } from './options.js';
import type { AuditBelief, Player } from './players.js';
import { freshSeeds, trainingSeeds } from './seeds.js';

/** A player's weeks, one a fresh seed, in their order. */
export interface Play {
  readonly player: Player;
  /** u32 [n]: those of the first persons only, for who plays a tape of each person's own. */
  readonly seeds: Uint32Array;
  /** f32 [n]: final scores. */
  readonly scores: Float32Array;
  /** f32 [n, 6]: COMPONENT_FIELDS. */
  readonly components: Float32Array;
  /** f32 [n] each. */
  readonly beliefMae: Float32Array;
  readonly earlyMeans: Float32Array;
  readonly lateMeans: Float32Array;
}

const CONSTANT = [0.5, 0.5, 0.5];

export class Stage implements Disposable {
  readonly #all: VecEnv;
  readonly #known: VecEnv;
  readonly #request: AuditRequest;
  readonly #median: readonly number[];

  constructor(request: AuditRequest) {
    const { episodes, persons, engine, weights } = request;
    this.#request = request;
    this.#median = medianTargets(request);
    this.#all = createVecEnv({ numEnvs: episodes, grader: weights, ...engine });
    this.#known = createVecEnv({ numEnvs: persons, grader: weights, ...engine });
  }

  /** An environment that runs as all of an audit do. */
  get env(): VecEnv {
    return this.#all;
  }

  /** Plays the fresh seeds, all or those whose persons have a tape of their own. */
  play(player: Player): Play {
    const { seeds, result } = this.#run(player, {});
    return {
      player,
      seeds,
      scores: result.finalScores.slice(),
      components: result.components.slice(),
      beliefMae: result.beliefMae.slice(),
      earlyMeans: result.earlyMeans.slice(),
      lateMeans: result.lateMeans.slice(),
    };
  }

  /** The same weeks step by step. Its arrays are views, valid until the next call. */
  watch(player: Player): { seeds: Uint32Array; trajectory: Trajectory; finalScores: Float32Array } {
    const { seeds, result } = this.#run(player, { trajectory: true });
    return { seeds, trajectory: result.trajectory!, finalScores: result.finalScores };
  }

  #run({ actions, belief }: Player, options: RunOptions): { seeds: Uint32Array; result: RunResult } {
    const own = typeof actions !== 'string' && actions.length !== NUM_STEPS;
    const env = own ? this.#known : this.#all;
    const seeds = freshSeeds(own ? this.#request.persons : this.#request.episodes);
    env.reset({ seed: seeds });
    const choice = typeof actions === 'string' || own ? actions : repeatTape(actions, env.numEnvs);
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
        return { beliefs: everyStep(env.beliefTargets()) };
    }
  }

  [Symbol.dispose](): void {
    this.#all.close();
    this.#known.close();
  }
}

/** f32 [n, 28, 3] of f32 [n, 3]. */
function everyStep(beliefs: Float32Array): Float32Array {
  const tape = new Float32Array(beliefs.length * NUM_STEPS);
  for (let at = 0; at < tape.length; at += NUM_BELIEFS) {
    const slot = Math.floor(at / (NUM_STEPS * NUM_BELIEFS));
    tape.set(beliefs.subarray(slot * NUM_BELIEFS, (slot + 1) * NUM_BELIEFS), at);
  }
  return tape;
}

/** The belief that is nearest to everybody in training: an absolute error is least at the median. */
function medianTargets({ engine }: AuditRequest): number[] {
  const seeds = trainingSeeds();
  using env = createVecEnv({ numEnvs: seeds.length, ...engine });
  env.reset({ seed: seeds });
  const targets = env.beliefTargets();
  return Array.from({ length: NUM_BELIEFS }, (_, k) => {
    const column = targets.filter((_, at) => at % NUM_BELIEFS === k).sort();
    return column[Math.floor(column.length / 2)];
  });
}

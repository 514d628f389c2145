/** The options of planners, their defaults and their validation. */
import { NODE } from '../../engine/backends/node.js';
import { type GraderLike, graderWeights } from '../../engine/graders/grader.js';
import type { EngineOptions, VecEnvOptions } from '../../engine/vec-env/vec-env-options.js';
import {
  checkBoolean,
  checkFinite,
  checkInteger,
  checkName,
  checkOptions,
  isFloats,
  wrongType,
} from '../../shared/values.js';
import { MAX_THREADS, MAX_U32 } from '../../world/fields.js';
import { createWorld } from '../../world/world.js';
import type { ScorerSettings } from '../search/scorer.js';
import { OBJECTIVES, type Objective } from './objectives.js';
import type { Budget } from './plan-search.js';

/** Options of a `Planner`. The backend, kernel and threads change no result. */
export interface PlannerOptions extends EngineOptions, Readonly<Pick<VecEnvOptions, 'world'>> {
  /** The number of episodes, 1 to 16,384. */
  readonly numEnvs: number;
  /** What the planner maximises: 'score' (default) or 'wellbeing', as `Objective` says. */
  readonly objective?: Objective;
  /** The grader of imagined episodes. Default 'v2'. */
  readonly grader?: GraderLike;
  /**
   * Whether the planner infers the profiles. If not, it plans with the prior and states the belief 0.5 in each dimension.
   * Default true.
   */
  readonly inference?: boolean;
  /**
   * For comparison only: f32 [numEnvs, 16], the true profiles. Then the planner is an oracle, not a valid agent.
   * Default: none.
   */
  readonly oracle?: Float32Array;
  /** The number of posterior samples for each episode, 1 to 1,024. Default 64, for wellbeing 32. */
  readonly posteriorSamples?: number;
  /** The number of new action sequences in each round of a step's search, 4 to 4,096. Default 32. */
  readonly candidates?: number;
  /** The maximum number of rounds of a step's search, 0 to 1,000. Default 16, for wellbeing 8. */
  readonly rounds?: number;
  /**
   * Weight of a bonus for actions that are expected to make the belief more accurate, any finite number. With the weight 1 the
   * bonus is what the more accurate belief is expected to add to the objective: v2 grades the last belief, v3 the beliefs from
   * step 8 on. Default 1.
   */
  readonly curiosity?: number;
  /** u32: seed of the posterior samples, the imagined noise and the search. Default 0. */
  readonly seed?: number;
}

const OPTIONS: readonly (keyof PlannerOptions)[] = [
  'numEnvs',
  'objective',
  'grader',
  'inference',
  'oracle',
  'posteriorSamples',
  'candidates',
  'rounds',
  'curiosity',
  'seed',
  'world',
  'backend',
  'kernel',
  'threads',
];

/** Chosen by hand: more episodes take more memory. */
const MAX_EPISODES = 2 ** 14;
/** The default budgets of the search (plan-search.ts). Larger ones did not improve the scores. */
const BUDGETS: Readonly<Record<Objective, Budget>> = {
  score: { samples: 64, candidates: 32, rounds: 16 },
  wellbeing: { samples: 32, candidates: 32, rounds: 8 },
};
/** The default of the option `curiosity`. */
const CURIOSITY = 1;

/** Validated options of a planner. */
export interface PlannerRequest
  extends Pick<ScorerSettings, 'platform' | 'world' | 'backend' | 'kernel' | 'threads'> {
  readonly numEnvs: number;
  readonly objective: Objective;
  /** f32 [8]. */
  readonly grader: Float32Array;
  readonly inference: boolean;
  readonly oracle: Float32Array | null;
  readonly budget: Budget;
  readonly curiosity: number;
  readonly seed: number;
}

function checkFloats(oracle: unknown): Float32Array {
  if (isFloats(oracle)) return oracle;
  throw wrongType('oracle', 'a Float32Array', oracle, 'Pass 16 floats for each episode.');
}

/** Validates options and adds defaults. */
export function toPlannerRequest(options: PlannerOptions): PlannerRequest {
  checkOptions('planner options', options, OPTIONS);
  const { grader = 'v2', threads, backend, kernel } = options;
  const objective = checkName('objective', options.objective ?? 'score', OBJECTIVES);
  const { samples, candidates, rounds } = BUDGETS[objective];
  return {
    numEnvs: checkInteger('numEnvs', options.numEnvs, 1, MAX_EPISODES),
    objective,
    grader: graderWeights(grader),
    inference: checkBoolean('inference', options.inference ?? true),
    oracle: options.oracle === undefined ? null : checkFloats(options.oracle),
    budget: {
      samples: checkInteger('posteriorSamples', options.posteriorSamples ?? samples, 1, 1024),
      candidates: checkInteger('candidates', options.candidates ?? candidates, 4, 4096),
      rounds: checkInteger('rounds', options.rounds ?? rounds, 0, 1000),
    },
    curiosity: checkFinite('curiosity', options.curiosity ?? CURIOSITY),
    seed: checkInteger('seed', options.seed ?? 0, 0, MAX_U32),
    platform: NODE,
    world: createWorld(options.world),
    backend,
    kernel,
    threads: threads === undefined ? null : checkInteger('threads', threads, 1, MAX_THREADS),
  };
}

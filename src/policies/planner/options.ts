/** What a planner is asked for. */
import { type GraderLike, graderWeights } from '../../graders/grader.js';
import {
  checkBoolean,
  checkFinite,
  checkInteger,
  checkName,
  checkOptions,
  isFloats,
  wrongType,
} from '../../validate/values.js';
import { MAX_THREADS, MAX_U32 } from '../../world/fields.js';
import type { WorldSpec } from '../../world/spec.js';
import { createWorld, type World } from '../../world/world.js';
import type { Budget } from './deliberation.js';
import { OBJECTIVES, type Objective } from './objectives.js';

export interface PlannerOptions {
  /** Episodes that it plays, 1 to 16,384. */
  readonly numEnvs: number;
  /** 'score' (default) or 'wellbeing'. */
  readonly objective?: Objective;
  /** Under which the imagined weeks are graded. Default 'v2'. */
  readonly grader?: GraderLike;
  /** Whether it infers who the persons are. If not, they might be anybody, and its belief is 0.5 each. Default true. */
  readonly inference?: boolean;
  /**
   * For comparison only: f32 [numEnvs, 16], who the persons are. Whoever passes this has an oracle, not an agent.
   * Default: they are not shown.
   */
  readonly oracle?: Float32Array;
  /** Persons that each person might be, 1 to 1,024. Default 64, for wellbeing 32. */
  readonly people?: number;
  /** Tapes in each round of a step's search, 4 to 4,096. Default 32. */
  readonly candidates?: number;
  /** Rounds of a step's search, 0 to 1,000. Default 16, for wellbeing 8. */
  readonly rounds?: number;
  /** What an action is worth for what it would tell, in units of what a truer belief earns. Default 1. */
  readonly curiosity?: number;
  /** u32, of what it imagines and tries. Default 0. */
  readonly seed?: number;
  readonly world?: WorldSpec;
  /** As in `VecEnvOptions`: where it is computed, which changes no decision. */
  readonly backend?: string;
  readonly kernel?: string;
  readonly threads?: number;
}

export const OPTIONS: readonly (keyof PlannerOptions)[] = [
  'numEnvs',
  'objective',
  'grader',
  'inference',
  'oracle',
  'people',
  'candidates',
  'rounds',
  'curiosity',
  'seed',
  'world',
  'backend',
  'kernel',
  'threads',
];

const MAX_EPISODES = 2 ** 14;
/** More was seen to bring nothing; a week that is weighed step by step takes longer. */
const BUDGETS: Readonly<Record<Objective, Budget>> = {
  score: { people: 64, candidates: 32, rounds: 16 },
  wellbeing: { people: 32, candidates: 32, rounds: 8 },
};
const CURIOSITY = 1;

/** The same, checked. */
export interface PlannerRequest {
  readonly numEnvs: number;
  readonly objective: Objective;
  /** f32 [6]. */
  readonly grader: Float32Array;
  readonly inference: boolean;
  readonly oracle: Float32Array | null;
  readonly budget: Budget;
  readonly curiosity: number;
  readonly seed: number;
  readonly world: World;
  readonly backend: string | undefined;
  readonly kernel: string | undefined;
  readonly threads: number | null;
}

function checkFloats(oracle: unknown): Float32Array {
  if (isFloats(oracle)) return oracle;
  throw wrongType('oracle', 'a Float32Array', oracle, 'Pass 16 floats for each person.');
}

/** @throws InputError `wrong_type`, `out_of_range`, `unknown_option`, `unknown_name`, `bad_grader` or `bad_world`. */
export function toPlannerRequest(options: PlannerOptions): PlannerRequest {
  checkOptions('planner options', options, OPTIONS);
  const { grader = 'v2', threads, backend, kernel } = options;
  const objective = checkName('objective', options.objective ?? 'score', OBJECTIVES);
  const { people, candidates, rounds } = BUDGETS[objective];
  return {
    numEnvs: checkInteger('numEnvs', options.numEnvs, 1, MAX_EPISODES),
    objective,
    grader: graderWeights(grader),
    inference: checkBoolean('inference', options.inference ?? true),
    oracle: options.oracle === undefined ? null : checkFloats(options.oracle),
    budget: {
      people: checkInteger('people', options.people ?? people, 1, 1024),
      candidates: checkInteger('candidates', options.candidates ?? candidates, 4, 4096),
      rounds: checkInteger('rounds', options.rounds ?? rounds, 0, 1000),
    },
    curiosity: checkFinite('curiosity', options.curiosity ?? CURIOSITY),
    seed: checkInteger('seed', options.seed ?? 0, 0, MAX_U32),
    world: createWorld(options.world),
    backend,
    kernel,
    threads: threads === undefined ? null : checkInteger('threads', threads, 1, MAX_THREADS),
  };
}

/** Options of the training of a student. */

import { STEPPED_POLICIES, type SteppedPolicy } from '../../agents/policies/observing-policies.js';
import { TRAINING_SEEDS } from '../../agents/search/search-seeds.js';
import { type Grader, type GraderLike, toGrader } from '../../engine/graders/grader.js';
import { InputError } from '../../shared/errors.js';
import { checkInteger, checkName, checkOptions } from '../../shared/values.js';
import type { SeedRange } from '../../world/conditions.js';
import { MAX_U32 } from '../../world/fields.js';
import { checkRange } from '../datasets/dataset-seeds.js';

export interface TrainOptions {
  /** A policy of this package that uses observations, but not the hidden profile. Default 'planner'. */
  readonly teacher?: string;
  /** The grader that the teacher plays for. Default 'v2'. */
  readonly grader?: GraderLike;
  /** The seeds of the episodes. Default 100 to 9999, as for all training. */
  readonly seeds?: SeedRange;
  /** Episodes that the teacher plays and the student imitates, 20 to 1,000,000. Default 2,000. */
  readonly episodes?: number;
  /** Rounds of DAgger after that: the student plays, and the teacher labels. 0 to 100. Default 2. */
  readonly rounds?: number;
  /** Episodes of each round, 1 to 1,000,000. Default 500. */
  readonly roundEpisodes?: number;
  /** Passes over all labelled episodes, first and in each round, 1 to 10,000. Default 30. */
  readonly epochs?: number;
  /** u32: the seed of the first parameters, of the choice of episodes and of their order. Default 0. */
  readonly seed?: number;
}

/** Validated options. They determine the student. */
export interface TrainRequest {
  readonly teacher: SteppedPolicy;
  readonly grader: Grader;
  readonly seeds: SeedRange;
  readonly episodes: number;
  readonly rounds: number;
  readonly roundEpisodes: number;
  readonly epochs: number;
  readonly seed: number;
}

export const DEFAULTS = {
  teacher: 'planner',
  grader: 'v2',
  episodes: 2000,
  rounds: 2,
  roundEpisodes: 500,
  epochs: 30,
  seed: 0,
};
const NAMES: readonly (keyof TrainOptions)[] = [
  ...(['teacher', 'grader', 'seeds', 'episodes', 'rounds', 'roundEpisodes', 'epochs', 'seed'] as const),
];
const MAX_EPISODES = 1e6;
/** One episode of HELD_OUT_EVERY is held out, so there must be as many. */
export const HELD_OUT_EVERY = 20;

/** The policies that can teach, by name. */
export const TEACHER_NAMES: readonly string[] = STEPPED_POLICIES.filter(
  ({ usesHiddenState }) => !usesHiddenState,
).map(({ name }) => name);

/** Validates options and adds defaults. @throws InputError `unknown_option`, `unknown_name`, `out_of_range`, `wrong_type`, `bad_grader` or `bad_seed`. */
export function toTrainRequest(options: TrainOptions): TrainRequest {
  checkOptions('train options', options, NAMES);
  const given = { ...DEFAULTS, seeds: TRAINING_SEEDS, ...options };
  return {
    teacher: teacherNamed(given.teacher),
    grader: toGrader(given.grader),
    seeds: checkRange('seeds', given.seeds, MAX_U32),
    episodes: checkInteger('episodes', given.episodes, HELD_OUT_EVERY, MAX_EPISODES),
    rounds: checkInteger('rounds', given.rounds, 0, 100),
    roundEpisodes: checkInteger('roundEpisodes', given.roundEpisodes, 1, MAX_EPISODES),
    epochs: checkInteger('epochs', given.epochs, 1, 10_000),
    seed: checkInteger('seed', given.seed, 0, MAX_U32),
  };
}

/** Returns the options as JSON, for files: the same for the same training. */
export const toJson = ({ teacher, ...request }: TrainRequest): Record<string, unknown> => ({
  teacher: teacher.name,
  ...request,
});

function teacherNamed(name: string): SteppedPolicy {
  const policy = STEPPED_POLICIES.find((each) => each.name === name);
  if (policy?.usesHiddenState) {
    throw new InputError(
      'unknown_name',
      `Expected a teacher that sees observations only, got ${name}, which is shown the hidden profile: a student that sees ` +
        'observations only cannot learn its choices. Pass one of ' +
        `${TEACHER_NAMES.join(', ')}.`,
    );
  }
  checkName('teacher', name, TEACHER_NAMES);
  return policy!;
}

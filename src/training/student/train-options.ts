/** Options of the training of a student. */
import {
  type PolicyName,
  STEPPED_POLICIES,
  type SteppedPlayer,
  type SteppedPolicy,
} from '../../agents/policies/stepped-policies.js';
import type { Student } from '../../agents/student/student.js';
import { digestOf, type StudentManifest, tensorsOf } from '../../agents/student/student-file.js';
import { type Grader, type GraderLike, toGrader } from '../../engine/graders/grader.js';
import { InputError } from '../../shared/errors.js';
import { checkInteger, checkName, checkOptions, describe } from '../../shared/values.js';
import { type SeedRange, TRAINING_SEEDS } from '../../world/conditions.js';
import { MAX_U32 } from '../../world/fields.js';
import { checkRange } from '../datasets/state-sampler.js';
import { type EpochFigures, HELD_OUT_EVERY, type Played } from './episodes.js';

/** Options of the training of a student. They determine the student. */
export interface TrainOptions {
  /**
   * A student to refine (docs/students.md, Refinement), instead of a new clone of the teacher. Then `teacher`, `stored`,
   * `episodes`, `rounds`, `roundEpisodes` and `epochs` are refused.
   */
  readonly from?: Student;
  /** A policy of this package that uses observations, but not the hidden profile. Default 'planner'. */
  readonly teacher?: PolicyName;
  /** The grader that the teacher and the student play for. Default: that of `from`, or 'v2'. */
  readonly grader?: GraderLike;
  /** The seeds of the episodes; the refinement plays their profiles with imagined noise and events. Default 100 to 9999. */
  readonly seeds?: SeedRange;
  /** Stored episodes to imitate, 20 to 1,000,000, instead of the teacher's. Then `episodes` is refused. */
  readonly stored?: Played;
  /** Episodes that the teacher plays and the student imitates, 20 to 1,000,000. Default 2,000. */
  readonly episodes?: number;
  /**
   * Rounds of DAgger (Ross et al. 2011) after the teacher's episodes: the student plays episodes, the teacher labels each step
   * with its own action, and the student learns from all episodes so far. 0 to 100. Default 2.
   */
  readonly rounds?: number;
  /** Episodes of each round, 1 to 1,000,000. Default 500. */
  readonly roundEpisodes?: number;
  /** Passes over all labelled episodes, after the teacher's episodes and in each round, 1 to 10,000. Default 30. */
  readonly epochs?: number;
  /**
   * Episodes that the student plays in its refinement, after cloning, 0 to 1,000,000,000. The number is rounded up to whole
   * batches. Default 0: no refinement. With `from` it is required, and at least 1.
   */
  readonly refineEpisodes?: number;
  /** Episodes of each batch of the refinement, 1 to 65,536. Default 4,096. */
  readonly refineBatch?: number;
  /** u32: the seed of the initial parameters, of the choice of episodes and of their order. Default 0. */
  readonly seed?: number;
}

/** Validated options. They determine the student. */
export interface TrainRequest extends Required<Omit<TrainOptions, 'from' | 'teacher' | 'grader' | 'stored'>> {
  readonly from: Student | null;
  readonly teacher: SteppedPolicy<SteppedPlayer>;
  readonly grader: Grader;
  readonly stored: Played | null;
}

/**
 * The default options, except `seeds`, whose default is TRAINING_SEEDS. Chosen by hand: more episodes, rounds and epochs train
 * longer.
 */
export const DEFAULTS = {
  teacher: 'planner',
  grader: 'v2',
  episodes: 2000,
  rounds: 2,
  roundEpisodes: 500,
  epochs: 30,
  refineEpisodes: 0,
  refineBatch: 4096,
  seed: 0,
};
/** The options of cloning, which a training with `from` refuses. */
const CLONING = ['teacher', 'stored', 'episodes', 'rounds', 'roundEpisodes', 'epochs'] as const;
const NAMES: readonly (keyof TrainOptions)[] = [
  ...CLONING,
  'from',
  'grader',
  'seeds',
  'refineEpisodes',
  'refineBatch',
  'seed',
];
/** The maximum of `episodes` and of `roundEpisodes`. Chosen by hand, far above the numbers of docs/students.md. */
const MAX_EPISODES = 1e6;
/** The maximum of `refineEpisodes`. Chosen by hand, far above the numbers of docs/students.md. */
const MAX_REFINED = 1e9;

/** The names of the policies that can teach. */
export const TEACHER_NAMES: readonly string[] = STEPPED_POLICIES.filter(
  ({ usesHiddenState }) => !usesHiddenState,
).map(({ name }) => name);

/**
 * Validates options and adds defaults.
 * @throws InputError `unknown_option`, `unknown_name`, `out_of_range`, `wrong_type`, `bad_grader` or `bad_seed`.
 */
export function toTrainRequest(options: TrainOptions): TrainRequest {
  checkOptions('train options', options, NAMES);
  const { from = null, stored = null } = options;
  if (from !== null) refuseOptions(options, CLONING, "the option 'from'");
  if (stored !== null) refuseOptions(options, ['episodes'], 'stored episodes');
  const grader = from?.manifest.grader ?? DEFAULTS.grader;
  const set = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
  const given = { ...DEFAULTS, grader, seeds: TRAINING_SEEDS, ...(set as TrainOptions) };
  return {
    from,
    teacher: teacherNamed(given.teacher),
    grader: toGrader(given.grader),
    seeds: checkRange('seeds', given.seeds, MAX_U32),
    stored,
    episodes: checkInteger('episodes', stored?.seeds.length ?? given.episodes, HELD_OUT_EVERY, MAX_EPISODES),
    rounds: checkInteger('rounds', given.rounds, 0, 100),
    roundEpisodes: checkInteger('roundEpisodes', given.roundEpisodes, 1, MAX_EPISODES),
    epochs: checkInteger('epochs', given.epochs, 1, 10_000),
    refineEpisodes: checkInteger('refineEpisodes', given.refineEpisodes, from === null ? 0 : 1, MAX_REFINED),
    refineBatch: checkInteger('refineBatch', given.refineBatch, 1, 65_536),
    seed: checkInteger('seed', given.seed, 0, MAX_U32),
  };
}

/** Refuses options that another option excludes. @throws InputError `unknown_option`. */
function refuseOptions(options: TrainOptions, names: readonly (keyof TrainOptions)[], other: string): void {
  const name = names.find((each) => options[each] !== undefined);
  if (name === undefined) return;
  throw new InputError('unknown_option', {
    expected: `no option '${name}' with ${other}`,
    got: describe(options[name]),
    remedy: 'Leave out one of the two.',
  });
}

/** Returns the options as JSON, for files. */
export function toJson({ teacher, from, stored, ...request }: TrainRequest): Record<string, unknown> {
  const { grader, seeds, refineEpisodes, refineBatch, seed } = request;
  if (from !== null) {
    const student = {
      tensorsSha256: digestOf(tensorsOf(from.network.layers)),
      training: from.manifest.training,
    };
    return { from: student, grader, seeds, refineEpisodes, refineBatch, seed };
  }
  return { teacher: teacher.name, ...request, ...(stored && { storedSha256: digestOfPlayed(stored) }) };
}

const digestOfPlayed = ({ seeds, actions }: Played): string =>
  digestOf({ seeds: { shape: [], data: seeds }, actions: { shape: [], data: actions } });

function teacherNamed(name: string): SteppedPolicy<SteppedPlayer> {
  const policy = STEPPED_POLICIES.find((each) => each.name === name);
  if (policy?.usesHiddenState) {
    throw new InputError('unknown_name', {
      expected: 'a teacher that sees observations only',
      got: `${name}, which is shown the hidden profile: a student that sees observations only cannot learn its choices`,
      remedy: `Pass one of ${TEACHER_NAMES.join(', ')}.`,
    });
  }
  checkName('teacher', name, TEACHER_NAMES);
  return policy!;
}

/** The figures of each epoch and of each batch of the refinement, and the world: fields of `Trained` (train.ts). */
interface Outcome {
  readonly figures: readonly EpochFigures[];
  readonly refinement: readonly object[];
  readonly world: { readonly digest: string };
}

/**
 * Returns the manifest without `evaluation`, which the caller adds, and `featuresVersion`, which `encodeStudent` adds.
 * @param version of the package.
 */
export function manifestOf(
  request: TrainRequest,
  { figures, refinement, world }: Outcome,
  version: string,
): Omit<StudentManifest, 'featuresVersion' | 'evaluation'> {
  const last = refinement.at(-1);
  return {
    version,
    worldDigest: world.digest,
    grader: request.grader,
    training: { ...toJson(request), ...figures.at(-1), ...(last && { refinement: last }) },
  };
}

/** Policies that no backend plays in one call: they are called at each step with the observations. */

import type {
  EpisodeStarts,
  Policy,
  PolicyPlayer,
  PolicySetting,
  PolicyView,
} from '../../engine/policy/policy.js';
import { spell } from '../../rollouts/text/system-message.js';
import { InputError } from '../../shared/errors.js';
import { didYouMean } from '../../shared/suggest.js';
import type { NameAmong } from '../../shared/values.js';
import { ACTION_NAMES, OBSERVATION, OBSERVATION_SIZE } from '../../world/fields.js';
import type { Objective } from '../planner/objectives.js';
import { type AsyncPlanner, type Decision, openPlanner, Planner } from '../planner/planner.js';
import type { PlannerOptions } from '../planner/planner-options.js';
import { reactiveAction } from '../search/reactive.js';
import { loadStudent, STUDENT_NAMES, type StudentName } from '../student/shipped-students.js';
import { type BeliefKind, type FixedPolicy, findPolicy, POLICIES, POLICY_NAMES } from './fixed-policies.js';
import { sequenceGraderUnder } from './open-loop.js';
import { REACTIVE_POLICIES } from './reactive-policies.js';
import { constantBeliefs, InferredBeliefs } from './with-belief.js';

/** Plays n episodes from their observations. */
export interface SteppedPlayer extends PolicyPlayer {
  reset(episodes: EpisodeStarts): void | Promise<void>;
  act(view: PolicyView): Decision | Promise<Decision>;
  /** Describes the reasons for the last decision in episode i. */
  reasons(i: number): string | Promise<string>;
  [Symbol.dispose](): void;
}

/** A policy that is called at each step. */
export interface SteppedPolicy extends Policy {
  readonly name: string;
  /** The policy's name in rows of results: `name` without `+constant`. */
  readonly actions: string;
  readonly belief: BeliefKind;
  readonly usesHiddenState: boolean;
  /** The planner's objective; null for a policy that does not plan. */
  readonly objective: Objective | null;
  /**
   * Returns the name of a grader: the policy plays the action sequence or the reactive policy that was found for it. `grader`
   * is the name of the episodes' grader. Null for policies that no search found.
   */
  readonly sequenceGrader: (grader: string) => string | null;
  readonly open: (setting: PolicySetting) => SteppedPlayer | Promise<SteppedPlayer>;
}

/**
 * Returns a policy with the actions of `base` and inferred beliefs.
 * @param actionSource the source of the actions, as in "SLEEP is the action of the fixed heuristic".
 */
const inferringPolicy = (base: FixedPolicy, actionSource: string): SteppedPolicy => ({
  name: `${base.name}+inference`,
  actions: `${base.name}+inference`,
  belief: 'own',
  usesHiddenState: false,
  objective: null,
  sequenceGrader: base.sequenceGrader,
  open: (setting) => openInferring(base, setting, actionSource),
});

function openInferring(base: FixedPolicy, setting: PolicySetting, actionSource: string): SteppedPlayer {
  const player = base.open(setting);
  const inferred = new InferredBeliefs(setting);
  let actions: Uint8Array = new Uint8Array();
  return {
    reset: (episodes) => player.reset(episodes),
    act(view) {
      ({ actions } = player.act(view));
      return { actions: actions.slice(), beliefs: inferred.after(view) };
    },
    reasons: (i) =>
      `${inferred.words(i)} ${spell(ACTION_NAMES[actions[i]])} is the action of ${actionSource}.`,
    [Symbol.dispose]() {},
  };
}

/** The reactive policy that an audit found, with the constant belief. It chooses by the step and the meters alone. */
const REACTIVE: SteppedPolicy = {
  name: 'reactive+constant',
  actions: 'reactive',
  belief: 'constant',
  usesHiddenState: false,
  objective: null,
  sequenceGrader: sequenceGraderUnder,
  open({ grader, numEnvs }) {
    const parameters = reactiveParameters(grader?.name ?? '');
    let actions: Uint8Array = new Uint8Array(numEnvs);
    return {
      reset() {},
      act({ observations, steps }) {
        actions = Uint8Array.from(steps, (step, i) =>
          reactiveAction(parameters, 0, step, observations, i * OBSERVATION_SIZE + OBSERVATION.meters),
        );
        return { actions, beliefs: constantBeliefs(numEnvs) };
      },
      reasons: (i) =>
        `${spell(ACTION_NAMES[actions[i]])} is the action of a policy that sees only the step and the meters.`,
      [Symbol.dispose]() {},
    };
  },
};

/** Returns the parameters of the reactive policy that is played under a grader, f64 [480]. @param grader the grader's name. */
function reactiveParameters(grader: string): Float64Array {
  const text = REACTIVE_POLICIES[sequenceGraderUnder(grader) as keyof typeof REACTIVE_POLICIES];
  return Float64Array.from(text.split(' '), Number);
}

/** The options in which the planner's policies differ. */
interface Variant extends Pick<PlannerOptions, 'inference'> {
  readonly objective: Objective;
}

const plannerPolicy = (name: string, variant: Variant): SteppedPolicy => ({
  name,
  actions: name,
  belief: 'own',
  usesHiddenState: false,
  objective: variant.objective,
  sequenceGrader: () => null,
  open: (setting) => {
    const planner = openPlanner({ ...variant, ...plannerOptions(setting, variant.objective) });
    return planner instanceof Planner ? playerOf(planner) : planner.then(playerOf);
  },
});

const playerOf = (planner: Planner | AsyncPlanner): SteppedPlayer => ({
  // A planner begins an episode when it sees an observation at step 0.
  reset() {},
  act: ({ observations, playing }) => planner.decide(observations, playing),
  reasons: (i) => planner.reasons(i),
  [Symbol.dispose]: () => void planner.close(),
});

/** Returns the options of a planner for a setting. @throws InputError `missing_setting` without a grader. */
function plannerOptions({ grader, world, ...engine }: PolicySetting, objective: Objective): PlannerOptions {
  if (grader !== null) return { ...engine, grader, world: world.spec, objective };
  throw new InputError(
    'missing_setting',
    'Expected one grader for all episodes of a planner, got several graders, or rollouts with the option `from`, whose states have their own graders. Pass new Planner(options).policy.',
  );
}

/** The planner that receives the hidden profiles at each reset. */
const ORACLE: SteppedPolicy = {
  ...plannerPolicy('planner-oracle', { objective: 'score' }),
  usesHiddenState: true,
  open: (setting) => {
    let planner: Planner | AsyncPlanner | null = null;
    const close = (): void => void planner?.close();
    return {
      async reset({ profiles }) {
        close();
        planner = await openPlanner({ ...plannerOptions(setting, 'score'), oracle: profiles() });
      },
      act: ({ observations, playing }) => planner!.decide(observations, playing),
      reasons: (i) => planner!.reasons(i),
      [Symbol.dispose]: close,
    };
  },
};

const studentPolicy = (name: (typeof STUDENT_NAMES)[number]): SteppedPolicy => ({
  name,
  actions: name,
  belief: 'own',
  usesHiddenState: false,
  objective: null,
  sequenceGrader: () => null,
  open: async (setting) => (await loadStudent(name)).open(setting),
});

/**
 * Policies that are called at each step, in the order in which tables list them. They are slower than fixed policies, so
 * `eval` runs them only if they are named.
 */
export const STEPPED_POLICIES: readonly SteppedPolicy[] = [
  inferringPolicy(findPolicy('heuristic'), 'the fixed heuristic'),
  inferringPolicy(findPolicy('open-loop'), 'a fixed sequence for all profiles'),
  REACTIVE,
  plannerPolicy('planner', { objective: 'score' }),
  plannerPolicy('planner-wellbeing', { objective: 'wellbeing' }),
  plannerPolicy('planner-prior', { objective: 'score', inference: false }),
  ORACLE,
  ...STUDENT_NAMES.map(studentPolicy),
];

/** The names of STEPPED_POLICIES. */
export const STEPPED_NAMES: readonly string[] = STEPPED_POLICIES.map(({ name }) => name);

/** A name of POLICIES or STEPPED_POLICIES. */
export type PolicyName = NameAmong<
  | FixedActions
  | `${FixedActions}+constant`
  | `${Exclude<FixedActions, 'random'>}+inference`
  | 'reactive+constant'
  | 'planner'
  | `planner-${'wellbeing' | 'prior' | 'oracle'}`
  | StudentName
>;
type FixedActions = 'random' | 'heuristic' | 'open-loop';

/** A policy of POLICIES or STEPPED_POLICIES. */
export type BuiltinPolicy = FixedPolicy | SteppedPolicy;

/**
 * Returns the fixed or stepped policy with a name. @param further other names that the error lists as valid.
 * @throws InputError `unknown_name`.
 */
export function findAnyPolicy(name: string, further: readonly string[] = []): BuiltinPolicy {
  const policy = [...POLICIES, ...STEPPED_POLICIES].find((candidate) => candidate.name === name);
  if (policy !== undefined) return policy;
  const names = [...POLICY_NAMES, ...STEPPED_NAMES, ...further];
  throw new InputError(
    'unknown_name',
    `Expected one of the policies ${names.join(', ')}; got ${JSON.stringify(name)}.${didYouMean(name, names)}`,
  );
}

/**
 * Returns a built-in policy, to pass where a Policy is expected.
 * @param name the policy's name, such as 'heuristic+constant' or 'planner'. @throws InputError `unknown_name`.
 */
export const builtin = (name: PolicyName): BuiltinPolicy => findAnyPolicy(name);

/**
 * Policies that no backend plays in one call: they are called at each step with the observations. The modules that play them are
 * loaded when a policy is opened.
 */

import type {
  EpisodeStarts,
  Policy,
  PolicyPlayer,
  PolicySetting,
  PolicyView,
} from '../../engine/policy/policy.js';
import { spell } from '../../rollouts/text/spelling.js';
import { InputError } from '../../shared/errors.js';
import { didYouMean } from '../../shared/names.js';
import type { NameAmong } from '../../shared/values.js';
import { ACTION_NAMES, OBSERVATION, OBSERVATION_SIZE } from '../../world/fields.js';
import type { Objective } from '../planner/objectives.js';
import type { AsyncPlanner, Decision, Planner } from '../planner/planner.js';
import type { PlannerOptions } from '../planner/planner-options.js';
import { loadStudent, STUDENT_NAMES, type StudentName } from '../student/packaged-students.js';
import {
  constantBeliefs,
  type FixedPolicy,
  findPolicy,
  POLICIES,
  POLICY_NAMES,
  type PolicyDescription,
} from './fixed-policies.js';
import { REACTIVE_POLICIES } from './generated/reactive-policies.js';
import { sequenceGraderUnder } from './open-loop.js';

/** Plays n episodes from their observations. */
export interface SteppedPlayer extends PolicyPlayer {
  reset(episodes: EpisodeStarts): void | Promise<void>;
  act(view: PolicyView): Decision | Promise<Decision>;
  /** Describes the reasons for the last decision in episode i. */
  reasons(i: number): string | Promise<string>;
  [Symbol.dispose](): void;
}

/** A policy that is called at each step: a built-in policy, or a user's (user-policy.ts). */
export interface SteppedPolicy<Player extends PolicyPlayer = PolicyPlayer> extends PolicyDescription, Policy {
  readonly kind: 'stepped';
  readonly usesHiddenState: boolean;
  /** Opens the policy. @param signal aborting it rejects pending calls of a user's policy with its reason. */
  open(setting: PolicySetting, signal?: AbortSignal): Player | Promise<Player>;
}

/** A built-in policy that is called at each step. */
type BuiltinSteppedPolicy = SteppedPolicy<SteppedPlayer>;

/** Returns a policy that states its own beliefs and plays nothing that a search found, unless `others` says something else. */
const steppedPolicy = (
  name: string,
  open: BuiltinSteppedPolicy['open'],
  others: Partial<BuiltinSteppedPolicy> = {},
): BuiltinSteppedPolicy => ({
  kind: 'stepped',
  name,
  actions: name,
  belief: 'own',
  usesHiddenState: false,
  objective: null,
  sequenceGrader: () => null,
  open,
  ...others,
});

/**
 * Returns a policy with the actions of `base` and inferred beliefs.
 * @param actionSource the source of the actions, as in "SLEEP is the action of the fixed heuristic".
 */
function inferringPolicy(base: FixedPolicy, actionSource: string): BuiltinSteppedPolicy {
  const open = async (setting: PolicySetting): Promise<SteppedPlayer> => {
    const { inferredBeliefs } = await import('./with-belief.js');
    const player = base.open(setting);
    const inferred = inferredBeliefs(setting);
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
  };
  return steppedPolicy(`${base.name}+inference`, open, { sequenceGrader: base.sequenceGrader });
}

/** Opens the reactive policy that an audit found, with the constant belief. It chooses by the step and the meters alone. */
async function openReactive({ grader, numEnvs }: PolicySetting): Promise<SteppedPlayer> {
  const { reactiveAction } = await import('../search/reactive.js');
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
}

/** Returns the parameters of the reactive policy that is played under a grader, f64 [480]. @param grader the grader's name. */
function reactiveParameters(grader: string): Float64Array {
  const text = REACTIVE_POLICIES[sequenceGraderUnder(grader) as keyof typeof REACTIVE_POLICIES];
  return Float64Array.from(text.split(' '), Number);
}

/** Returns a policy that plans. @param variant the options in which the planner's policies differ. */
const plannerPolicy = (
  name: string,
  objective: Objective,
  variant: Pick<PlannerOptions, 'inference'> = {},
): BuiltinSteppedPolicy =>
  steppedPolicy(
    name,
    async (setting) => playerOf(await openPlanner({ ...variant, ...plannerOptions(setting, objective) })),
    { objective },
  );

async function openPlanner(options: PlannerOptions): Promise<Planner | AsyncPlanner> {
  const planner = await import('../planner/planner.js');
  return planner.openPlanner(options);
}

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
  throw new InputError('missing_setting', {
    expected: 'one grader for all episodes of a planner',
    got: 'several graders, or rollouts with the option `from`, whose states have their own graders',
    remedy: 'Pass new Planner(options).policy.',
  });
}

/** Opens the planner that receives the hidden profiles at each reset. */
function openOracle(setting: PolicySetting): SteppedPlayer {
  let player: SteppedPlayer | null = null;
  const close = (): void => player?.[Symbol.dispose]();
  return {
    async reset({ profiles }) {
      close();
      player = playerOf(await openPlanner({ ...plannerOptions(setting, 'score'), oracle: profiles() }));
    },
    act: (view) => player!.act(view),
    reasons: (i) => player!.reasons(i),
    [Symbol.dispose]: close,
  };
}

/**
 * Policies that are called at each step, in the order in which tables list them. They are slower than fixed policies, so
 * `eval` runs them only if they are named.
 */
export const STEPPED_POLICIES: readonly BuiltinSteppedPolicy[] = [
  inferringPolicy(findPolicy('heuristic'), 'the fixed heuristic'),
  inferringPolicy(findPolicy('open-loop'), 'a fixed sequence for all profiles'),
  steppedPolicy('reactive+constant', openReactive, {
    actions: 'reactive',
    belief: 'constant',
    sequenceGrader: sequenceGraderUnder,
  }),
  plannerPolicy('planner', 'score'),
  plannerPolicy('planner-wellbeing', 'wellbeing'),
  plannerPolicy('planner-prior', 'score', { inference: false }),
  steppedPolicy('planner-oracle', openOracle, { objective: 'score', usesHiddenState: true }),
  ...STUDENT_NAMES.map((name) =>
    steppedPolicy(name, async (setting) => (await loadStudent(name)).open(setting)),
  ),
];

/** The names of STEPPED_POLICIES. */
export const STEPPED_NAMES: readonly string[] = STEPPED_POLICIES.map(({ name }) => name);

/** A name of POLICIES or STEPPED_POLICIES. */
export type PolicyName = NameAmong<
  | FixedName
  | `${FixedName}+constant`
  | `${Exclude<FixedName, 'random'>}+inference`
  | 'reactive+constant'
  | 'planner'
  | `planner-${'wellbeing' | 'prior' | 'oracle'}`
  | StudentName
>;
type FixedName = 'random' | 'heuristic' | 'open-loop';

/** A policy of POLICIES or STEPPED_POLICIES. */
export type BuiltinPolicy = FixedPolicy | BuiltinSteppedPolicy;

/** All built-in policies, in the order in which tables list them. */
export const BUILTIN_POLICIES: readonly BuiltinPolicy[] = [...POLICIES, ...STEPPED_POLICIES];

/**
 * Returns the built-in policy with a name. @param further other names that the error lists as valid.
 * @throws InputError `unknown_name`.
 */
export function findBuiltin(name: string, further: readonly string[] = []): BuiltinPolicy {
  const policy = BUILTIN_POLICIES.find((candidate) => candidate.name === name);
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
export const builtin = (name: PolicyName): BuiltinPolicy => findBuiltin(name);

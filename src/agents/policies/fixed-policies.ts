/** The table of policies that every backend plays in one call: their actions and beliefs. */

import type { RunOptions } from '../../engine/node.js';
import type { Policy, PolicySetting } from '../../engine/policy/policy.js';
import type { RunChoice } from '../../engine/vec-env/run-requests.js';
import { InputError } from '../../shared/errors.js';
import { didYouMean } from '../../shared/suggest.js';
import { type FixedPlayer, heuristicPlayer, openLoopPlayer, randomPlayer } from './fixed-players.js';
import { openLoopActions, repeatActions, sequenceGraderUnder } from './open-loop.js';
import { CONSTANT_BELIEF, constantBeliefs } from './with-belief.js';

/** The source of a policy's beliefs: none, the constant belief, or the policy itself. */
export type BeliefKind = 'none' | 'constant' | 'own';

/** A policy without its belief: how it chooses actions. */
interface ActionPolicy {
  /** The policy's name without its belief, such as "heuristic" for heuristic+constant. */
  readonly actions: string;
  /** Opens the policy as a player that is called at each step. */
  readonly open: (setting: PolicySetting) => FixedPlayer;
  /** Returns the argument of `VecEnv.run` for a number of environments and a grader's name. */
  readonly choice: (numEnvs: number, grader: string) => RunChoice;
  /**
   * Returns the name of a grader: the policy plays the action sequence that was found for it. `grader` is the name of the
   * episodes' grader. Null if the policy plays no sequence.
   */
  readonly sequenceGrader: (grader: string) => string | null;
}

/** A policy that every backend plays in one call, with its belief. */
export interface FixedPolicy extends ActionPolicy, Policy {
  readonly open: ActionPolicy['open'];
  /** The policy's name on the command line: `actions`, followed by `+constant` for the constant belief. */
  readonly name: string;
  readonly belief: BeliefKind;
  /** The options of `VecEnv.run` that state the belief. */
  readonly options: Pick<RunOptions, 'beliefs'>;
}

/** Returns a policy that every backend implements under this name. */
const backendPolicy = (actions: 'random' | 'heuristic', open: ActionPolicy['open']): ActionPolicy => ({
  actions,
  open,
  choice: () => actions,
  sequenceGrader: () => null,
});

/** The open-loop policy: plays the sequence found for the grader in use, or for v2 under a grader without one. */
const OPEN_LOOP: ActionPolicy = {
  actions: 'open-loop',
  open: openLoopPlayer,
  choice: (numEnvs, grader) => repeatActions(openLoopActions(sequenceGraderUnder(grader)), numEnvs),
  sequenceGrader: sequenceGraderUnder,
};

const ACTION_POLICIES: readonly ActionPolicy[] = [
  backendPolicy('random', randomPlayer),
  backendPolicy('heuristic', heuristicPlayer),
  OPEN_LOOP,
];

/** Returns a policy's name, with `+constant` for the constant belief. */
export const policyName = ({ policy, belief }: { policy: string; belief: BeliefKind }): string =>
  belief === 'constant' ? `${policy}+constant` : policy;

const withoutBelief = (base: ActionPolicy): FixedPolicy => ({
  ...base,
  name: base.actions,
  belief: 'none',
  options: {},
});
const withConstantBelief = (base: ActionPolicy): FixedPolicy => ({
  ...base,
  open: (setting) => statingConstant(base.open(setting), setting.numEnvs),
  name: policyName({ policy: base.actions, belief: 'constant' }),
  belief: 'constant',
  options: { beliefs: CONSTANT_BELIEF },
});

/** Returns a player with the same actions that states the constant belief. */
const statingConstant = (player: FixedPlayer, numEnvs: number): FixedPlayer => ({
  ...player,
  act: (view) => ({ ...player.act(view), beliefs: constantBeliefs(numEnvs) }),
});

/** All fixed policies, in the order in which tables list them. */
export const POLICIES: readonly FixedPolicy[] = [
  ...ACTION_POLICIES.map(withoutBelief),
  ...ACTION_POLICIES.map(withConstantBelief),
];

/** The names of POLICIES. */
export const POLICY_NAMES: readonly string[] = POLICIES.map((policy) => policy.name);

/** The policy with which all others are compared, on the same seeds. */
export const BASELINE: FixedPolicy = findPolicy('heuristic');

/** Returns the policy with a name. @throws InputError `unknown_name`, with a list of the policies. */
export function findPolicy(name: string): FixedPolicy {
  const policy = POLICIES.find((candidate) => candidate.name === name);
  if (policy !== undefined) return policy;
  throw new InputError(
    'unknown_name',
    `Expected one of the policies ${POLICY_NAMES.join(', ')}; got ${JSON.stringify(name)}.${didYouMean(name, POLICY_NAMES)}`,
  );
}

/** The table of policies: how a whole episode is played, and what is believed meanwhile. */
import { InputError } from '../errors.js';
import { didYouMean } from '../suggest.js';
import type { RunChoice } from '../vec-env/requests.js';
import type { RunOptions } from '../vec-env.js';
import { blindTape, repeatTape, tapeUnder } from './tapes.js';

/** Where beliefs come from: nowhere, one constant, or the policy's own inference. */
export type BeliefKind = 'none' | 'constant' | 'own';

/** How actions are chosen, whatever is believed. */
interface Plan {
  readonly actions: string;
  /** What `VecEnv.run` takes for so many slots, under a grader of this name. */
  readonly choice: (numEnvs: number, grader: string) => RunChoice;
  /** The grader whose tape is played under a grader of this name; null for actions that are no tape. */
  readonly tape: (grader: string) => string | null;
}

export interface Policy extends Plan {
  /** As the command line calls it: the actions' name, with `+constant` if that belief is given. */
  readonly name: string;
  readonly belief: BeliefKind;
  readonly options: RunOptions;
}

/** Infers nothing: the middle of each range, at every step. */
const CONSTANT_BELIEF: readonly number[] = [0.5, 0.5, 0.5];

/** Actions that every backend chooses by itself. */
const builtIn = (actions: 'random' | 'heuristic'): Plan => ({
  actions,
  choice: () => actions,
  tape: () => null,
});

/** The same actions for everybody: the tape that was found for the grader in use, else v2's. */
const BLIND: Plan = {
  actions: 'blind-tape',
  choice: (numEnvs, grader) => repeatTape(blindTape(tapeUnder(grader)), numEnvs),
  tape: tapeUnder,
};

const PLANS: readonly Plan[] = [builtIn('random'), builtIn('heuristic'), BLIND];

/** The name of what plays, as POLICIES has it. */
export const policyName = ({ policy, belief }: { policy: string; belief: BeliefKind }): string =>
  belief === 'constant' ? `${policy}+constant` : policy;

const withoutBelief = (plan: Plan): Policy => ({ ...plan, name: plan.actions, belief: 'none', options: {} });
const withConstant = (plan: Plan): Policy => ({
  ...plan,
  name: policyName({ policy: plan.actions, belief: 'constant' }),
  belief: 'constant',
  options: { beliefs: CONSTANT_BELIEF },
});

/** All policies, in the order in which a table shows them. */
export const POLICIES: readonly Policy[] = [...PLANS.map(withoutBelief), ...PLANS.map(withConstant)];

export const POLICY_NAMES: readonly string[] = POLICIES.map((policy) => policy.name);

/** What every other policy is compared with, on the same seeds. */
export const BASELINE: Policy = findPolicy('heuristic');

/** @throws InputError `unknown_name` that lists the policies. */
export function findPolicy(name: string): Policy {
  const policy = POLICIES.find((candidate) => candidate.name === name);
  if (policy !== undefined) return policy;
  throw new InputError(
    'unknown_name',
    `Expected a policy of ${POLICY_NAMES.join(', ')}; got ${JSON.stringify(name)}.${didYouMean(name, POLICY_NAMES)}`,
  );
}

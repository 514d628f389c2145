/** The table of policies: how a whole episode is played, and what is believed meanwhile. */
import { InputError } from '../errors.js';
import { didYouMean } from '../suggest.js';
import type { RunChoice } from '../vec-env/requests.js';
import type { RunOptions } from '../vec-env.js';

/** Where beliefs come from: nowhere, one constant, or the policy's own inference. */
export type BeliefKind = 'none' | 'constant' | 'own';

export interface Policy {
  /** As the command line calls it: the actions' name, with `+constant` if that belief is given. */
  readonly name: string;
  /** How actions are chosen, whatever is believed. */
  readonly actions: string;
  readonly belief: BeliefKind;
  /** What `VecEnv.run` takes. */
  readonly choice: RunChoice;
  readonly options: RunOptions;
}

/** Infers nothing: the middle of each range, at every step. */
const CONSTANT_BELIEF: readonly number[] = [0.5, 0.5, 0.5];

const constant: RunOptions = { beliefs: CONSTANT_BELIEF };

/** All policies, in the order in which a table shows them. */
export const POLICIES: readonly Policy[] = [
  { name: 'random', actions: 'random', belief: 'none', choice: 'random', options: {} },
  { name: 'heuristic', actions: 'heuristic', belief: 'none', choice: 'heuristic', options: {} },
  { name: 'random+constant', actions: 'random', belief: 'constant', choice: 'random', options: constant },
  {
    name: 'heuristic+constant',
    actions: 'heuristic',
    belief: 'constant',
    choice: 'heuristic',
    options: constant,
  },
];

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

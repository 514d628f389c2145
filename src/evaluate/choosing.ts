/** Who plays in an evaluation: policies by name, those of language models among them. */

import { type Condition, episodesOf } from '../conditions.js';
import { InputError } from '../errors.js';
import type { LanguageModel } from '../llm/model.js';
import { checkModelName, modelPlayer } from '../llm/player.js';
import { type BeliefKind, POLICY_NAMES, type Policy } from '../policies/policies.js';
import { findAnyPolicy, type SteppedPolicy } from '../policies/stepped.js';
import { didYouMean } from '../suggest.js';
import type { Player } from '../trajectory/episode.js';
import { describe } from '../validate/values.js';
import type { EvaluateOptions } from './options.js';
import { isStepped } from './playing.js';

/** What a model's policy begins with: "llm:MODEL". */
export const MODEL_PREFIX = 'llm:';

/** A language model, asked in words before every step. */
export interface AskedPolicy {
  readonly name: string;
  readonly actions: string;
  readonly belief: BeliefKind;
  readonly tape: (grader: string) => null;
  readonly model: LanguageModel;
}

/** Of any kind. */
export type Playing = Policy | SteppedPolicy | AskedPolicy;

export const isAsked = (policy: Playing): policy is AskedPolicy => 'model' in policy;

/** Nobody means to ask for more, and each is kept in mind. */
const MOST_WEEKS = 100_000;

/** Each once, in the order of their names. @throws InputError `unknown_name`, `missing_setting` or `out_of_range`. */
export function selectPolicies(
  { policies = POLICY_NAMES, llm }: EvaluateOptions,
  conditions: readonly Condition[],
): Playing[] {
  const selected = [...new Set(policies)].map((name) =>
    name.startsWith(MODEL_PREFIX)
      ? askedPolicy(name, llm?.models ?? [])
      : findAnyPolicy(name, [`${MODEL_PREFIX}MODEL`]),
  );
  const weeks = conditions.reduce((sum, condition) => sum + episodesOf(condition), 0);
  const asked = selected.find(isAsked);
  if (asked === undefined || weeks <= MOST_WEEKS) return selected;
  throw new InputError(
    'out_of_range',
    `Expected at most ${MOST_WEEKS} episodes of ${asked.name}, which is asked 28 times in each, got ${weeks}. ` +
      'Pass fewer seeds.',
  );
}

function askedPolicy(policy: string, models: readonly LanguageModel[]): AskedPolicy {
  const name = policy.slice(MODEL_PREFIX.length);
  checkModelName(name, `after ${MODEL_PREFIX}`);
  const model = models.find((each) => each.name === name);
  if (model !== undefined) return { name: policy, actions: policy, belief: 'own', tape: () => null, model };
  const known = models.map((each) => each.name);
  throw new InputError(
    'unknown_name',
    `Expected a model of llm.models${known.length === 0 ? ', which has none,' : `, ${known.join(', ')},`} for the policy ` +
      `${describe(policy)}; got ${describe(name)}.${didYouMean(name, known, ' Pass it as llm: { models }.')}`,
  );
}

export const isOracle = (policy: Playing): boolean => isStepped(policy) && policy.oracle;

/** As trajectories call who plays: by the policy's name, or by the model's. */
export const playerOf = (policy: Playing): Player =>
  isAsked(policy)
    ? modelPlayer(policy.model.name)
    : {
        teacher: policy.name,
        model: null,
        objective: isStepped(policy) ? policy.objective : null,
        oracle: isOracle(policy),
      };

/** The same by a policy's name. @throws InputError `unknown_name`. */
export const playerNamed = (policy: string): Player =>
  policy.startsWith(MODEL_PREFIX)
    ? modelPlayer(policy.slice(MODEL_PREFIX.length))
    : playerOf(findAnyPolicy(policy));

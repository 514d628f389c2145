/** Selects the policies of an evaluation by name, including those of language models. */

import type { LanguageModel } from '../agents/llm/language-model.js';
import { checkModelName, modelPlayer } from '../agents/llm/llm-player.js';
import { findAnyPolicy, type SteppedPolicy } from '../agents/policies/observing-policies.js';
import { type BeliefKind, POLICY_NAMES, type Policy } from '../agents/policies/policies.js';
import type { Player } from '../rollouts/trajectories/trajectory-episode.js';
import { InputError } from '../shared/errors.js';
import { didYouMean } from '../shared/suggest.js';
import { describe } from '../shared/values.js';
import { type Condition, episodesOf } from '../world/conditions.js';
import type { EvaluateOptions } from './evaluate-options.js';
import { isStepped } from './play-chunk.js';

/** The prefix of a model's policy: "llm:MODEL". */
export const MODEL_PREFIX = 'llm:';

/** A policy that requests every action from a language model. */
export interface LlmPolicy {
  readonly name: string;
  readonly actions: string;
  readonly belief: BeliefKind;
  readonly sequenceGrader: (grader: string) => null;
  readonly model: LanguageModel;
}

/** A policy of any kind. */
export type AnyPolicy = Policy | SteppedPolicy | LlmPolicy;

export const isLlm = (policy: AnyPolicy): policy is LlmPolicy => 'model' in policy;

/** The maximum number of episodes of a language model, because all are kept in memory. */
const MAX_LLM_EPISODES = 100_000;

/** Returns the policies in order, without duplicates. @throws InputError `unknown_name`, `missing_setting` or `out_of_range`. */
export function selectPolicies(
  { policies = POLICY_NAMES, llm }: EvaluateOptions,
  conditions: readonly Condition[],
): AnyPolicy[] {
  const selected = [...new Set(policies)].map((name) =>
    name.startsWith(MODEL_PREFIX)
      ? findLlmPolicy(name, llm?.models ?? [])
      : findAnyPolicy(name, [`${MODEL_PREFIX}MODEL`]),
  );
  const episodes = conditions.reduce((sum, condition) => sum + episodesOf(condition), 0);
  const llmPolicy = selected.find(isLlm);
  if (llmPolicy === undefined || episodes <= MAX_LLM_EPISODES) return selected;
  throw new InputError(
    'out_of_range',
    `Expected at most ${MAX_LLM_EPISODES} episodes of ${llmPolicy.name}, with 28 requests each, got ${episodes}. ` +
      'Pass fewer seeds.',
  );
}

function findLlmPolicy(policy: string, models: readonly LanguageModel[]): LlmPolicy {
  const name = policy.slice(MODEL_PREFIX.length);
  checkModelName(name, `after ${MODEL_PREFIX}`);
  const model = models.find((candidate) => candidate.name === name);
  if (model !== undefined)
    return { name: policy, actions: policy, belief: 'own', sequenceGrader: () => null, model };
  const names = models.map((model) => model.name);
  throw new InputError(
    'unknown_name',
    `Expected a model of llm.models (${names.join(', ') || 'it is empty'}) for the policy ` +
      `${describe(policy)}, got ${describe(name)}.${didYouMean(name, names, ' Pass the model in llm: { models }.')}`,
  );
}

export const isOracle = (policy: AnyPolicy): boolean => isStepped(policy) && policy.oracle;

/** Returns the player of a policy, as trajectories store it. */
export const playerOf = (policy: AnyPolicy): Player =>
  isLlm(policy)
    ? modelPlayer(policy.model.name)
    : {
        teacher: policy.name,
        model: null,
        objective: isStepped(policy) ? policy.objective : null,
        oracle: isOracle(policy),
      };

/** Returns the player of the policy with a name. @throws InputError `unknown_name`. */
export const playerNamed = (policy: string): Player =>
  policy.startsWith(MODEL_PREFIX)
    ? modelPlayer(policy.slice(MODEL_PREFIX.length))
    : playerOf(findAnyPolicy(policy));

/** Selects the policies of an evaluation: built-in policies, language models and policies of the user. */

import { checkModelName, type LanguageModel, modelPlayer } from '../agents/llm/language-model.js';
import { POLICY_NAMES } from '../agents/policies/fixed-policies.js';
import { BUILTIN_POLICIES, findBuiltin } from '../agents/policies/stepped-policies.js';
import type { PolicyLike } from '../engine/policy/policy.js';
import type { Player } from '../rollouts/trajectories/trajectory-episode.js';
import { InputError } from '../shared/errors.js';
import { didYouMean } from '../shared/names.js';
import { describe } from '../shared/values.js';
import { type Condition, episodesOf } from '../world/conditions.js';
import type { EvaluateOptions, PolicyRecord } from './evaluate-options.js';
import { type LlmPolicy, type NamedPolicy, playerOf } from './play-policy.js';
import { MODEL_PREFIX, UserPolicy } from './user-policy.js';

/** The maximum number of episodes of a language model. All are kept in memory. Chosen by hand. */
const MAX_LLM_EPISODES = 100_000;

/** Returns the policies in order, without duplicates. @throws InputError `unknown_name`, `wrong_type` or `out_of_range`. */
export function selectPolicies(
  { policies = POLICY_NAMES, llm }: EvaluateOptions,
  conditions: readonly Condition[],
): NamedPolicy[] {
  const selected = Array.isArray(policies)
    ? [...new Set(policies as readonly string[])].map((name) => findNamed(name, llm?.models ?? []))
    : Object.entries(policies as PolicyRecord).map(([name, policy]) =>
        findGiven(name, policy, llm?.models ?? []),
      );
  const episodes = conditions.reduce((sum, condition) => sum + episodesOf(condition), 0);
  const llmPolicy = selected.find(({ kind }) => kind === 'model');
  if (llmPolicy === undefined || episodes <= MAX_LLM_EPISODES) return selected;
  throw new InputError('out_of_range', {
    expected: `at most ${MAX_LLM_EPISODES} episodes of ${llmPolicy.name}, with 28 requests each`,
    got: String(episodes),
    remedy: 'Pass fewer seeds.',
  });
}

const findNamed = (name: string, models: readonly LanguageModel[]): NamedPolicy =>
  name.startsWith(MODEL_PREFIX) ? findLlmPolicy(name, models) : findBuiltin(name, [`${MODEL_PREFIX}MODEL`]);

/** Returns a policy under a name. A built-in policy under its own name is treated like the name alone. */
function findGiven(name: string, policy: PolicyLike | string, models: readonly LanguageModel[]): NamedPolicy {
  if (policy === name) return findNamed(name, models);
  if (typeof policy === 'string') return findGiven(name, findBuiltin(policy), models);
  const own = BUILTIN_POLICIES.find((builtin) => builtin.name === name);
  if (own === undefined) return new UserPolicy(name, policy);
  if (own === policy) return own;
  throw new InputError('unknown_name', {
    expected: 'a name that no built-in policy has',
    got: `"${name}" for a policy of your own`,
    remedy: `Pass the policy under another name, or pass builtin("${name}").`,
  });
}

function findLlmPolicy(policy: string, models: readonly LanguageModel[]): LlmPolicy {
  const name = policy.slice(MODEL_PREFIX.length);
  checkModelName(name, `after ${MODEL_PREFIX}`);
  const model = models.find((candidate) => candidate.name === name);
  if (model !== undefined)
    return {
      kind: 'model',
      ...{ name: policy, actions: policy, belief: 'own', usesHiddenState: false, objective: null },
      sequenceGrader: () => null,
      player: modelPlayer(name),
      episodesOf: async (conditions) => {
        const { LlmEpisodes } = await import('./llm-episodes.js');
        return new LlmEpisodes(model, conditions);
      },
    };
  const names = models.map((model) => model.name);
  throw new InputError('unknown_name', {
    expected: `a model of llm.models (${names.join(', ') || 'it is empty'}) for the policy ${describe(policy)}`,
    got: describe(name),
    remedy: didYouMean(name, names, ' Pass the model in llm: { models }.'),
  });
}

/** Returns the players of the policies of an evaluation. @throws InputError `unknown_name` or `wrong_type`. */
export const playersOf = (policies: EvaluateOptions['policies'] = POLICY_NAMES): Player[] =>
  Array.isArray(policies)
    ? [...new Set(policies as readonly string[])].map(playerNamed)
    : Object.entries(policies as PolicyRecord).map(([name, policy]) =>
        policy === name ? playerNamed(name) : playerOf(findGiven(name, policy, [])),
      );

/** Returns the player of the policy with a name. @throws InputError `unknown_name`. */
const playerNamed = (policy: string): Player =>
  policy.startsWith(MODEL_PREFIX)
    ? modelPlayer(policy.slice(MODEL_PREFIX.length))
    : playerOf(findBuiltin(policy));

/** Adds a belief to a policy: the constant belief, or the belief that is inferred from the observations. */

import { graderWeights } from '../../engine/graders/grader.js';
import {
  type Policy,
  type PolicyActions,
  type PolicyLike,
  type PolicySetting,
  type PolicyView,
  toPolicy,
} from '../../engine/policy/policy.js';
import { Inference } from '../inference/inference.js';
import { inferenceWords } from '../inference/inference-words.js';
import { errorCountedBy } from '../inference/samples.js';
import { constantBeliefs } from './fixed-policies.js';

/** The source of a policy's beliefs. */
interface Beliefs {
  /** Returns the beliefs after another observation, f32 [n, 3]. */
  after(view: PolicyView): Float32Array;
  /** Describes the evidence of environment i. */
  words?(i: number): string;
}

/** Returns beliefs that are inferred from the observations, and minimise the error that the grader counts. */
export function inferredBeliefs({ numEnvs, grader, world }: PolicySetting): Required<Beliefs> {
  const error = grader === null ? 'absolute' : errorCountedBy(graderWeights(grader));
  const inference = new Inference(world, numEnvs);
  return {
    after({ observations, playing }) {
      inference.observe(observations, playing);
      return inference.beliefs(error);
    },
    words: (i) => inferenceWords(inference.explain(i), error),
  };
}

/**
 * Returns a policy with the same actions that states the constant belief [0.5, 0.5, 0.5] at every step. If you name it
 * "NAME+constant", tables show it like a built-in policy with this belief.
 */
export const withConstant = (policy: PolicyLike): Policy =>
  withBeliefs(policy, ({ numEnvs }) => ({ after: () => constantBeliefs(numEnvs) }));

/**
 * Returns a policy with the same actions that states the belief inferred from the observations: the belief with the smallest
 * expected error, absolute or squared as the grader counts it. The policy's reasons begin with the evidence for the belief.
 */
export const withInference = (policy: PolicyLike): Policy => withBeliefs(policy, inferredBeliefs);

/** Returns a policy with the same actions that states the beliefs of the source that `open` returns. */
function withBeliefs(policyLike: PolicyLike, open: (setting: PolicySetting) => Beliefs): Policy {
  const policy = toPolicy(policyLike);
  return {
    usesHiddenState: policy.usesHiddenState,
    async open(setting) {
      const player = await policy.open(setting);
      const source = open(setting);
      const reasons = async (i: number): Promise<string> => {
        const texts = [source.words?.(i), await player.reasons?.(i)];
        return texts.filter((text) => text !== undefined).join(' ');
      };
      const act = async (view: PolicyView): Promise<PolicyActions> => {
        const beliefs = source.after(view);
        return { ...(await player.act(view)), beliefs };
      };
      return {
        act,
        reset: player.reset && ((episodes) => player.reset!(episodes)),
        reasons: player.reasons || source.words ? reasons : undefined,
        [Symbol.dispose]: () => player[Symbol.dispose]?.(),
      };
    },
  };
}

/** The table of policies, and the open-loop policy's sequence by grader. */
import { describe, expect, it } from 'vitest';
import { findPolicy, POLICIES, policyName } from '../../../src/agents/policies/policies.js';
import { createVecEnv, openLoopActions } from '../../../src/index.js';

const plan = findPolicy('open-loop');

describe('the open-loop sequence', () => {
  it('is that of the grader in use, or that of v2', () => {
    const played = (grader: string) => plan.choice(1, grader);
    expect(played('v1')).toEqual(openLoopActions('v1'));
    for (const grader of ['v2', 'calm', 'toString']) expect(played(grader)).toEqual(openLoopActions('v2'));
    expect(['v1', 'v2', 'calm', 'toString'].map(plan.sequenceGrader)).toEqual(['v1', 'v2', 'v2', 'v2']);
    expect(openLoopActions('v1')).not.toEqual(openLoopActions('v2'));
  });

  it.each([1, 2, 3, 1000])('is the same in each of %d environments', (numEnvs) => {
    using env = createVecEnv({ numEnvs });
    env.reset({ seed: 5 });
    const { trajectory } = env.run(plan.choice(numEnvs, 'v2'), { trajectory: true });
    for (let i = 0; i < numEnvs; i++) {
      expect(trajectory!.actions.slice(28 * i, 28 * (i + 1))).toEqual(Int8Array.from(openLoopActions('v2')));
    }
  });
});

it('the name of a policy is that of its actions and its belief; built-in policies have no sequence', () => {
  for (const policy of POLICIES) {
    expect(policyName({ policy: policy.actions, belief: policy.belief })).toBe(policy.name);
    if (typeof policy.choice(1, 'v2') === 'string') expect(policy.sequenceGrader('v2')).toBeNull();
  }
});

/** The table of policies, and the open-loop policy's sequence by grader. */
import { describe, expect, it } from 'vitest';
import { findPolicy, POLICIES, policyName } from '../../../src/agents/policies/policies.js';
import { createVecEnv, openLoopActions } from '../../../src/index.js';

const openLoop = findPolicy('open-loop');

describe('the open-loop sequence', () => {
  it('is the sequence of the grader in use, or of v2 if that grader has none', () => {
    const choiceUnder = (grader: string) => openLoop.choice(1, grader);
    expect(choiceUnder('v1')).toEqual(openLoopActions('v1'));
    for (const grader of ['v2', 'calm', 'toString'])
      expect(choiceUnder(grader)).toEqual(openLoopActions('v2'));
    expect(['v1', 'v2', 'calm', 'toString'].map(openLoop.sequenceGrader)).toEqual(['v1', 'v2', 'v2', 'v2']);
    expect(openLoopActions('v1')).not.toEqual(openLoopActions('v2'));
  });

  it.each([1, 2, 3, 1000])('is the same in each of %d environments', (numEnvs) => {
    using env = createVecEnv({ numEnvs });
    env.reset({ seed: 5 });
    const { trajectory } = env.run(openLoop.choice(numEnvs, 'v2'), { trajectory: true });
    for (let i = 0; i < numEnvs; i++) {
      expect(trajectory!.actions.slice(28 * i, 28 * (i + 1))).toEqual(Int8Array.from(openLoopActions('v2')));
    }
  });
});

it('a policy is named after its actions and its belief, and built-in policies have no sequence', () => {
  for (const policy of POLICIES) {
    expect(policyName({ policy: policy.actions, belief: policy.belief })).toBe(policy.name);
    if (typeof policy.choice(1, 'v2') === 'string') expect(policy.sequenceGrader('v2')).toBeNull();
  }
});

/** The table of policies, and the open-loop policy's sequence by grader. */
import { describe, expect, it } from 'vitest';
import { findPolicy, POLICIES, policyName } from '../../../src/agents/policies/fixed-policies.js';
import { createVecEnv, openLoopActions } from '../../../src/index.js';

const openLoop = findPolicy('open-loop');

describe('the open-loop sequence', () => {
  it('is the sequence of the grader in use, or of v2 if that grader has none', () => {
    const choiceFor = (grader: string) => openLoop.choice(1, grader);
    // `calm` and `toString` are custom graders; every object has a property `toString`.
    expect(choiceFor('v1')).toEqual(openLoopActions('v1'));
    for (const grader of ['v2', 'calm', 'toString']) expect(choiceFor(grader)).toEqual(openLoopActions('v2'));
    const graders = ['v1', 'v2', 'v3', 'calm', 'toString'];
    expect(graders.map(openLoop.sequenceGrader)).toEqual(['v1', 'v2', 'v3', 'v2', 'v2']);
    expect(choiceFor('v3')).toEqual(openLoopActions('v3'));
    expect(openLoopActions('v1')).not.toEqual(openLoopActions('v2'));
  });

  it.each([1, 3])('is the same in each of %d environments', (numEnvs) => {
    using env = createVecEnv({ numEnvs });
    env.reset({ seed: 5 });
    const { trajectory } = env.run(openLoop.choice(numEnvs, 'v2'), { trajectory: true });
    for (let i = 0; i < numEnvs; i++) {
      expect(trajectory!.actions.slice(28 * i, 28 * (i + 1))).toEqual(Int8Array.from(openLoopActions('v2')));
    }
  });
});

it('a policy is named after its actions and its belief, and a policy that the engine plays by name has no sequence', () => {
  for (const policy of POLICIES) {
    expect(policyName({ policy: policy.actions, belief: policy.belief })).toBe(policy.name);
    if (typeof policy.choice(1, 'v2') === 'string') expect(policy.sequenceGrader('v2')).toBeNull();
  }
});

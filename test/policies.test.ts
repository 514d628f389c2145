/** Policies that play a tape: the one for the grader in use, the same for everybody. */
import { describe, expect, it } from 'vitest';
import { blindTape, createVecEnv } from '../src/index.js';
import { findPolicy, POLICIES, policyName } from '../src/policies/policies.js';

const plan = findPolicy('blind-tape');

describe('the blind tape', () => {
  it('is the one for the grader in use, else that of v2, and says whose', () => {
    const played = (grader: string) => plan.choice(1, grader);
    expect(played('v1')).toEqual(blindTape('v1'));
    for (const grader of ['v2', 'calm', 'toString']) expect(played(grader)).toEqual(blindTape('v2'));
    expect(['v1', 'v2', 'calm', 'toString'].map(plan.tape)).toEqual(['v1', 'v2', 'v2', 'v2']);
    expect(blindTape('v1')).not.toEqual(blindTape('v2'));
  });

  it.each([1, 2, 3, 1000])('is the same in each of %d slots', (numEnvs) => {
    using env = createVecEnv({ numEnvs });
    env.reset({ seed: 5 });
    const { trajectory } = env.run(plan.choice(numEnvs, 'v2'), { trajectory: true });
    for (let i = 0; i < numEnvs; i++) {
      expect(trajectory!.actions.slice(28 * i, 28 * (i + 1))).toEqual(Int8Array.from(blindTape('v2')));
    }
  });
});

it('every policy is called by its actions and its belief, and only tapes have one', () => {
  for (const policy of POLICIES) {
    expect(policyName({ policy: policy.actions, belief: policy.belief })).toBe(policy.name);
    if (typeof policy.choice(1, 'v2') === 'string') expect(policy.tape('v2')).toBeNull();
  }
});

/** Policies that play a tape: the one for the grader in use, the same for everybody. */
import { describe, expect, it } from 'vitest';
import { ACTION_NAMES, createVecEnv } from '../src/index.js';
import { blind, POLICIES, policyName } from '../src/policies/policies.js';

const tapeOf = (offset: number) =>
  Array.from({ length: 28 }, (_, step) => ACTION_NAMES[(step + offset) % ACTION_NAMES.length]);
const plan = blind('tape', { v1: tapeOf(1), v2: tapeOf(2) });

describe('a blind plan', () => {
  it('plays the tape of the grader in use, else that of v2, and says whose', () => {
    const first = (grader: string) => (plan.choice(1, grader) as Uint8Array)[0];
    expect([first('v1'), first('v2'), first('calm'), first('toString')]).toEqual([1, 2, 2, 2]);
    expect(['v1', 'v2', 'calm', 'toString'].map(plan.tape)).toEqual(['v1', 'v2', 'v2', 'v2']);
  });

  it.each([1, 2, 3, 1000])('is the same in each of %d slots', (numEnvs) => {
    using env = createVecEnv({ numEnvs });
    env.reset({ seed: 5 });
    const { trajectory } = env.run(plan.choice(numEnvs, 'v2'), { trajectory: true });
    const codes = tapeOf(2).map((name) => ACTION_NAMES.indexOf(name));
    for (let i = 0; i < numEnvs; i++) {
      expect(Array.from(trajectory!.actions.subarray(28 * i, 28 * (i + 1)))).toEqual(codes);
    }
  });
});

it('every policy is called by its actions and its belief, and only tapes have one', () => {
  for (const policy of POLICIES) {
    expect(policyName({ policy: policy.actions, belief: policy.belief })).toBe(policy.name);
    if (typeof policy.choice(1, 'v2') === 'string') expect(policy.tape('v2')).toBeNull();
  }
});

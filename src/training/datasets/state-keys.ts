/** Chooses the seed, profile and step of each row of a dataset for GRPO. */
import type { DatasetPlan } from './grpo/grpo-options.js';
import { permutation } from './permutation.js';

/** The episode and step of a state. The state also depends on the policy that chose the earlier actions (policy-mix.ts). */
export interface StateKey {
  readonly seed: number;
  readonly profile: string;
  /** The number of steps before the state. */
  readonly stepIndex: number;
}

/** The second word of the permutation's key: "CELL" in ASCII. No stream of the published world has this number. */
const STREAM = 0x43454c4c;

/**
 * Returns the state key of each row. Every key occurs once, in a shuffled order, before any repeats. The rows of a
 * longer dataset begin with those of a shorter one.
 */
export function stateKeysOf({ seeds, profiles, steps, seed }: DatasetPlan): (row: number) => StateKey {
  const numSteps = steps.last - steps.first + 1;
  const numKeys = (seeds.last - seeds.first + 1) * profiles.length * numSteps;
  const shuffled = permutation(numKeys, [seed, STREAM]);
  return (row) => {
    const keyIndex = shuffled(row % numKeys);
    const episode = Math.floor(keyIndex / numSteps);
    return {
      seed: seeds.first + Math.floor(episode / profiles.length),
      profile: profiles[episode % profiles.length],
      stepIndex: steps.first + (keyIndex % numSteps),
    };
  };
}

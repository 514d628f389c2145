/** Chooses the moment of each row. */
import type { DatasetPlan } from './grpo/grpo-options.js';
import { permutation } from './permutation.js';

/** A person, a week and a time in it: with the policy that plays, all that a state depends on. */
export interface Cell {
  readonly seed: number;
  readonly profile: string;
  /** Steps taken before. */
  readonly stepIndex: number;
}

/** The second word of the key, which no stream of the published world has. */
const STREAM = 0x43454c4c;

/**
 * The cell of each row. All there are come up in a shuffled order before the first comes up again: no row is
 * another's twin sooner than it must be. A longer dataset begins with the shorter one.
 */
export function cellsOf({ seeds, profiles, steps, seed }: DatasetPlan): (row: number) => Cell {
  const times = steps.last - steps.first + 1;
  const cells = (seeds.last - seeds.first + 1) * profiles.length * times;
  const shuffled = permutation(cells, [seed, STREAM]);
  return (row) => {
    const cell = shuffled(row % cells);
    const week = Math.floor(cell / times);
    return {
      seed: seeds.first + Math.floor(week / profiles.length),
      profile: profiles[week % profiles.length],
      stepIndex: steps.first + (cell % times),
    };
  };
}

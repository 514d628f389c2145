/**
 * Truth tables of the three autoreset modes, written by hand. A row has a call and the outputs after it, one entry for each
 * environment: `r` is a reward, `g` a grade, `x` in a call an illegal action, `-` no output. An empty cell has the values of
 * the row above. expectTable (test/support/truth-table.ts) says more.
 */
import { describe, expect, it } from 'vitest';
import type { AutoresetMode } from '../../../src/engine/validate/autoreset-modes.js';
import { LAYOUTS } from '../../../src/engine/vec-env/vec-env-options.js';
import { NUM_STEPS } from '../../../src/world/fields.js';
import { ENGINES, openOn } from '../../support/engines.js';
import { expectTable, FIRST_SEED } from '../../support/truth-table.js';

/** Disabled: an ended episode stays until a reset, and a step of it is refused. */
const DISABLED = `
  call        | step     | reward | terminated | truncated | finalMask | grade | final | episode | seed
  reset       | 0 0 0    | 0 0 0  | 0 0 0      | 0 0 0     | 0 0 0     | 0 0 0 | - - - | 0 0 0   | 100 101 102
  run 27 26 3 | 27 26 3  | r r r  |            |           |           |       |       |         |
  step 111    | 28 27 4  |        | 1 0 0      |           | 1 0 0     | g 0 0 |       |         |
  over 111    |          |        |            |           |           |       |       |         |
  step 011    | 28 28 5  | 0 r r  | 1 1 0      |           | 0 1 0     | g g 0 |       |         |
  illegal 00x |          |        |            |           |           |       |       |         |
  step 000    |          | 0 0 0  |            |           | 0 0 0     |       |       |         |
  over 010    |          |        |            |           |           |       |       |         |
  step 001    | 28 28 6  | 0 0 r  |            |           |           |       |       |         |
  reset 100   | 0 28 6   |        | 0 1 0      |           |           | 0 g 0 |       |         |
  step 101    | 1 28 7   | r 0 r  |            |           |           |       |       |         |
  run 28 28 8 | 28 28 8  |        | 1 1 0      |           | 1 0 0     | g g 0 |       |         |
  run 0 0 28  | 28 28 28 |        | 1 1 1      |           | 0 0 1     | g g g |       |         |
  over 111    |          |        |            |           |           |       |       |         |
  reset       | 0 0 0    | 0 0 0  | 0 0 0      |           | 0 0 0     | 0 0 0 |       |         |
  step 111    | 1 1 1    | r r r  |            |           |           |       |       |         |`;

/** Next-step: the step after an end ignores its action and resets, with reward 0. */
const NEXT_STEP = `
  call         | step     | reward | terminated | truncated | finalMask | grade | final | episode | seed
  reset        | 0 0 0    | 0 0 0  | 0 0 0      | 0 0 0     | 0 0 0     | 0 0 0 | - - - | 0 0 0   | 100 101 102
  run 27 26 3  | 27 26 3  | r r r  |            |           |           |       |       |         |
  step 111     | 28 27 4  |        | 1 0 0      |           | 1 0 0     | g 0 0 |       |         |
  illegal 1x1  |          |        |            |           |           |       |       |         |
  step x11     | 0 28 5   | 0 r r  | 0 1 0      |           | 0 1 0     | 0 g 0 |       | 1 0 0   | 103 101 102
  step 101     | 1 28 6   | r 0 r  |            |           | 0 0 0     |       |       |         |
  step 000     |          | 0 0 0  |            |           |           |       |       |         |
  step 0x0     | 1 0 6    |        | 0 0 0      |           |           | 0 0 0 |       | 1 1 0   | 103 104 102
  step 111     | 2 1 7    | r r r  |            |           |           |       |       |         |
  run 28 1 27  | 28 1 27  |        | 1 0 0      |           | 1 0 0     | g 0 0 |       |         |
  step x11     | 0 2 28   | 0 r r  | 0 0 1      |           | 0 0 1     | 0 0 g |       | 2 1 0   | 106 104 102
  reset 001    | 0 2 0    | 0 r 0  | 0 0 0      |           | 0 0 0     | 0 0 0 |       |         |
  run 27 27 28 | 27 27 28 | r r r  | 0 0 1      |           | 0 0 1     | 0 0 g |       |         |
  step 11x     | 28 28 0  | r r 0  | 1 1 0      |           | 1 1 0     | g g 0 |       | 2 1 1   | 106 104 105
  step xx1     | 0 0 1    | 0 0 r  | 0 0 0      |           | 0 0 0     | 0 0 0 |       | 3 2 1   | 102 100 105
  step 111     | 1 1 2    | r r r  |            |           |           |       |       |         |`;

/**
 * Same-step: the last step also resets. The reward and the grade belong to the ended episode, the observation to the
 * next.
 */
const SAME_STEP = `
  call         | step     | reward | terminated | truncated | finalMask | grade | final    | episode | seed
  reset        | 0 0 0    | 0 0 0  | 0 0 0      | 0 0 0     | 0 0 0     | 0 0 0 | 0 0 0    | 0 0 0   | 100 101 102
  run 27 26 3  | 27 26 3  | r r r  |            |           |           |       |          |         |
  illegal x11  |          |        |            |           |           |       |          |         |
  step 111     | 0 27 4   |        | 1 0 0      |           | 1 0 0     | g 0 0 | 28 0 0   | 1 0 0   | 103 101 102
  illegal 11x  |          |        |            |           |           |       |          |         |
  step 111     | 1 0 5    |        | 0 1 0      |           | 0 1 0     | 0 g 0 | 0 28 0   | 1 1 0   | 103 104 102
  step 101     | 2 0 6    | r 0 r  | 0 0 0      |           | 0 0 0     | 0 0 0 | 0 0 0    |         |
  step 000     |          | 0 0 0  |            |           |           |       |          |         |
  run 27 0 28  | 27 0 28  | r 0 r  | 0 0 1      |           | 0 0 1     | 0 0 g |          |         |
  over 111     |          |        |            |           |           |       |          |         |
  step 110     | 0 1 28   | r r 0  | 1 0 1      |           | 1 0 0     | g 0 g | 28 0 0   | 2 1 0   | 106 104 102
  reset 001    | 0 1 0    |        | 1 0 0      |           | 0 0 0     | g 0 0 | 0 0 0    |         |
  step 011     | 0 2 1    | 0 r r  | 0 0 0      |           |           | 0 0 0 |          |         |
  run 27 27 27 | 27 27 27 | r r r  |            |           |           |       |          |         |
  step 111     | 0 0 0    |        | 1 1 1      |           | 1 1 1     | g g g | 28 28 28 | 3 2 1   | 102 100 105
  step 000     |          | 0 0 0  | 0 0 0      |           | 0 0 0     | 0 0 0 | 0 0 0    |         |
  step 111     | 1 1 1    | r r r  |            |           |           |       |          |         |`;

const TABLES: [AutoresetMode, string][] = [
  ['disabled', DISABLED],
  ['next-step', NEXT_STEP],
  ['same-step', SAME_STEP],
];
const seedRange = [FIRST_SEED, 7] as const;

describe.each(ENGINES)('$name', (engine) => {
  describe.each(LAYOUTS)('%s', (layout) => {
    it.each(TABLES)('autoreset %s follows its truth table', (autoreset, table) => {
      using env = openOn(engine, { numEnvs: 3, autoreset, seedRange, layout });
      expect(env.metadata).toEqual({ autoresetMode: autoreset });
      expectTable(env, table);
    });
  });

  it('counters equal the numbers of steps and episodes in the tables', () => {
    const counted = TABLES.map(([autoreset, table]) => {
      using env = openOn(engine, { numEnvs: 3, autoreset, seedRange });
      expect(env.counters).toEqual({ steps: 0, episodes: 0 });
      expectTable(env, table);
      return [autoreset, env.counters];
    });
    expect(Object.fromEntries(counted)).toEqual({
      // 28 steps in each environment, 28 more in the environment that was reset, then 3.
      disabled: { steps: 4 * NUM_STEPS + 3, episodes: 4 },
      // Environment 0: 28, 28, 28, 1. Environment 1: 28, 28, 1. Environment 2: 28, 28, 2.
      'next-step': { steps: 7 * NUM_STEPS + 4, episodes: 7 },
      // Environment 0: 28, 28, 28, 1. Environment 1: 28, 28, 1. Environment 2: 28, 28, 1.
      'same-step': { steps: 7 * NUM_STEPS + 3, episodes: 7 },
    });
  });

  it('finalMask marks the ends of three episodes', () => {
    const ends = (autoreset: AutoresetMode): number[] => {
      // 18 environments fill a register of the widest kernel (16 lanes) and a part of a second.
      using env = openOn(engine, { numEnvs: 18, autoreset });
      env.reset({ seed: 1 });
      const times = Array.from({ length: 3 * NUM_STEPS + 2 }, (_, t) => t + 1);
      return times.filter(() => {
        const { finalMask } = env.step(new Uint8Array(18));
        expect(new Set(finalMask).size).toBe(1);
        return finalMask[0] !== 0;
      });
    };
    expect(ends('same-step')).toEqual([NUM_STEPS, 2 * NUM_STEPS, 3 * NUM_STEPS]);
    expect(ends('next-step')).toEqual([NUM_STEPS, 2 * NUM_STEPS + 1, 3 * NUM_STEPS + 2]);
  });
});

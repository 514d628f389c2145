/** Operation counts of a step: the counted formulas are those of docs/world.md, and the counts equal those of the reference. */
import { readFileSync } from 'node:fs';
import { afterEach, expect, test, vi } from 'vitest';
import { WORLD } from '../../bench/episodes.js';
import { type Condition, demandOf, operationsOf, RANDOM_LINES, STEP_LINES } from '../../bench/operations.js';
import type * as Rules from '../../src/engine/reference/rules.js';
import { NUM_ACTIONS, NUM_METERS, NUM_SLOTS, PROFILE_SIZE, TAGS } from '../../src/world/fields.js';

const fileOf = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

test('every counted formula is in docs/world.md', () => {
  const page = fileOf('docs/world.md');
  for (const { text } of [...STEP_LINES, ...RANDOM_LINES]) expect(page).toContain(text);
});

afterEach(() => void vi.restoreAllMocks());

/** Imports the compiled rules.ts, and counts its roundings, minimums and maximums. Each rounding is one operation on floats. */
async function countingRules() {
  const counts = { roundings: 0, limits: 0 };
  const [fround, min, max] = [Math.fround, Math.min, Math.max];
  vi.spyOn(Math, 'fround').mockImplementation((x) => {
    counts.roundings++;
    return fround(x);
  });
  // A second instance of the module, because a module keeps the Math.fround that it finds when it is loaded.
  const path = new URL('../../dist/engine/reference/rules.js?counted', import.meta.url).href;
  const rules = (await import(/* @vite-ignore */ path)) as typeof Rules;
  vi.spyOn(Math, 'min').mockImplementation((...xs) => {
    counts.limits++;
    return min(...xs);
  });
  vi.spyOn(Math, 'max').mockImplementation((...xs) => {
    counts.limits++;
    return max(...xs);
  });
  return { rules, counts };
}

test('the counted arithmetic of a step equals that of the reference, under every condition', async () => {
  const { rules, counts } = await countingRules();
  const { params } = WORLD;
  const flags = [false, true];
  const conditions = flags.flatMap((isStressed) => flags.map((hasEvent) => [isStressed, hasEvent]));
  for (let action = 0; action < NUM_ACTIONS; action++) {
    for (let t = 0; t < NUM_SLOTS; t++) {
      for (const [isStressed, hasEvent] of conditions) {
        counts.roundings = counts.limits = 0;
        const state = {
          stepCount: t,
          early: 0,
          late: 0,
          well: 0,
          crashes: 0,
          meters: new Float32Array(NUM_METERS).fill(isStressed ? 0 : 1),
          profile: new Float32Array(PROFILE_SIZE).fill(0.5),
        };
        const event = { x0: hasEvent ? 0 : 2 ** 32 - 1, x1: 0 };
        rules.stepEpisode(params, state, action, { noise: { x0: 1, x1: 2 }, event });
        const holds = (when: Condition): number => {
          if (when === 'stress') return Number(isStressed);
          if (when === 'event') return Number(hasEvent);
          return (params.tagged[TAGS.indexOf(when)] >>> action) & 1;
        };
        const { arithmetic } = operationsOf(STEP_LINES, holds);
        // The reference does not round exact results: the six noise numbers z (four operations each) and the conversion of
        // `low` of rule 8. It adds the reward to the return outside rules.ts.
        expect([action, counts.roundings]).toEqual([action, arithmetic - 6 * 4 - 1 - 1]);
        expect(counts.limits).toBe(2 * NUM_METERS);
      }
    }
  }
});

test('a register with several episodes computes every line; for one episode the counts are means over steps', () => {
  // 16 and 1 are numbers of episodes in a register. A draw has 2 + 2 + 20 * 3 + 5 * 3 = 79 operations on words.
  expect(demandOf('given', 16)).toEqual({ arithmetic: 133, choices: 17, words: 178 });
  expect(demandOf('random', 16)).toEqual({ arithmetic: 133, choices: 17, words: 178 + 79 + 3 });
  const { arithmetic, choices, words } = demandOf('given', 1);
  expect([Math.round(arithmetic), choices, Math.round(words)]).toEqual([95, 17, 175]);
});

test.each([
  ['given', 16],
  ['random', 16],
  ['random', 1],
] as const)(
  'of %s actions, %i episodes in a register: the share of each kind of operation is within 0.03 of its share in a mix of probe.h',
  (choice, lanes) => {
    const mixes = fileOf('bench/core/probe.h').matchAll(/\{(\d+), (\d+), (\d+)\}/g);
    const sharesOf = (counts: readonly number[]) =>
      counts.map((count) => count / counts.reduce((sum, each) => sum + each, 0));
    const { arithmetic, choices, words } = demandOf(choice, lanes);
    const wanted = sharesOf([arithmetic, choices, words]);
    const distances = Array.from(mixes, ([, ...counts]) =>
      Math.max(...sharesOf(counts.map(Number)).map((share, k) => Math.abs(share - wanted[k]))),
    );
    // The bound is chosen by hand.
    expect(Math.min(...distances)).toBeLessThan(0.03);
  },
);

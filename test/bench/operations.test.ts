/** Operation counts of a step: the counted formulas are those of docs/world.md, and the counts equal those of the reference. */
import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, test, vi } from 'vitest';
import {
  type Condition,
  demandOf,
  operationsOf,
  operationsOfLine,
  RANDOM_LINES,
  STEP_LINES,
} from '../../bench/operations.js';
import { WORLD } from '../../bench/rig.js';
import type * as Rules from '../../src/engine/reference/rules.js';
import { NUM_ACTIONS, NUM_METERS, NUM_SLOTS, PROFILE_SIZE, TAGS } from '../../src/world/fields.js';
import { threefryVectors } from '../support/golden.js';

const fileOf = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

test('every counted formula is in docs/world.md', () => {
  const page = fileOf('docs/world.md');
  for (const { text } of [...STEP_LINES, ...RANDOM_LINES]) expect(page).toContain(text);
});

afterEach(() => {
  vi.restoreAllMocks();
});

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
  for (let action = 0; action < NUM_ACTIONS; action++) {
    for (let t = 0; t < NUM_SLOTS; t++) {
      for (const [isStressed, hasEvent] of [
        [false, false],
        [true, false],
        [false, true],
        [true, true],
      ]) {
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

/** A 32-bit word that counts the operations on words. */
class Counted {
  static operations = 0;
  readonly value: number;
  constructor(value: number) {
    this.value = value >>> 0;
  }
  #count(value: number): Counted {
    Counted.operations++;
    return new Counted(value);
  }
  add = (other: Counted) => this.#count(this.value + other.value);
  xor = (other: Counted) => this.#count(this.value ^ other.value);
  rotate = (bits: number) => this.#count((this.value << bits) | (this.value >>> (32 - bits)));
}

/** Computes a draw of docs/world.md with words that count operations. */
function countingThreefry(key: readonly Counted[], counter: readonly Counted[]): [Counted, Counted] {
  const ks = [key[0], key[1], key[0].xor(key[1]).xor(new Counted(0x1bd11bda))];
  let [x0, x1] = [counter[0].add(ks[0]), counter[1].add(ks[1])];
  for (let g = 1; g <= 5; g++) {
    for (const bits of g % 2 === 1 ? [13, 15, 26, 6] : [17, 29, 16, 24]) {
      x0 = x0.add(x1);
      x1 = x1.rotate(bits).xor(x0);
    }
    x0 = x0.add(ks[g % 3]);
    x1 = x1.add(ks[(g + 1) % 3]).add(new Counted(g));
  }
  return [x0, x1];
}

test('the counted word operations of a draw equal those that a draw performs', () => {
  const [{ key, counter, output }] = threefryVectors;
  const counted = (words: readonly string[]) => words.map((word) => new Counted(Number.parseInt(word, 16)));
  Counted.operations = 0;
  const drawn = countingThreefry(counted(key), counted(counter));
  const { operations } = Counted;
  expect(drawn.map(({ value }) => value)).toEqual(counted(output).map(({ value }) => value));
  // Without the line of `below`, the only one with the text 16.
  const draw = RANDOM_LINES.filter(({ when, text }) => when === undefined && !text.includes('16'));
  expect(operationsOf(draw, () => 1).words).toBe(operations);
});

describe('operation counts', () => {
  test('of a step include every line if a register holds several episodes; for one episode they are means over steps', () => {
    // 16 and 1 are numbers of episodes in a register.
    expect(demandOf('given', 16)).toEqual({ arithmetic: 133, choices: 17, words: 178 });
    expect(demandOf('random', 16)).toEqual({ arithmetic: 133, choices: 17, words: 260 });
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
      const sources = fileOf('bench/core/probe.h');
      const mixes = Array.from(sources.matchAll(/\{(\d+), (\d+), (\d+)\}/g), ([, ...counts]) =>
        counts.map(Number),
      );
      const { arithmetic, choices, words } = demandOf(choice, lanes);
      const total = arithmetic + choices + words;
      const distances = mixes.map(([a, c, w]) => {
        const all = a + c + w;
        return Math.max(
          ...[a / all - arithmetic / total, c / all - choices / total, w / all - words / total].map(Math.abs),
        );
      });
      // The bound is chosen by hand.
      expect(Math.min(...distances)).toBeLessThan(0.03);
    },
  );

  test('of a line are its operators outside indices, times the number of computations', () => {
    const line = { rule: 0, text: 'a[i + 1] = (b * c) - d', times: 5, extra: { choices: 1 } };
    expect(operationsOfLine(line)).toEqual({ arithmetic: 10, choices: 5, words: 0 });
  });
});

/** Tests the computations of the graders view: weights that sum to 1, ranked policies, verdict, ties, ticks. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { graderWeights } from '../../src/engine/graders/grader.js';
import { parseGrader } from '../../src/engine/graders/parse-grader.js';
import { evaluate } from '../../src/evaluation/on-first-use.js';
import { rankPolicies } from '../../src/evaluation/ranking.js';
import { createVecEnv } from '../../src/index.js';
import { COMPONENT_NAMES, NUM_COMPONENTS } from '../../src/world/fields.js';
import { playPolicies } from '../../web/src/graders/play-policies.js';
import { meansOf, placesOf, RANKED_POLICIES, verdictOf } from '../../web/src/graders/verdict.js';
import {
  beyond,
  decimalOf,
  distribute,
  fractionsOf,
  graderFile,
  graderOf,
  moveWeight,
  PRESETS,
  presetOf,
  rangeOf,
  type Sliders,
  slidersAt,
  toggleLock,
  WHOLE,
  weightsFrom,
} from '../../web/src/graders/weights.js';

const sum = (weights: readonly number[]): number => weights.reduce((a, b) => a + b, 0);
const [V1, V2, V3, EQUAL] = PRESETS.map(({ weights }) => weights);

describe('weights', () => {
  it('have the built-in graders among their presets', () => {
    expect(PRESETS.map(({ name }) => name)).toEqual(['v1', 'v2', 'v3', 'equal']);
    for (const { name, weights } of PRESETS.slice(0, 3)) {
      expect(Float32Array.from(fractionsOf(weights))).toEqual(graderWeights(name));
      expect(presetOf(weights)?.name).toBe(name);
    }
    expect(EQUAL).toEqual(Array(8).fill(125));
    expect(presetOf([WHOLE, 0, 0, 0, 0, 0, 0, 0])).toBeNull();
  });

  it('share the remainder in their proportions when one weight moves, evenly if all others are 0, and return', () => {
    expect(moveWeight(slidersAt(V2), 5, 600).weights).toEqual([75, 100, 50, 125, 50, 600, 0, 0]);
    expect(moveWeight(slidersAt(V2), 5, 0).weights).toEqual([188, 250, 125, 312, 125, 0, 0, 0]);
    const alone = slidersAt([0, 0, 0, WHOLE, 0, 0, 0, 0]);
    expect(moveWeight(alone, 3, 300).weights).toEqual([100, 100, 100, 300, 100, 100, 100, 100]);
    const moved = moveWeight(slidersAt(V2), 3, WHOLE);
    expect(moved.weights).toEqual(alone.weights);
    expect(moveWeight(moved, 3, V2[3]).weights).toEqual(V2);
  });

  it('keep their value if they are locked', () => {
    const locked = toggleLock(toggleLock(slidersAt(V2), 0), 1);
    const moved = moveWeight(locked, 5, WHOLE);
    expect(moved.weights).toEqual([150, 200, 0, 0, 0, 650, 0, 0]);
    expect(rangeOf(locked, 5)).toEqual({ low: 0, high: 650 });
    expect(moveWeight(locked, 0, 500)).toBe(locked);
    const all = [2, 3, 4, 6, 7].reduce(toggleLock, locked);
    expect(rangeOf(all, 5)).toEqual({ low: 200, high: 200 });
    expect(moveWeight(all, 5, 500).weights).toEqual(V2);
    expect(toggleLock(locked, 0).locked[0]).toBe(false);
  });

  it('sum to 1 and are a valid grader after any moves and locks', () => {
    const k = fc.nat(NUM_COMPONENTS - 1);
    const move = fc.record({ k, to: fc.double({ min: -2000, max: 3000, noNaN: true }) });
    const step = fc.oneof(move, fc.record({ k }));
    const apply = (sliders: Sliders, each: { k: number; to?: number }): Sliders =>
      each.to === undefined ? toggleLock(sliders, each.k) : moveWeight(sliders, each.k, each.to);
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        let sliders = slidersAt(V2);
        for (const each of steps) {
          const before = sliders;
          sliders = apply(sliders, each);
          expect(sum(sliders.weights)).toBe(WHOLE);
          expect(sliders.weights.every((weight) => Number.isInteger(weight) && weight >= 0)).toBe(true);
          before.locked.forEach((isLocked, j) => {
            if (isLocked) expect(sliders.weights[j]).toBe(before.weights[j]);
          });
          graderOf(sliders.weights, 'mine');
        }
      }),
      { seed: 7 },
    );
  });

  it('are distributed and written in thousandths', () => {
    expect(distribute([1, 1, 1], 10)).toEqual([4, 3, 3]);
    expect(distribute([0, 5], 3)).toEqual([0, 3]);
    expect(decimalOf(167)).toBe('0.167');
    expect(decimalOf(150)).toBe('0.15');
    expect(decimalOf(WHOLE)).toBe('1.00');
  });

  it('are parsed back from a link', () => {
    for (const weights of [V1, V3, EQUAL, [WHOLE, 0, 0, 0, 0, 0, 0, 0]])
      expect(weightsFrom(weights.map(decimalOf).join(','))).toEqual(weights);
    const wrong = [
      '',
      '1',
      '0.5,0.5',
      '0.5,0.5,0,0,0,0.1,0,0',
      '0.15,0.2,0.1,0.25,0.1,0.2',
      '0.5,0.5,0,0,0,0,0',
      '0,0,0,0,0,0,0,0',
    ];
    for (const text of [
      ...wrong,
      '1,0,0,0,0,0,0,0,0',
      '1.5,-0.5,0,0,0,0,0,0',
      '1,,0,0,0,0,0,0',
      'a,0,0,0,0,1,0,0',
    ])
      expect(weightsFrom(text)).toBeNull();
  });

  it('make a file that `eval --grader` accepts', () => {
    const weights = moveWeight(slidersAt(V1), 5, 333).weights;
    const grader = parseGrader(graderFile(weights, 'mine'));
    expect(grader.name).toBe('mine');
    expect(Object.values(grader.weights)).toEqual(fractionsOf(weights));
    expect(parseGrader(graderFile(V2)).name).toBe('v2');
    expect(() => graderFile(weights, 'v2')).toThrow('a name of its own');
  });
});

const [FIRST_SEED, NUM_EPISODES] = [20000, 24];
const seeds = Uint32Array.from({ length: NUM_EPISODES }, (_, i) => FIRST_SEED + i);
const env = createVecEnv({ numEnvs: NUM_EPISODES });
const policies = (await playPolicies(env, seeds)).map((components, k) => ({
  name: RANKED_POLICIES[k].name,
  components,
}));
env.close();

describe('ranked policies', () => {
  it('have the scores of an evaluation', async () => {
    // The first episodes suffice: `evaluate` plays step by step.
    const numEpisodes = 6;
    const first = policies.map(({ name, components }) => ({
      name,
      components: components.slice(0, numEpisodes * NUM_COMPONENTS),
    }));
    for (const grader of ['v1', 'v2', 'v3']) {
      const candidates = RANKED_POLICIES.filter(({ sequenceGrader }) =>
        [null, grader].includes(sequenceGrader),
      );
      // `evaluate` has no random+inference. Under v3 the beliefs of `evaluate` minimise the squared error; those
      // of the page minimise the absolute error under every grader.
      const compared = candidates.filter(
        ({ name, beliefs }) => name !== 'random+inference' && (grader !== 'v3' || beliefs !== 'inference'),
      );
      const { rows } = await evaluate({
        policies: compared.map(({ name }) => name.replace(`open-loop-${grader}`, 'open-loop')),
        grader,
        seeds: { first: FIRST_SEED, last: FIRST_SEED + numEpisodes - 1 },
      });
      const ranking = rankPolicies(first, grader);
      compared.forEach(({ name }, i) => {
        const { finalScore } = ranking.find(({ policy }) => policy === name)!;
        const { mean, low, high } = rows[i].finalScore;
        expect({ name, ...finalScore }).toEqual({ name, mean, low, high });
      });
    }
  });

  it('have the same components in any batch, and take the same actions with any belief', async () => {
    using part = createVecEnv({ numEnvs: 5 });
    for (const [k, components] of (await playPolicies(part, seeds.subarray(7, 12))).entries())
      expect(components).toEqual(policies[k].components.slice(7 * NUM_COMPONENTS, 12 * NUM_COMPONENTS));
    // Only belief_accuracy and belief_skill depend on beliefs.
    const means = policies.map(({ components }) =>
      meansOf(components).filter((_, k) => !COMPONENT_NAMES[k].startsWith('belief')),
    );
    // RANKED_POLICIES has the five sources of actions three times, with another source of beliefs each time.
    for (const k of [0, 1, 2, 3, 4]) expect([means[k + 5], means[k + 10]]).toEqual([means[k], means[k]]);
  });
});

/** The policies with inference that the best policy without inference beats, under v1 and v2. */
const BEATEN = ['open-loop-v3+inference', 'heuristic+inference', 'random+inference'];

describe('the verdict', () => {
  const verdict = (weights: readonly number[]) =>
    verdictOf(rankPolicies(policies, weights), policies, weights);

  it("is 'inference' if only the belief counts", () => {
    const result = verdict([0, 0, 0, 0, 0, 1, 0, 0]);
    expect(result.pays).toBe('inference');
    expect(result.beaten).toEqual([]);
    expect(result.bestIgnoring).toMatch(/\+constant$/);
    expect(result.lead.low).toBeGreaterThan(0);
  });

  it("is 'part' under v2", () => {
    const result = verdict(fractionsOf(V2));
    expect(result.pays).toBe('part');
    expect(result.bestInferring).toMatch(/^open-loop-v[123]\+inference$/);
    expect(result.bestIgnoring).toMatch(/^open-loop-v[123]\+constant$/);
    expect(result.beaten.map(({ name }) => name)).toEqual(BEATEN);
    const [, { lead, largestPart }] = result.beaten;
    expect(largestPart.component).toBe('adaptation');
    expect(lead.mean).toBeGreaterThan(lead.low!);
  });

  it("is 'ignorance' if the belief does not count", () => {
    const weights = fractionsOf(V1);
    const result = verdict(weights);
    expect(result.pays).toBe('ignorance');
    expect(result.lead.mean).toBe(0);
    // A policy that infers is not beaten if its scores equal those of the best policy that does not infer.
    expect(result.beaten.map(({ name }) => name)).toEqual(BEATEN);
  });
});

it('policies share a place if all their scores are equal, but not if only the means are equal', () => {
  const interval = (mean: number, width = 0.01) => ({ mean, low: mean - width, high: mean + width });
  /** A ranked policy. Its lead is 0 with an interval of width 0 if its scores equal the next policy's in every episode. */
  const entry = (policy: string, mean: number, lead: ReturnType<typeof interval> | null) => ({
    policy,
    finalScore: interval(mean),
    lead,
  });
  const ranking = [
    entry('a', 0.5, interval(0, 0)),
    entry('b', 0.5, interval(0, 0)),
    entry('c', 0.5, interval(0, 0.01)),
    entry('d', 0.5, interval(0.1)),
    entry('e', 0.4, null),
  ];
  const places = placesOf(ranking).map(
    ({ policies, lead }) => `${policies.join(' ')}: ${lead?.mean ?? null}`,
  );
  expect(places).toEqual(['a b c: 0', 'd: 0.1', 'e: null']);
});

it('a jump beyond a flip goes to the nearest thousandth at which it has happened', () => {
  const flip = (weight: number) => ({
    policy: 'a',
    passed: 'x',
    weight,
    unscaled: weight,
    weights: {} as never,
  });
  expect([flip(0.1004), flip(0.3001), flip(0.3)].map((each) => beyond(each, 0.2))).toEqual([100, 301, 300]);
});

/** Rankings, and their flips (weights at which two policies swap), checked by hand and by grading again. */
import { describe, expect, it } from 'vitest';
import {
  COMPONENT_NAMES,
  createVecEnv,
  type ErrorCode,
  type Flip,
  graderWeights,
  type PolicyComponents,
  type RunOptions,
  rankPolicies,
  regrade,
  validateGrader,
  weightSensitivity,
} from '../../src/index.js';
import { forAll, type Random } from '../support/random.js';
import { expectRefusal } from '../support/refusals.js';

const { length: SIZE } = COMPONENT_NAMES;

/** Returns a policy whose episodes have the same components. Missing components are 0. */
const steady = (name: string, components: number[], episodes = 4): PolicyComponents => ({
  name,
  components: Float32Array.from({ length: SIZE * episodes }, (_, i) => components[i % SIZE] ?? 0),
});
const meanOf = ({ components }: PolicyComponents, weights: Parameters<typeof regrade>[1]): number =>
  regrade(components, weights).reduce((sum, score) => sum + score, 0) / (components.length / SIZE);
const sensitivityTo = (component: string, results: ReturnType<typeof weightSensitivity>) =>
  results.find((result) => result.component === component)!;

/** Returns the components of four policies, played on the same seeds. */
function playPolicies(): PolicyComponents[] {
  using env = createVecEnv({ numEnvs: 200 });
  const play = (name: string, choice: 'random' | 'heuristic', options: RunOptions = {}) => {
    env.reset({ seed: 100 });
    return { name, components: env.run(choice, options).components.slice() };
  };
  const beliefs = [0.5, 0.5, 0.5];
  return [
    play('random', 'random'),
    play('heuristic', 'heuristic'),
    play('random+constant', 'random', { beliefs }),
    play('heuristic+constant', 'heuristic', { beliefs }),
  ];
}

describe('rankPolicies', () => {
  it('sorts the best first, with paired leads', () => {
    /** Returns a policy with two episodes. */
    const policyOf = (name: string, one: number, other: number) => {
      const components = new Float32Array(2 * SIZE);
      [components[0], components[SIZE]] = [one, other];
      return { name, components };
    };
    const policies = [policyOf('weak', 0.2, 0.4), policyOf('strong', 0.5, 0.9)];
    const [first, second] = rankPolicies(policies, [1, 0, 0, 0, 0, 0, 0, 0]);
    expect([first.policy, second.policy]).toEqual(['strong', 'weak']);
    expect(first.finalScore.mean).toBeCloseTo(0.7, 7);
    // Differences of 0.3 and 0.5: their standard error is 0.1, and with one degree of freedom t is tan(0.475 pi).
    const half = 0.1 * Math.tan(0.475 * Math.PI);
    expect(first.lead!.mean).toBeCloseTo(0.4, 7);
    expect(first.lead!.high! - first.lead!.mean).toBeCloseTo(half, 6);
    expect(second.lead).toBeNull();
  });

  it('keeps the given order of ties', () => {
    const order = (grader: string) => rankPolicies(playPolicies(), grader).map(({ policy }) => policy);
    expect(order('v1')).toEqual(['heuristic', 'heuristic+constant', 'random', 'random+constant']);
    expect(rankPolicies(playPolicies(), 'v1')[0].lead).toEqual({ mean: 0, low: 0, high: 0 });
  });

  it('has no intervals for one episode, and no lead for one policy', () => {
    const [only] = rankPolicies([steady('only', [1, 0, 0, 0, 0, 0], 1)], 'v2');
    expect(only).toEqual({
      policy: 'only',
      finalScore: { mean: Math.fround(0.15), low: null, high: null },
      lead: null,
    });
  });

  it.each<[policies: (one: PolicyComponents) => unknown, grader: string, code: ErrorCode, mention: string]>([
    [() => [], 'v2', 'wrong_length', 'at least one policy'],
    [() => ({}), 'v2', 'wrong_type', 'policies'],
    [(one) => [one, one], 'v2', 'unknown_name', '"one" twice'],
    [(one) => [one, steady('other', [1], 3)], 'v2', 'wrong_length', '"other"'],
    [(one) => [{ ...one, components: new Float32Array() }], 'v2', 'wrong_length', 'one episode of "one"'],
    [(one) => [{ ...one, components: [] }], 'v2', 'wrong_type', 'components of "one"'],
    [() => [steady('two', [2])], 'v2', 'out_of_range', 'components of "two"'],
    [(one) => [one], 'v9', 'unknown_name', 'v9'],
  ])('refuses policies that cannot be compared: %s', (policies, grader, code, mention) => {
    expectRefusal(() => rankPolicies(policies(steady('one', [1])) as never, grader), code, mention);
  });
});

describe('weightSensitivity, compared with numbers computed by hand', () => {
  const worker = steady('worker', [0.5, 1, 0.2, 0, 0.5, 0, 0, -1]);
  const guesser = steady('guesser', [0.5, 0.2, 0.2, 0, 0.5, 0.8, 0, -1]);
  const third = steady('third', [0.5, 0.1, 0.2, 0, 0.5, 0.8, 0, -1]);
  const grader = { name: 'mine', weights: { crash_free: 0.4, progress: 0.4, belief_accuracy: 0.2 } };

  it('a slope is the paired difference of the component, and the policies swap at the flip', () => {
    const sensitivities = weightSensitivity([worker, guesser], grader);
    const slopes = sensitivities.map(({ leads: [{ slope }] }) => Number(slope.mean.toFixed(6)));
    expect(slopes).toEqual([0, 0.8, 0, 0, 0, -0.8, 0, 0]);
    // A component that is equal for both policies has no flip.
    const flips = sensitivities.map(({ below, above }) => [below !== null, above !== null]);
    const none = [false, false];
    expect(flips).toEqual([none, [true, false], none, none, none, [false, true], none, none]);
    // The scores are equal if 0.4 x 0.8 (progress) = weight x 0.8 (belief): at a weight of 0.4 with the other weights
    // unchanged, which is 0.4 / 1.2 if all weights are scaled to sum to 1.
    const { weight, above } = sensitivityTo('belief_accuracy', sensitivities);
    expect([weight, above]).toMatchObject([0.2, { policy: 'guesser', passed: 'worker' }]);
    expect([above!.weight, above!.unscaled, above!.weights.progress]).toEqual(
      [1 / 3, 0.4, 1 / 3].map((each) => expect.closeTo(each, 5)),
    );
    const { below } = sensitivityTo('progress', sensitivities);
    expect([below!.weight, below!.unscaled]).toEqual([0.25, 0.2].map((each) => expect.closeTo(each, 5)));
  });

  it('a tied policy leads at a tiny weight of a component in which it is better', () => {
    const tied = weightSensitivity([worker, guesser], [1, 0, 0, 0, 0, 0, 0, 0]);
    const belief = sensitivityTo('belief_accuracy', tied);
    expect(belief.above!.weight).toBeGreaterThan(0);
    expect(belief.above!.weight).toBeLessThan(1e-5);
    expect(sensitivityTo('progress', tied)).toMatchObject({ below: null, above: null });
    // All weight is on crash_free, so the other weights have no proportions.
    expect(sensitivityTo('crash_free', tied)).toMatchObject({ weight: 1, below: null, above: null });
  });

  it('the flip reported for a weight is the nearest flip of all pairs of neighbours; one policy has no pair', () => {
    const [, progress] = weightSensitivity([worker, guesser, third], grader);
    expect(progress.leads).toMatchObject([
      { ahead: 'worker', behind: 'guesser' },
      { ahead: 'guesser', behind: 'third' },
    ]);
    expect(progress.below).toBe(progress.leads[0].below);
    expect(weightSensitivity([worker], 'v2')[0]).toMatchObject({ leads: [], below: null, above: null });
  });
});

/** Returns weights f32 [8] with this weight of component k, and the other weights in proportion. */
const weightsAt = (weights: ArrayLike<number>, k: number, weight: number): Float32Array =>
  Float32Array.from(weights, (other, j) => (j === k ? weight : (other * (1 - weight)) / (1 - weights[k])));

describe('flips, checked by grading again', () => {
  const policies = playPolicies();
  const byName = new Map(policies.map((policy) => [policy.name, policy]));
  const leadAt = ({ policy, passed }: Flip, weights: Float32Array) =>
    meanOf(byName.get(policy)!, weights) - meanOf(byName.get(passed)!, weights);

  /** Expects `flip.policy` to lead at the flip, and its weights to agree with each other. */
  function expectFlip(flip: Flip, grader: Float32Array, k: number): void {
    const weights = graderWeights(validateGrader({ name: 'flipped', weights: flip.weights }));
    expect(leadAt(flip, weights)).toBeGreaterThan(0);
    expect(weights[k]).toBe(Math.fround(flip.weight));
    expect(flip.unscaled / (flip.unscaled + 1 - grader[k])).toBeCloseTo(flip.weight, 7);
  }

  it('of v2 swap the policies, and no nearer weight does', () => {
    const grader = graderWeights('v2');
    const flips = weightSensitivity(policies, 'v2').flatMap(({ leads }, k) =>
      leads.flatMap(({ below, above }) =>
        [below, above].flatMap((flip) => (flip === null ? [] : [{ flip, k }])),
      ),
    );
    expect(flips.length).toBeGreaterThan(5);
    for (const { flip, k } of flips) {
      expectFlip(flip, grader, k);
      for (const part of [0.25, 0.5, 0.75, 0.99, 0.9999]) {
        const nearer = grader[k] + part * (flip.weight - grader[k]);
        expect(leadAt(flip, weightsAt(grader, k, nearer))).toBeLessThan(0);
      }
    }
  });

  it('are null where no weight swaps the policies', () => {
    const grader = graderWeights('v2');
    weightSensitivity(policies, 'v2').forEach(({ leads }, k) => {
      for (const { ahead, behind, below, above } of leads) {
        const weights = [...(below ? [] : [0.25, 0.5, 1].map((part) => grader[k] * (1 - part)))];
        if (above === null)
          weights.push(...[0.25, 0.5, 0.99].map((part) => grader[k] + part * (1 - grader[k])));
        for (const weight of weights) {
          const lead = leadAt({ policy: behind, passed: ahead } as Flip, weightsAt(grader, k, weight));
          expect(lead).toBeLessThanOrEqual(1e-7);
        }
      }
    });
  });

  /** Returns three policies with random components. */
  const randomPolicies = (random: Random): PolicyComponents[] =>
    ['a', 'b', 'c'].map((name) => ({
      name,
      components: Float32Array.from({ length: 10 * SIZE }, () => random.real()),
    }));

  it('of random graders swap the policies, with clamped scores and negative weights', () => {
    let flips = 0;
    let negative = 0;
    forAll(400, (random) => {
      const drawnPolicies = randomPolicies(random);
      for (const policy of drawnPolicies) byName.set(policy.name, policy);
      const grader = graderWeights(random.weights(SIZE));
      if (grader.some((weight) => weight < 0)) negative++;
      weightSensitivity(drawnPolicies, grader).forEach(({ below, above, weight, component }, k) => {
        expect([component, weight]).toEqual([COMPONENT_NAMES[k], grader[k]]);
        for (const flip of [below, above]) {
          if (flip === null) continue;
          flips++;
          expectFlip(flip, grader, k);
          expect(flip === below ? flip.weight < weight : flip.weight > weight).toBe(true);
        }
      });
    });
    expect(flips).toBeGreaterThan(100);
    expect(negative).toBeGreaterThan(10);
  });
});

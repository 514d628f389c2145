/** What the grader view computes: weights that always sum to 1, the engine's ranking, and what it shows. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { evaluate } from '../src/evaluate/evaluate.js';
import { rankPolicies } from '../src/evaluate/ranking.js';
import { graderWeights } from '../src/graders/grader.js';
import { parseGrader } from '../src/graders/parse.js';
import { createVecEnv } from '../src/index.js';
import { NUM_COMPONENTS } from '../src/world/fields.js';
import { CONTESTANTS, tapeOf } from '../web/src/graders/contestants.js';
import { playAll } from '../web/src/graders/playing.js';
import { meansOf, verdictOf } from '../web/src/graders/verdict.js';
import {
  decimalOf,
  fractionsOf,
  graderFile,
  graderOf,
  lockWeight,
  moveWeight,
  PRESETS,
  presetOf,
  rangeOf,
  type Sliders,
  shared,
  slidersAt,
  WHOLE,
  weightsFrom,
} from '../web/src/graders/weights.js';

const sum = (weights: readonly number[]): number => weights.reduce((a, b) => a + b, 0);
const [V1, V2, EQUAL] = PRESETS.map(({ weights }) => weights);

describe('six weights', () => {
  it('have the engine’s graders among their presets', () => {
    expect(PRESETS.map(({ name }) => name)).toEqual(['v1', 'v2', 'equal']);
    for (const { name, weights } of PRESETS.slice(0, 2)) {
      expect(Float32Array.from(fractionsOf(weights))).toEqual(graderWeights(name));
      expect(presetOf(weights)?.name).toBe(name);
    }
    expect(EQUAL).toEqual([167, 167, 167, 167, 166, 166]);
    expect(presetOf([WHOLE, 0, 0, 0, 0, 0])).toBeNull();
  });

  it('share what one leaves in their proportions', () => {
    expect(moveWeight(slidersAt(V2), 5, 600).weights).toEqual([75, 100, 50, 125, 50, 600]);
    expect(moveWeight(slidersAt(V2), 5, 0).weights).toEqual([188, 250, 125, 312, 125, 0]);
  });

  it('come back as they were when one goes there and back', () => {
    const there = moveWeight(slidersAt(V2), 3, WHOLE);
    expect(there.weights).toEqual([0, 0, 0, WHOLE, 0, 0]);
    expect(moveWeight(there, 3, V2[3]).weights).toEqual(V2);
  });

  it('share evenly where none has a share', () => {
    const alone = slidersAt([0, 0, 0, WHOLE, 0, 0]);
    expect(moveWeight(alone, 3, 500).weights).toEqual([100, 100, 100, 500, 100, 100]);
  });

  it('stay where they are locked', () => {
    const locked = lockWeight(lockWeight(slidersAt(V2), 0), 1);
    const moved = moveWeight(locked, 5, WHOLE);
    expect(moved.weights).toEqual([150, 200, 0, 0, 0, 650]);
    expect(rangeOf(locked, 5)).toEqual({ low: 0, high: 650 });
    expect(moveWeight(locked, 0, 500)).toBe(locked);
    const all = [2, 3, 4].reduce(lockWeight, locked);
    expect(rangeOf(all, 5)).toEqual({ low: 200, high: 200 });
    expect(moveWeight(all, 5, 500).weights).toEqual(V2);
    expect(lockWeight(locked, 0).locked[0]).toBe(false);
  });

  it('sum to 1 and are a grader, whatever is moved and locked', () => {
    const k = fc.nat(NUM_COMPONENTS - 1);
    const move = fc.record({ k, to: fc.double({ min: -2000, max: 3000, noNaN: true }) });
    const step = fc.oneof(move, fc.record({ k }));
    const play = (sliders: Sliders, each: { k: number; to?: number }): Sliders =>
      each.to === undefined ? lockWeight(sliders, each.k) : moveWeight(sliders, each.k, each.to);
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        let sliders = slidersAt(V2);
        for (const each of steps) {
          const before = sliders;
          sliders = play(sliders, each);
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

  it('are shared out whole', () => {
    expect(shared([1, 1, 1], 10)).toEqual([4, 3, 3]);
    expect(shared([0, 5], 3)).toEqual([0, 3]);
    expect(decimalOf(167)).toBe('0.167');
    expect(decimalOf(150)).toBe('0.15');
    expect(decimalOf(WHOLE)).toBe('1.00');
  });

  it('are read from a link as they were written', () => {
    for (const weights of [V1, EQUAL, [WHOLE, 0, 0, 0, 0, 0]])
      expect(weightsFrom(weights.map(decimalOf).join(','))).toEqual(weights);
    for (const text of [
      '',
      '1',
      '0.5,0.5',
      '0.5,0.5,0,0,0,0.1',
      '1.5,-0.5,0,0,0,0',
      '1,,0,0,0,0',
      'a,0,0,0,0,1',
    ])
      expect(weightsFrom(text)).toBeNull();
  });

  it('make a file that `eval --grader` takes', () => {
    const weights = moveWeight(slidersAt(V1), 5, 333).weights;
    const grader = parseGrader(graderFile(weights, 'mine'));
    expect(grader.name).toBe('mine');
    expect(Object.values(grader.weights)).toEqual(fractionsOf(weights));
    expect(parseGrader(graderFile(V2)).name).toBe('v2');
    expect(() => graderFile(weights, 'v2')).toThrow('a name of its own');
  });
});

const [FIRST, PEOPLE] = [20000, 24];
const seeds = Uint32Array.from({ length: PEOPLE }, (_, i) => FIRST + i);
const env = createVecEnv({ numEnvs: PEOPLE });
const policies = playAll(env, seeds).map((components, k) => ({ name: CONTESTANTS[k].name, components }));
env.close();

describe('contestants', () => {
  it('earn what an evaluation says they earn', async () => {
    for (const grader of ['v1', 'v2']) {
      const names = CONTESTANTS.filter(({ acting }) => [null, grader].includes(tapeOf(acting)));
      const known = names.filter(({ name }) => name !== 'random+inference');
      const { rows } = await evaluate({
        policies: known.map(({ name }) => name.replace(`blind-tape-${grader}`, 'blind-tape')),
        ...{ grader, seeds: { first: FIRST, last: FIRST + PEOPLE - 1 } },
      });
      const ranking = rankPolicies(policies, grader);
      known.forEach(({ name }, i) => {
        const { finalScore } = ranking.find(({ policy }) => policy === name)!;
        expect({ name, ...finalScore }).toEqual({
          name,
          mean: rows[i].finalScore.mean,
          low: rows[i].finalScore.low,
          high: rows[i].finalScore.high,
        });
      });
    }
  });

  it('are the same however the people are cut', () => {
    const part = createVecEnv({ numEnvs: 5 });
    const earned = playAll(part, seeds.subarray(7, 12));
    part.close();
    earned.forEach((components, k) => {
      expect(components).toEqual(policies[k].components.slice(7 * NUM_COMPONENTS, 12 * NUM_COMPONENTS));
    });
  });

  it('act alike whatever they believe', () => {
    const acting = (k: number): number[] => meansOf(policies[k].components).slice(0, 5);
    for (let k = 0; k < 4; k++) {
      expect(acting(k + 4)).toEqual(acting(k));
      expect(acting(k + 8)).toEqual(acting(k));
    }
  });
});

describe('what a grader pays for', () => {
  const verdict = (weights: readonly number[]) =>
    verdictOf(rankPolicies(policies, weights), policies, weights);

  it('is inference where only the belief counts', () => {
    const said = verdict([0, 0, 0, 0, 0, 1]);
    expect(said.pays).toBe('inference');
    expect(said.beaten).toEqual([]);
    expect(said.ignoring).toMatch(/\+constant$/);
    expect(said.lead.low).toBeGreaterThan(0);
  });

  it('is in part a blind tape under v2', () => {
    const said = verdict(fractionsOf(V2));
    expect(said).toMatchObject({
      pays: 'part',
      inferring: expect.stringMatching(/^blind-tape-v[12]\+inference$/),
      ignoring: expect.stringMatching(/^blind-tape-v[12]\+constant$/),
    });
    expect(said.beaten.map(({ name }) => name)).toEqual(['heuristic+inference', 'random+inference']);
    expect(said.beaten[0].mostly.component).toBe('adaptation');
    expect(said.beaten[0].by.mean).toBeGreaterThan(said.beaten[0].by.low!);
  });

  it('is ignorance where the belief counts for nothing', () => {
    const weights = fractionsOf(V1);
    const said = verdict(weights);
    expect(said.pays).toBe('ignorance');
    expect(said.lead.mean).toBe(0);
    // Equal scores beat nobody.
    expect(said.beaten.map(({ name }) => name)).toEqual(['heuristic+inference', 'random+inference']);
  });
});

/** The tapes that were kept: that they are what they are said to be. `npm run tapes -- --check` finds them again. */
import { describe, expect, it } from 'vitest';
import { blindTape, createWorld, GRADER_NAMES } from '../src/index.js';
import { BLIND_TAPES } from '../src/policies/blind-tapes.js';
import { toSearchRequest } from '../src/search/request.js';
import { Scorer, trialOf } from '../src/search/scorer.js';
import { spreadSeeds } from '../src/search/seeds.js';
import { ACTION_NAMES, NUM_ACTIONS, NUM_STEPS } from '../src/world/fields.js';
import { ENGINES, type Engine } from './support/engines.js';
import { expectRefusal } from './support/refusals.js';
import { playProblem } from './support/tapes.js';

const { trainingSeeds, freshSeeds, tapes, worldDigest } = BLIND_TAPES;
const training = spreadSeeds(trainingSeeds.count, trainingSeeds);
const fresh = spreadSeeds(freshSeeds.last - freshSeeds.first + 1, freshSeeds);
const graders = Object.keys(tapes) as (keyof typeof tapes)[];

it('there is one for each grader, of this world', () => {
  expect(graders).toEqual(GRADER_NAMES);
  expect(worldDigest).toBe(createWorld().digest);
});

it('none was found on seeds that results are reported on', () => {
  expect([trainingSeeds.first, trainingSeeds.last]).toEqual([100, 9999]);
  expect(freshSeeds.first).toBeGreaterThan(trainingSeeds.last);
});

describe.each(graders)('%s', (grader) => {
  const score = (seeds: Uint32Array, { backend, kernel }: Engine) =>
    playProblem(blindTape(grader), { seeds }, { backend, kernel, grader }).score;

  it.each(ENGINES)('scores what is said: $name', (engine) => {
    expect(Number(score(training, engine).toFixed(5))).toBe(tapes[grader].trainingScore);
    expect(Number(score(fresh, engine).toFixed(5))).toBe(tapes[grader].freshScore);
  });

  it('was found by at least as many evaluations as were asked for', () => {
    expect(tapes[grader].evaluations).toBeGreaterThanOrEqual(300_000);
  });

  it('cannot be bettered by another action at one step, in training', () => {
    const changed = Array.from({ length: NUM_STEPS * NUM_ACTIONS }, (_, k) => {
      const tape = blindTape(grader);
      tape[Math.floor(k / NUM_ACTIONS)] = k % NUM_ACTIONS;
      return tape;
    });
    const request = toSearchRequest([{ seeds: training }], { grader });
    using scorer = new Scorer(request, changed.length);
    const trial = trialOf(0, Uint8Array.from(changed.flatMap((tape) => [...tape])));
    for (const _ of scorer.score([trial], 1));
    expect(Number(Math.max(...trial.scores).toFixed(5))).toBe(tapes[grader].trainingScore);
  });

  it('is new each time', () => {
    blindTape(grader).fill(0);
    expect(Array.from(blindTape(grader), (action) => ACTION_NAMES[action])).toEqual(
      tapes[grader].days.flat(),
    );
    expect(blindTape(grader)).toHaveLength(NUM_STEPS);
  });
});

it('without looking, v2 pays 0.58 and more', () => {
  expect(tapes.v2.freshScore).toBeGreaterThanOrEqual(0.58);
});

it('another grader has none', () => {
  expectRefusal(() => blindTape('v3'), 'unknown_name', 'v1, v2', '"v3"');
});

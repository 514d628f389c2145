/**
 * Shares of scores, with their intervals, and the anchors in the JSON of an audit. The anchors of a grader are the scores of
 * the best open-loop sequence and of a planner that knows the profile. A share is 0 at the first anchor and 1 at the second.
 */
import { describe, expect, it } from 'vitest';
import { toGrader } from '../../src/engine/graders/grader.js';
import {
  bracketEvaluation,
  bracketNotes,
  checkGrader,
  MIN_SPAN,
  readAnchors,
  shareOf,
} from '../../src/evaluation/bracket.js';
import { evaluate } from '../../src/evaluation/on-first-use.js';
import { tQuantile } from '../../src/shared/statistics.js';
import { BRACKET_AUDIT, TEST_SETTINGS } from '../support/bracket.js';

const exact = (mean: number) => ({ mean, low: mean, high: mean });
/** Returns a mean of `count` values and its 95 % interval. @param error the standard error. */
const around = (mean: number, error: number, count: number) => {
  const half = error * tQuantile(count - 1);
  return { mean, low: mean - half, high: mean + half };
};
const seeds = { sequenceSeeds: '0-100', oracleSeeds: '0-50' };
const anchors = { sequence: exact(0.25), oracle: exact(0.75), ...seeds };
const halfWidth = (share: ReturnType<typeof shareOf>) => share!.high! - share!.mean;

describe('a share', () => {
  it('is 0 at the sequence, 1 at the oracle, and linear', () => {
    const share = (mean: number) => shareOf(exact(mean), 10, anchors);
    expect([0.25, 0.75, 0.5, 0, 1].map((mean) => share(mean)!.mean)).toEqual([0, 1, 0.5, -0.5, 1.5]);
    expect(share(0.5)).toEqual({ mean: 0.5, low: 0.5, high: 0.5 });
  });

  it('adds the errors of both anchors, each weighted by the distance of the score from the other anchor', () => {
    // The interval has the degrees of freedom of the anchor with fewer seeds: 50.
    const uncertain = { ...anchors, sequence: around(0.25, 0.01, 101), oracle: around(0.75, 0.02, 51) };
    const share = (mean: number) => halfWidth(shareOf(exact(mean), 10, uncertain));
    expect(share(0.25)).toBeCloseTo(0.02 * tQuantile(50), 12);
    expect(share(0.75)).toBeCloseTo(0.04 * tQuantile(50), 12);
    expect(share(0.5)).toBeCloseTo(0.03 * tQuantile(50), 12);
  });

  it('combines the errors of the score and an anchor with the degrees of freedom of Welch and Satterthwaite', () => {
    const uncertain = { ...anchors, oracle: around(0.75, 0.02, 51) };
    // The errors of the score and of the oracle, divided by the distance of the anchors.
    const [own, other] = [0.01 / 0.5, 0.02 / 0.5];
    const freedom = (own ** 2 + other ** 2) ** 2 / (own ** 4 / 9 + other ** 4 / 50);
    const share = shareOf(around(0.75, 0.01, 10), 10, uncertain);
    expect(halfWidth(share)).toBeCloseTo(tQuantile(Math.floor(freedom)) * Math.hypot(own, other), 12);
  });

  it('has no interval if the score has none, or if an anchor has one seed or an unknown number of seeds', () => {
    const alone = { mean: 0.5, low: null, high: null };
    const withoutInterval = { mean: 0.5, low: null, high: null };
    expect(shareOf(alone, 1, anchors)).toEqual(withoutInterval);
    expect(shareOf(exact(0.5), 10, { ...anchors, oracleSeeds: '7-7' })).toEqual(withoutInterval);
    expect(shareOf(exact(0.5), 10, { ...anchors, oracleSeeds: 'some' })).toEqual(withoutInterval);
  });

  it('is missing if the anchors are closer than MIN_SPAN or in the wrong order', () => {
    for (const oracle of [0.25 + 0.99 * MIN_SPAN, 0.25, 0.1]) {
      expect(shareOf(exact(0.5), 10, { ...anchors, oracle: exact(oracle) })).toBeNull();
    }
    expect(shareOf(exact(0.5), 10, { ...anchors, oracle: exact(0.25 + 1.01 * MIN_SPAN) })).not.toBeNull();
  });
});

describe('the anchors of an audit', () => {
  const read = (changes: object) => readAnchors({ ...BRACKET_AUDIT, ...changes }, TEST_SETTINGS);

  it('are read from its JSON', () => {
    expect(read({}).anchors.sampled.sequence.mean).toBe(0.25);
  });

  it.each([
    [{ schema: undefined }, 'Expected the JSON of audit --json, got a value without "schema"'],
    [{ schema: { name: 'rhythm-vec/evaluation', version: 1 } }, 'got "rhythm-vec/evaluation"'],
    [{ schema: { name: 'rhythm-vec/audit', version: 9 } }, 'Expected "rhythm-vec/audit" version 1'],
    [{ anchors: undefined }, 'anchors: Expected an object with the keys sampled, discrete, got none.'],
    [{ anchors: { sampled: BRACKET_AUDIT.anchors.sampled } }, 'anchors.discrete'],
    [{ version: '0.0.1' }, 'Expected an audit of rhythm-vec'],
    [{ world_digest: 'e7d4'.repeat(16) }, 'Expected an audit of the world'],
  ])('are refused with %j', (changes, message) => {
    expect(() => read(changes)).toThrow(message);
  });

  it('are refused if their grader is not in use, or has other weights', () => {
    const own = read({});
    const v2 = toGrader('v2');
    checkGrader(own, [v2, { name: 'v3' }]);
    checkGrader(own, [{ name: 'v2' }]);
    expect(() => checkGrader(own, [{ name: 'calm' }, { name: 'v3' }])).toThrow(
      'Expected an audit of a grader in use (calm, v3), got an audit of "v2"',
    );
    expect(() => checkGrader(own, [{ name: 'v2', weights: toGrader('v1').weights }])).toThrow(
      'other weights',
    );
  });
});

describe('an evaluation', () => {
  it('has shares for sampled and for all discrete profiles, not for one profile', async () => {
    const evaluation = await evaluate({ episodes: 3, policies: ['heuristic'] });
    const { sampled } = BRACKET_AUDIT.anchors;
    const own = readAnchors({ ...BRACKET_AUDIT, anchors: { sampled, discrete: sampled } }, TEST_SETTINGS);
    const { rows, brackets, yardsticks } = bracketEvaluation(evaluation, own);
    expect(yardsticks.slice(0, 2).map(({ grader }) => grader)).toEqual(['v2', 'v3']);
    expect(brackets[0]).toBe(own);
    const withShare = rows.filter(({ share }) => share !== null).map(({ condition }) => condition);
    expect(withShare).toEqual(['in-distribution', 'ood', 'discrete']);
    const [{ share, finalScore, regraded }] = rows;
    expect(share!.mean).toBeCloseTo((finalScore.mean - 0.25) / 0.5, 12);
    expect(regraded.map(({ grader }) => grader)).toEqual(['v3']);
  });
});

describe('notes', () => {
  const own = readAnchors(BRACKET_AUDIT, TEST_SETTINGS);
  const notesOn = (grader: string, profiles: string) => bracketNotes([{ grader, profiles }], [own]);

  it('name the anchors, and say why a share is missing', () => {
    expect(notesOn('v2', 'sampled')).toEqual([
      'Anchors for sampled profiles under v2: 0.250 ±0.010 (0) and 0.750 ±0.020 (1).',
    ]);
    expect(notesOn('v2', 'named')).toEqual([
      'No share for discrete profiles under v2: the anchors, 0.500 and 0.510, lie closer than 0.02.',
    ]);
    expect(notesOn('calm', 'sampled')[0]).toContain('No share under calm, whose anchors are unknown.');
  });
});

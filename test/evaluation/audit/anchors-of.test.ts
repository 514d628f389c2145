/** The anchors of a grader, in the package and in an audit's JSON: the scores of the best action sequence and of the oracle. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { anchorsOf, createWorld, GRADER_NAMES, shippedAnchors } from '../../../src/index.js';
import { refusalOf } from '../../support/refusals.js';

const storedAudit = (grader: string) =>
  JSON.parse(readFileSync(new URL(`../../../docs/audits/${grader}/audit.json`, import.meta.url), 'utf8'));

describe.each(GRADER_NAMES)('the anchors of %s', (grader) => {
  const shipped = shippedAnchors(grader)!;

  it('equal the anchors of its stored audit, to five decimals', () => {
    const rounded = JSON.parse(
      JSON.stringify(anchorsOf(storedAudit(grader)).anchors, (_, value) =>
        typeof value === 'number' ? Number(value.toFixed(5)) : value,
      ),
    );
    expect(shipped.anchors).toEqual(rounded);
    expect([shipped.grader, shipped.worldDigest]).toEqual([grader, createWorld().digest]);
  });

  it('have a higher score for the planner that knows the profile than for the best action sequence', () => {
    for (const { sequence, oracle } of Object.values(shipped.anchors)) {
      expect(oracle.low).toBeGreaterThan(sequence.high!);
      expect(sequence.low).toBeLessThanOrEqual(sequence.mean);
    }
  });
});

it('a custom grader has no shipped anchors', () => {
  expect(shippedAnchors('calm')).toBeNull();
});

describe('an audit is refused', () => {
  const stored = storedAudit('v2');
  const { sampled, discrete } = stored.anchors;
  const interval = (low: number | null, mean: number, high: number) => ({ mean, low, high });
  const withSampled = (changes: object) => ({
    anchors: { ...stored.anchors, sampled: { ...sampled, ...changes } },
  });
  it.each<[string, object, string]>([
    ['no grader', { grader: undefined }, 'grader: Expected a name of'],
    ['no anchors', { anchors: undefined }, 'anchors: Expected an object with the keys sampled'],
    ['no kinds of profiles', { anchors: {} }, 'anchors.sampled: Expected an object with the keys'],
    [
      'a number as an anchor',
      { anchors: { sampled, discrete: { ...discrete, oracle: 1 } } },
      'anchors.discrete.oracle: Expected an object with the keys mean, low, high, got 1.',
    ],
    ['a mean above its interval', withSampled({ sequence: interval(0.4, 0.6, 0.5) }), 'low <= mean <= high'],
    ['a mean below its interval', withSampled({ sequence: interval(0.4, 0.3, 0.5) }), '0.4, 0.3 and 0.5'],
    ['half an interval', withSampled({ oracle: interval(null, 0.3, 0.5) }), 'or null for both bounds'],
    ['a mean above 1', withSampled({ oracle: interval(1, 1.1, 1.2) }), 'oracle.mean: Expected a number'],
    [
      'one seed',
      withSampled({ sequence_seeds: '20000' }),
      'sequence_seeds: Expected seeds such as "20000-20099"',
    ],
    ['reversed seeds', withSampled({ oracle_seeds: '9-2' }), 'oracle_seeds: Expected seeds such as'],
    [
      'seeds above u32',
      withSampled({ oracle_seeds: '0-4294967296' }),
      'oracle_seeds: Expected seeds such as',
    ],
    [
      'an unknown weight',
      { grader_weights: { ...stored.grader_weights, progres: 1 } },
      'Expected no keys but crash_free',
    ],
    [
      'a missing weight',
      { grader_weights: { ...stored.grader_weights, progress: undefined } },
      'grader_weights.progress: Expected a finite number, got none.',
    ],
    ['weights that are a list', { grader_weights: [1] }, 'grader_weights: Expected an object with'],
  ])('for %s', (_, changes, message) => {
    const error = refusalOf(() => anchorsOf({ ...stored, ...changes }));
    expect(error).toMatchObject({ name: 'InputError', code: 'bad_audit' });
    expect(error.message).toContain(message);
    expect(error.message).toContain('Pass the JSON of audit --json');
  });
});

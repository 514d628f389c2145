/** The anchors of a grader, in the package and in an audit's JSON: the scores of the best action sequence and of the oracle. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { anchorsOf, createWorld, GRADER_NAMES, InputError, shippedAnchors } from '../../../src/index.js';

const storedAudit = (grader: string) =>
  JSON.parse(readFileSync(new URL(`../../../docs/audits/${grader}/audit.json`, import.meta.url), 'utf8'));

describe.each(GRADER_NAMES)('the anchors of %s', (grader) => {
  const shipped = shippedAnchors(grader)!;

  it('equal the anchors of its stored audit, to five decimals', () => {
    const rounded = JSON.parse(
      JSON.stringify(anchorsOf(storedAudit(grader))!.anchors, (_, value) =>
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

it('a custom grader has no shipped anchors, and an older audit has no anchors', () => {
  expect(shippedAnchors('calm')).toBeNull();
  const { anchors: _, ...olderAudit } = storedAudit('v2');
  expect(anchorsOf(olderAudit)).toBeNull();
  expect(anchorsOf(null)).toBeNull();
});

it('invalid anchors are refused; the error names the field', () => {
  const stored = storedAudit('v2');
  const changed = {
    ...stored,
    anchors: { ...stored.anchors, discrete: { ...stored.anchors.discrete, oracle: 1 } },
  };
  expect(() => anchorsOf(changed)).toThrow(
    'anchors.discrete.oracle: Expected an object with the keys mean, low, high, got 1.',
  );
  expect(() => anchorsOf({ anchors: {} })).toThrow(InputError);
});

describe('an audit is refused', () => {
  const stored = storedAudit('v2');
  const { sampled } = stored.anchors;
  const withSampled = (changes: object) => ({
    ...stored,
    anchors: { ...stored.anchors, sampled: { ...sampled, ...changes } },
  });
  it.each([
    ['no grader', { anchors: {} }, 'grader: Expected a name of'],
    ['no kinds of profiles', { ...stored, anchors: {} }, 'anchors.sampled: Expected an object with the keys'],
    ['a mean above its interval', { sequence: { mean: 0.6, low: 0.4, high: 0.5 } }, 'low <= mean <= high'],
    ['a mean below its interval', { sequence: { mean: 0.3, low: 0.4, high: 0.5 } }, 'got 0.4, 0.3 and 0.5'],
    ['half an interval', { oracle: { mean: 0.3, low: null, high: 0.5 } }, 'or null for both bounds'],
    [
      'a mean above 1',
      { oracle: { mean: 1.1, low: 1, high: 1.2 } },
      'oracle.mean: Expected a number from 0 to 1',
    ],
    [
      'one seed',
      { sequence_seeds: '20000' },
      'sequence_seeds: Expected seeds such as "20000-20099", got "20000"',
    ],
    ['reversed seeds', { oracle_seeds: '9-2' }, 'oracle_seeds: Expected seeds such as'],
    ['seeds above u32', { oracle_seeds: '0-4294967296' }, 'oracle_seeds: Expected seeds such as'],
    [
      'an unknown weight',
      { ...stored, grader_weights: { ...stored.grader_weights, progres: 1 } },
      'grader_weights: Expected no keys but crash_free, progress,',
    ],
    [
      'weights that are a list',
      { ...stored, grader_weights: [1] },
      'grader_weights: Expected an object with',
    ],
  ])('for %s', (_, changes, message) => {
    const audit = 'anchors' in changes ? changes : withSampled(changes);
    expect(() => anchorsOf(audit)).toThrow(expect.objectContaining({ code: 'bad_audit' }));
    expect(() => anchorsOf(audit)).toThrow(message);
    expect(() => anchorsOf(audit)).toThrow('Pass the JSON of audit --json');
  });
});

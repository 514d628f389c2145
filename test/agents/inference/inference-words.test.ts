/** Descriptions of inferences: short, specific, with the digits of the belief, and never parsed as an answer. */
import { describe, expect, it } from 'vitest';
import { Inference } from '../../../src/agents/inference/inference.js';
import { inferenceWords, phrasesOf } from '../../../src/agents/inference/inference-words.js';
import { parseCompletion } from '../../../src/index.js';
import { digitOf } from '../../../src/rollouts/text/spelling.js';
import { BELIEF_NAMES, METER_NAMES, NUM_STEPS, TRAIT_NAMES } from '../../../src/world/fields.js';
import { createWorld } from '../../../src/world/world.js';
import { type Actor, playObservedEpisodes } from '../../support/observed-episodes.js';

const world = createWorld();
const NUM_ENVS = 15;
const SERENITY = METER_NAMES.indexOf('serenity');

/** Reports of every step of NUM_ENVS episodes of each policy. */
const reports = (['heuristic', 'random'] as Actor[]).flatMap((actor) => {
  const { observations } = playObservedEpisodes(world, { numEnvs: NUM_ENVS, seed: 50_000, actor });
  const inference = new Inference(world, NUM_ENVS, { samples: 64 });
  return observations.flatMap((rows) => {
    inference.observe(rows);
    const beliefs = inference.beliefs();
    // The beliefs above are posterior medians; with 'squared' they are posterior means.
    const means = inference.beliefs('squared');
    return Array.from({ length: NUM_ENVS }, (_, i) => {
      const report = inference.explain(i);
      return {
        report,
        text: inferenceWords(report),
        squaredText: inferenceWords(report, 'squared'),
        means: means.slice(3 * i, 3 * i + 3),
        beliefs: beliefs.slice(3 * i, 3 * i + 3),
      };
    });
  });
});

describe('the text', () => {
  it('has at most sixty words, in one line of ASCII, and contains no answer', () => {
    expect(reports.length).toBe(2 * NUM_ENVS * (NUM_STEPS + 1));
    for (const { text } of reports) {
      expect(text.split(/\s+/).length).toBeLessThanOrEqual(60);
      expect(text).toMatch(/^[\x20-\x7e]+\.$/);
      expect(text).not.toMatch(/[<>]|NaN|undefined|null|Infinity/);
      expect(parseCompletion(text)).toMatchObject({ action: null, digits: null });
      // The parser finds an answer after the text.
      expect(parseCompletion(`<reasoning>${text}</reasoning>\n3 4 5 SLEEP`)).toMatchObject({
        digits: [3, 4, 5],
      });
    }
  });

  it('contains the digits of the belief', () => {
    for (const { text, beliefs, squaredText, means } of reports) {
      for (const [k, name] of BELIEF_NAMES.entries()) {
        const digitIn = (words: string) => Number(new RegExp(`Belief: .*?\\b${name} (\\d)`).exec(words)![1]);
        expect(digitIn(text)).toBe(digitOf(beliefs[k]));
        expect(digitIn(squaredText)).toBe(digitOf(means[k]));
      }
    }
  });

  it('says which anomaly or reward contradicts the earlier observations', () => {
    const { report } = reports.find(({ report }) => report.last !== null)!;
    const findings = report.last!.findings.map((finding, k) => ({
      ...finding,
      contradiction: k === SERENITY,
    }));
    const contradicted = { ...report, last: { ...report.last!, findings } };
    expect(inferenceWords(contradicted)).toMatch(/^The serenity after \w+ does not fit what was seen before/);
    const contradictions = { changes: false, reward: true };
    expect(inferenceWords({ ...report, last: { ...report.last!, contradictions } })).toMatch(
      /^The reward after/,
    );
  });
});

it('all low, middle and high phrases of traits and weights differ', () => {
  const clauses = [...TRAIT_NAMES, ...METER_NAMES]
    .map(phrasesOf)
    .flatMap(({ low, middle, high }) => [low, middle, high]);
  expect(new Set(clauses).size).toBe(clauses.length);
});

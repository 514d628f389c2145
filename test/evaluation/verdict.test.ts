/** Verdicts: paired differences from the best policy that infers nothing, from stored and from played scores. */
import { describe, expect, it } from 'vitest';
import { builtin } from '../../src/agents/policies/stepped-policies.js';
import { toGrader } from '../../src/engine/graders/grader.js';
import { pairedDifference } from '../../src/evaluation/aggregates.js';
import { evaluate } from '../../src/evaluation/on-first-use.js';
import { PUBLISHED_STUDENT, PUBLISHED_TEACHER } from '../../src/evaluation/published-scores.js';
import { STORED_CONDITIONS, storedScores, YARDSTICK_POLICIES } from '../../src/evaluation/stored-scores.js';
import { type JudgedRow, type Verdict, verdictNote, verdictTexts } from '../../src/evaluation/verdict.js';
import { CONDITIONS } from '../../src/world/conditions.js';
import { GRADER_NAMES } from '../../src/world/fields.js';

/** Plays policies. @returns the verdicts, and the final scores by policy. */
async function play(options: NonNullable<Parameters<typeof evaluate>[0]>) {
  const scores: Record<string, number[]> = {};
  const { rows } = await evaluate({
    ...options,
    onEpisodes: ({ policy, belief, result }) => {
      const name = belief === 'constant' ? `${policy}+constant` : policy;
      scores[name] = [...(scores[name] ?? []), ...result.finalScores];
    },
  });
  return { rows, scores };
}

it.each(GRADER_NAMES)(
  'the stored scores under %s are those of the same episodes played again',
  async (grader) => {
    const conditions = STORED_CONDITIONS.map(({ name }) => name).filter((name) => name !== 'discrete');
    const first = { conditions: [...conditions, 'discrete:workaholic_stoic'], episodes: 2 };
    const { scores } = await play({ ...first, grader, policies: YARDSTICK_POLICIES });
    for (const policy of YARDSTICK_POLICIES) {
      const parts = first.conditions.flatMap((name) =>
        CONDITIONS.find((each) => each.name === name)!.parts.map(({ profile, seeds }) => ({
          profile,
          seeds: { first: seeds.first, last: seeds.first + 1 },
        })),
      );
      expect([...storedScores(grader, policy, parts)!]).toEqual(scores[policy]);
    }
  },
);

describe('a verdict', () => {
  it('compares with stored scores on the same seeds, in chunks of any size', async () => {
    const options = {
      policies: ['heuristic', 'open-loop+constant'],
      conditions: ['in-distribution'],
      episodes: 20,
    };
    const { rows, scores } = await play(options);
    const parts = [{ profile: 'sampled', seeds: { first: 0, last: 19 } }];
    const references = YARDSTICK_POLICIES.map((policy) => storedScores('v2', policy, parts)!);
    const differences = references.map((reference) => pairedDifference(scores.heuristic, reference));
    const expected = differences.reduce((least, each) => (each.mean < least.mean ? each : least));
    const reference = YARDSTICK_POLICIES[differences.indexOf(expected)];
    expect(rows[0].verdict).toMatchObject({ reference, missing: [] });
    expect(rows[0].verdict!.difference.mean).toBeCloseTo(expected.mean, 12);
    expect(rows[0].verdict!.difference.low).toBeCloseTo(expected.low!, 12);
    const chunked = await play({ ...options, chunkSize: 3 });
    expect(chunked.rows.map(({ verdict }) => verdict)).toEqual(rows.map(({ verdict }) => verdict));
  });

  it('under other weights or seeds compares with the quick policies, and with the planner if it plays', async () => {
    const calm = { name: 'calm', weights: { crash_free: 0.5, efficiency: 0.3, belief_accuracy: 0.2 } };
    for (const options of [
      { seeds: { first: 90, last: 109 } },
      { conditions: ['ood'], episodes: 9, grader: calm },
    ]) {
      const { rows } = await play({ ...options, policies: { mine: builtin('heuristic') } });
      const others = await play({ ...options, policies: YARDSTICK_POLICIES.slice(0, 3) });
      const mine = await play({ ...options, policies: ['heuristic'] });
      const { reference, difference, missing } = rows[0].verdict!;
      expect(missing).toEqual(['planner-prior']);
      const best = Math.max(...others.rows.map(({ finalScore }) => finalScore.mean));
      expect(others.rows.find(({ finalScore }) => finalScore.mean === best)).toMatchObject({
        policy: reference.replace('+constant', ''),
      });
      expect(difference.mean).toBeCloseTo(mine.rows[0].finalScore.mean - best, 12);
    }
    const asked = await play({
      seeds: { first: 200, last: 201 },
      policies: { mine: builtin('heuristic'), 'planner-prior': 'planner-prior' },
    });
    expect(asked.rows[0].verdict!.missing).toEqual([]);
  });

  it('is null, and nothing more is played, if no policy may infer', async () => {
    const { rows } = await play({ seeds: { first: 200, last: 203 }, policies: ['heuristic'] });
    expect(rows[0].verdict).toBeNull();
  });

  it('uses the stored scores of a built-in grader under another name', async () => {
    const options = { conditions: ['ood'], episodes: 4, policies: ['heuristic'] };
    const [own, renamed] = await Promise.all(
      ['v3', { ...toGrader('v3'), name: 'mine' }].map((grader) => play({ ...options, grader })),
    );
    expect(renamed.rows[0].verdict).toEqual(own.rows[0].verdict);
  });
});

const row = (verdict: Verdict | null, changes: Partial<JudgedRow> = {}): JudgedRow => ({
  ...{ name: 'mine', oracle: false, condition: 'in-distribution', profiles: 'sampled', grader: 'v3' },
  ...{ finalScore: { mean: 0.6, low: 0.59, high: 0.61 }, beliefMae: 0.2, verdict, ...changes },
});
const above: Verdict = {
  ...{ reference: 'planner-prior', missing: [] },
  difference: { mean: 0.084, low: 0.071, high: 0.097 },
};

describe('the words of a verdict', () => {
  const wordsOf = (...judged: JudgedRow[]) =>
    verdictTexts(judged).map(({ about, text }) => `${about}: ${text}`);

  it('give the difference, its interval and the reference, and say what was not shown', () => {
    const below = { ...above, difference: { mean: 0.01, low: -0.02, high: 0.04 } };
    const single = { ...above, difference: { mean: 0.5, low: null, high: null } };
    const incomplete = { ...above, reference: 'open-loop', missing: ['planner-prior'] };
    expect(wordsOf(row(above), row(below), row(single), row(incomplete))).toEqual([
      'mine, in-distribution: +0.084 (0.071 to 0.097) over planner-prior, the best without inference.',
      'mine, in-distribution: not shown to infer by its score, +0.010 (-0.020 to 0.040) against planner-prior, the best without inference.',
      'mine, in-distribution: not shown to infer by its score, +0.500 against planner-prior, the best without inference.',
      'mine, in-distribution: +0.084 (0.071 to 0.097) over open-loop, the best without inference that played (planner-prior did not).',
    ]);
  });

  it('leave out oracles and built-in policies that infer nothing', () => {
    const none = [row(above, { oracle: true }), row(above, { name: 'open-loop+constant' })];
    expect(wordsOf(...none)).toEqual([]);
    expect(verdictNote(none)).toBe('No verdict: none of these policies may infer the profile.');
    expect(verdictNote([row(above)])).toBe('');
  });

  it("place the author's own teacher and students in the author's bands, under v2 with sampled profiles alone", () => {
    const bandsOf = (policy: string, condition: string) => {
      const { finalScore, beliefMae } = [...PUBLISHED_STUDENT, ...PUBLISHED_TEACHER].find(
        (each) => each.policy === policy && each.condition === condition,
      )!;
      const changes = { condition, grader: 'v2', beliefMae: beliefMae ?? 1 };
      const score = { mean: finalScore, low: null, high: null };
      return wordsOf(row(above, { ...changes, finalScore: score }))[0].split("Author's bands: ")[1];
    };
    expect(bandsOf('teacher', 'in-distribution')).toBe(
      'score above 0.55, "inference + competent action"; belief error at most 0.21, "matches teacher".',
    );
    expect(bandsOf('student, SFT', 'ood')).toBe(
      'score above 0.50, "modest beat, valid result"; belief error above 0.21.',
    );
    for (const other of [{ grader: 'v3' }, { grader: 'v2', profiles: 'named', condition: 'discrete' }])
      expect(wordsOf(row(above, other))[0]).not.toContain('bands');
  });

  it('note that the best bands show no inference: a constant belief with one action sequence reaches them', async () => {
    const { rows } = await play({ policies: ['open-loop+constant'], conditions: ['in-distribution'] });
    expect(rows[0].finalScore.mean).toBeGreaterThan(0.55);
    expect(rows[0].beliefMae).toBeLessThanOrEqual(0.21);
    expect(verdictNote([row(above, { grader: 'v2' })])).toContain('open-loop+constant reaches both');
  });
});

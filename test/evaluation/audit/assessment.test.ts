/** `assess`, the machine-readable verdict of an audit: figures, thresholds and the reason. */
import { describe, expect, it } from 'vitest';
import { assess, type Check, type Evidence, THRESHOLDS } from '../../../src/evaluation/audit/assessment.js';
import type { Play } from '../../../src/evaluation/audit/audit-envs.js';
import type { AuditBelief } from '../../../src/evaluation/audit/beliefs.js';
import type { NullGain } from '../../../src/evaluation/audit/controls.js';
import { type Role, silentPlayer } from '../../../src/evaluation/audit/players.js';
import type { Interval } from '../../../src/shared/statistics.js';

const around = (mean: number, half = 0.001): Interval => ({ mean, low: mean - half, high: mean + half });

/** A play with the same score in every episode. */
function playOf(role: Role, name: string, score: number, episodes = 10): Play {
  const scores = new Float32Array(episodes).fill(score);
  const seeds = new Uint32Array(episodes);
  const components = new Float32Array();
  const halves = { firstHalfMeans: scores, secondHalfMeans: scores };
  return {
    player: silentPlayer(role, name, 'random'),
    finalScores: scores,
    seeds,
    components,
    beliefMae: scores,
    ...halves,
  };
}

const nullGain = (policy: string, belief: AuditBelief, silent: number, gain: number): NullGain => ({
  policy,
  belief,
  silent: around(silent),
  gain: around(gain),
});

/** Returns evidence of a grader that pays only for inference, with some scores changed. */
function evidence(scores: Partial<Record<string, number>> = {}, nulls: readonly NullGain[] = []): Evidence {
  const at = (name: string, score: number): number => scores[name] ?? score;
  return {
    plays: [
      playOf('exploit', 'open-loop', at('open-loop', 0.5), 30),
      playOf('exploit', 'reactive', at('reactive', 0.5), 30),
      playOf('inference', 'planner', at('planner', 0.8)),
      playOf('oracle', 'planner-oracle', at('planner-oracle', 0.9)),
    ],
    silentPrior: playOf('exploit', 'planner-prior', at('planner-prior', 0.5)),
    nullPlayers: {
      seeds: '20000-20029',
      rows: [
        nullGain('open-loop', 'constant', 0.5, 0.01),
        nullGain('open-loop', 'random', 0.5, -0.2),
        ...nulls,
      ],
    },
    impossible: {
      score: around(0.8),
      sequence: around(at('impossible sequence', 0)),
      planner: around(at('impossible planner', -0.1)),
      belief: null,
      seeds: '20000-20029',
      plannerSeeds: '20000-20009',
    },
  };
}

const failedIn = (checks: readonly Check[]): string[] =>
  checks.filter(({ holds }) => !holds).map(({ figure }) => figure);

describe('assess', () => {
  it('finds that a grader pays only for inference if all figures meet their thresholds', () => {
    const { paysOnlyForInference, checks, reason } = assess('x', evidence());
    expect([paysOnlyForInference, failedIn(checks)]).toEqual([true, []]);
    expect(reason).toBe('Grader x pays only for inference: all figures meet their thresholds.');
    expect(checks.map(({ figure, bound, threshold }) => `${figure} ${bound} ${threshold}`)).toEqual([
      ...['inference_over_open_loop at least 0.25', 'knowledge_over_open_loop at least 0.3'],
      ...['inference_over_prior at least 0.25', 'knowledge_over_prior at least 0.3'],
      ...['inference_over_reactive at least 0.2', 'knowledge_over_reactive at least 0.3'],
      ...['constant_belief at most 0.015', 'null_belief at most 0.015'],
      ...['impossible_sequence at most 0.01', 'impossible_planner at most 0.01'],
    ]);
  });

  it.each([
    [{ 'open-loop': 0.55 }, ['inference_over_open_loop']],
    [{ 'planner-prior': 0.55 }, ['inference_over_prior']],
    [{ reactive: 0.591 }, ['inference_over_reactive', 'knowledge_over_reactive']],
    [
      { 'planner-oracle': 0.8 },
      ['knowledge_over_open_loop', 'knowledge_over_prior', 'knowledge_over_reactive'],
    ],
    [{ 'impossible sequence': 0.02 }, ['impossible_sequence']],
    [{ 'impossible planner': 0.02 }, ['impossible_planner']],
    [{ 'impossible sequence': 0.0005, 'impossible planner': 0.005 }, []],
  ])('with the scores %j finds that these figures miss their thresholds: %j', (scores, failed) => {
    const { paysOnlyForInference, checks, reason } = assess('x', evidence(scores));
    expect(failedIn(checks)).toEqual(failed);
    expect(paysOnlyForInference).toBe(failed.length === 0);
    expect(reason.split('; ')).toHaveLength(Math.max(1, failed.length));
  });

  it('counts the gain of a belief without knowledge only if the score without a belief is `silentScore` or more', () => {
    const { silentScore, nullBelief } = THRESHOLDS;
    const low = assess('x', evidence({}, [nullGain('random', 'constant', silentScore - 0.01, 0.1)]));
    expect(low.paysOnlyForInference).toBe(true);
    const high = assess('x', evidence({}, [nullGain('random', 'extreme', silentScore, nullBelief + 0.001)]));
    expect(failedIn(high.checks)).toEqual(['null_belief']);
    expect(high.reason).toBe(
      'Grader x does not pay only for inference: random+extreme over random 0.016 (at most 0.015).',
    );
  });

  it('adds to each policy without inference the gain of its best constant belief; planner-prior gets that of open-loop', () => {
    const { checks } = assess('x', evidence({}, [nullGain('reactive', 'fitted', 0.5, 0.014)]));
    const values = Object.fromEntries(checks.map(({ figure, value }) => [figure, value.mean]));
    expect(values.inference_over_open_loop).toBeCloseTo(0.29, 6);
    expect(values.inference_over_prior).toBeCloseTo(0.29, 6);
    expect(values.inference_over_reactive).toBeCloseTo(0.286, 6);
  });
});

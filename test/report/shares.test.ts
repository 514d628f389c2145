/**
 * The shares of a report: where a score lies between the two anchors of its grader (src/evaluation/bracket.ts). They are
 * computed only for files of this world.
 */
import { describe, expect, it } from 'vitest';
import { toGrader } from '../../src/engine/graders/grader.js';
import { checkGrader, readAnchors } from '../../src/evaluation/bracket.js';
import { evaluate } from '../../src/evaluation/on-first-use.js';
import { evaluationToJson } from '../../src/evaluation/result-json.js';
import { parseResult } from '../../src/report/parse-results.js';
import { ResultGatherer, TrajectoryTally } from '../../src/report/result-gatherer.js';
import { PROFILE_NAMES } from '../../src/world/fields.js';
import { BRACKET_AUDIT, TEST_SETTINGS } from '../support/bracket.js';
import { episodeStarts, playerOf, recordEpisodes, TEST_POLICIES } from '../support/trajectories.js';

const anchors = readAnchors(BRACKET_AUDIT, TEST_SETTINGS);
const evaluation = evaluationToJson(
  await evaluate({ conditions: ['ood'], episodes: 3, policies: ['heuristic'] }),
) as Record<string, unknown>;
const gathered = (changes: object): ResultGatherer => {
  const gatherer = new ResultGatherer();
  gatherer.addResult('file', parseResult({ ...evaluation, ...changes }));
  return gatherer;
};

it('a report has the yardsticks of its scores, except those of changed worlds', async () => {
  const played = await evaluate({ conditions: ['ood'], policies: ['heuristic+constant'] });
  // Rows with a verdict need no yardstick.
  const withoutVerdict = { ...played, rows: played.rows.map((row) => ({ ...row, verdict: null })) };
  const whole = evaluationToJson(withoutVerdict);
  const yardsticksIn = (changes: object) => gathered({ ...(whole as object), ...changes }).data().yardsticks;
  expect(yardsticksIn({})).toMatchObject([
    { grader: 'v2', condition: 'ood', policy: 'planner-prior', above: [] },
  ]);
  expect(gathered(evaluationToJson(played) as object).data().yardsticks).toEqual([]);
  expect(yardsticksIn({ world_digest: '0'.repeat(64) })).toEqual([]);
});

describe('shares', () => {
  it('follow from the scores of evaluations and trajectories', () => {
    const gatherer = gathered({});
    const tally = new TrajectoryTally();
    const player = playerOf({ teacher: 'llm', model: 'm' });
    for (const episode of recordEpisodes(episodeStarts([100, 101]), {
      policy: TEST_POLICIES.incompleteText,
      player,
    }))
      tally.add(episode);
    gatherer.addTrajectories('episodes', tally, '');
    const { scores, brackets } = gatherer.data(anchors);
    expect(brackets).toContain(anchors);
    expect(scores.map(({ source }) => source)).toEqual(['file', 'episodes']);
    // The anchors are 0.25 and 0.75.
    for (const { share, finalScore } of scores)
      expect(share!.mean).toBeCloseTo((finalScore.mean - 0.25) / 0.5, 12);
  });

  it('are not shown for sampled and named profiles together', () => {
    const tally = new TrajectoryTally();
    for (const episode of recordEpisodes(episodeStarts([100, 101]), { policy: TEST_POLICIES.incompleteText }))
      for (const profile_mode of ['sampled', PROFILE_NAMES[0]]) tally.add({ ...episode, profile_mode });
    const gatherer = new ResultGatherer();
    gatherer.addTrajectories('episodes', tally, '');
    const [{ profiles, episodes, share }] = gatherer.data(anchors).scores;
    expect({ profiles, episodes, share }).toEqual({ profiles: 'mixed', episodes: 4, share: null });
  });

  it('are shown only for this world', () => {
    expect(gathered({}).data(anchors).scores[0].share).not.toBeNull();
    expect(gathered({ world_digest: '0'.repeat(64) }).data(anchors).scores[0].share).toBeNull();
  });

  it("are refused if a file's grader has other weights", () => {
    const check = (grader_weights: unknown) => checkGrader(anchors, gathered({ grader_weights }).graders);
    check(toGrader('v2').weights);
    expect(() => check(toGrader('v1').weights)).toThrow('other weights');
  });
});

/** A compact episode lacks what a replay can compute. Completed by a replay, it has the line of the original, byte for byte. */
import { describe, expect, it } from 'vitest';
import { playEpisodes } from '../../../src/agents/llm/play-episodes.js';
import { POLICY_NAMES } from '../../../src/agents/policies/fixed-policies.js';
import { type GraderLike, toGrader } from '../../../src/engine/graders/grader.js';
import { evaluate } from '../../../src/evaluation/on-first-use.js';
import {
  type CompactEpisode,
  parseCompact,
  toCompact,
} from '../../../src/rollouts/trajectories/compact-episode.js';
import { fromEpisodeRow } from '../../../src/rollouts/trajectories/episode-columns.js';
import { EpisodeReplayer } from '../../../src/rollouts/trajectories/episode-replayer.js';
import {
  type TrajectoryEpisode,
  USAGE_NAMES,
} from '../../../src/rollouts/trajectories/trajectory-episode.js';
import { episodeLine, parseEpisode } from '../../../src/rollouts/trajectories/trajectory-lines.js';
import { teach } from '../../../src/training/teaching/policy-teacher.js';
import { FAULTS } from '../../fakes/openai-faults.js';
import { modelOf, PLAYER, PRICES, requestsFrom, startModel } from '../../support/llm.js';
import { rowsIn, tableOf } from '../../support/parquet.js';
import {
  changedAt,
  episodeStarts,
  playerOf,
  recordEpisodes,
  TEST_POLICIES,
} from '../../support/trajectories.js';

/** Policies of further kinds: with inference, with a plan and the hidden profile, and a network. */
const REASONING = ['open-loop+inference', 'planner-oracle', 'student-v2'];
const replayer = new EpisodeReplayer();
const CALM = { name: 'calm', weights: { crash_free: 0.5, efficiency: 0.3, belief_accuracy: 0.2 } };

/** Returns a compact episode after it was written as JSON and parsed. */
const stored = (compact: CompactEpisode): CompactEpisode => parseCompact(JSON.parse(JSON.stringify(compact)));

/** Expects that compact episodes, stored as JSON and as Parquet, are restored to the lines of the episodes. */
async function expectSameLines(episodes: readonly TrajectoryEpisode[]): Promise<void> {
  expect(episodes).not.toEqual([]);
  const compact = episodes.map(toCompact);
  expect(compact.map(stored)).toEqual(compact);
  const restored = await replayer.fromCompact(compact.map(stored));
  const differing = restored.filter((episode, i) => episodeLine(episode) !== episodeLine(episodes[i]));
  expect(differing).toEqual([]);
  expect(await replayer.toCompact(episodes)).toEqual(compact);
  const rows = await rowsIn(await tableOf(compact));
  expect(rows.map(fromEpisodeRow).map(parseCompact)).toEqual(compact);
}

describe('the line is restored', () => {
  it.each(['v1', CALM])(
    'of the policies that every backend plays, under the grader %j',
    async (grader: GraderLike) => {
      const episodes: TrajectoryEpisode[] = [];
      await evaluate({
        policies: POLICY_NAMES,
        episodes: 1,
        grader: toGrader(grader),
        onTrajectories: (batch) => void episodes.push(...batch),
      });
      await expectSameLines(episodes);
    },
  );

  it('of policies with reasons, an oracle and a user policy, under named profiles', async () => {
    const episodes: TrajectoryEpisode[] = [];
    const mine = () => ({ actions: [3], beliefs: [0.1, 2, -1] });
    await evaluate({
      policies: { ...Object.fromEntries(REASONING.map((name) => [name, name])), mine },
      seeds: { first: 7, last: 7 },
      profiles: 'discrete',
      onTrajectories: (batch) => void episodes.push(...batch),
    });
    expect(new Set(episodes.map(({ oracle }) => oracle))).toEqual(new Set([true, false]));
    await expectSameLines(episodes);
  });

  it.each([
    ['planner-wellbeing', 'sampled', 'v3'],
    ['heuristic+inference', 'workaholic_stoic', CALM],
  ])('of the teacher %s, %s profiles and the grader %j', async (policy, profiles, grader) => {
    const options = { policy, profiles, grader: toGrader(grader), seeds: { first: 100, last: 100 } };
    for await (const episodes of teach(options)) await expectSameLines(episodes);
  });

  it('of a language model with separate reasoning, retries, unparsed answers and usage', async () => {
    const kinds = [null, '429', 'cut-off', null, 'refusal', 'null-content', null, 'no-usage', 'thinking'];
    const fake = await startModel({
      answer: ({ index }) =>
        index % 2 === 0 ? '4 5 6 LEARN' : '<reasoning>Why not?</reasoning>\n1 2 3 SLEEP',
      faultOf: ({ index }) => FAULTS[String(kinds[index % kinds.length])] ?? null,
    });
    const sampling = { max_tokens: 300, temperature: 0.7, seed: 5 };
    const { model } = await modelOf(fake, { ledger: { prices: PRICES }, retries: 3, sampling });
    const episodes: TrajectoryEpisode[] = [];
    const options = { model, grader: toGrader('v3'), concurrency: 2, player: PLAYER };
    for await (const episode of playEpisodes(requestsFrom(100, 2), options)) episodes.push(episode);
    await expectSameLines(episodes);
    expect(Object.keys(episodes[0].usage!)).toEqual(USAGE_NAMES);
    expect(episodes[0].steps.some(({ reasoning }) => reasoning === 'Reasoning outside the content.')).toBe(
      true,
    );
    // A copy for another condition, which eval makes of a stored episode.
    const { usage: _, ...copy } = parseEpisode(episodeLine(episodes[0]));
    await expectSameLines([{ ...copy, condition: 'mine' }]);
  });

  it('of answers that lack the action, the belief or the end of the reasoning', async () => {
    const starts = episodeStarts([0, 1, 2, 3, 4, 5]);
    await expectSameLines(recordEpisodes(starts, { policy: TEST_POLICIES.incompleteText, grader: 'v1' }));
  });
});

const [text] = recordEpisodes(episodeStarts([3]), { policy: TEST_POLICIES.incompleteText });
const [plain] = recordEpisodes(episodeStarts([4], 'in-distribution'), { policy: TEST_POLICIES.constant });

describe('an episode that differs from its replay keeps its line', () => {
  it.each([
    ['steps.4.observation.3', 0.25],
    ['steps.4.reward', 0.5],
    ['steps.0.prompt', 'Another prompt.'],
    ['steps.0.prompt', null],
    ['steps.3.reasoning', 'Another reason.'],
    ['system', 'Another message.'],
    ['hidden', undefined],
    ['hidden.profile.2', 0.125],
  ])('%s', async (path, value) => {
    const changed = changedAt(text, path, value);
    const [compact] = await replayer.toCompact([changed]);
    expect(compact.line === episodeLine(changed).trimEnd()).toBe(true);
    const [restored] = await replayer.fromCompact([stored(compact)]);
    expect(episodeLine(restored)).toBe(episodeLine(changed));
  });

  it('unless only the grade differs: the compact episode then has the recorded grade', async () => {
    const changed = changedAt(plain, 'final.final_score', 0.5);
    const [compact] = await replayer.toCompact([changed]);
    expect(compact).toMatchObject({ final: { final_score: 0.5 } });
    expect(compact.line).toBeUndefined();
    expect(await replayer.fromCompact([compact])).toEqual([changed]);
  });
});

it('an episode with a lone surrogate in a completion, which Parquet cannot store, keeps its line', async () => {
  const [episode] = recordEpisodes(episodeStarts([3]), {
    policy: ({ prompt }) => ({ prompt, completion: '5 5 5 SLEEP \ud83d' }),
    player: playerOf({ teacher: 'llm', model: 'm' }),
  });
  const compact = toCompact(episode);
  expect(compact.completions![0]).toBe('5 5 5 SLEEP \ufffd');
  await expectSameLines([episode]);
});

describe('parseCompact refuses', () => {
  const compact = JSON.parse(JSON.stringify(toCompact(plain)));
  const faultOf = (change: object): string => {
    try {
      parseCompact({ ...compact, ...change });
    } catch (error) {
      const { kind, message } = error as { kind: string; message: string };
      return `${kind}: ${message}`;
    }
    return 'accepted';
  };
  /** Returns a copy of a list with one entry replaced. */
  const withEntry = (list: readonly unknown[], at: number, value: unknown) =>
    list.map((each, k) => (k === at ? value : each));

  it.each([
    [{ actions: withEntry(compact.actions, 3, 'fly') }, 'corrupt: actions[3]: Expected one of deep_work, '],
    [
      { actions: compact.actions.slice(1) },
      'corrupt: actions: Expected a list of 28 entries, one per step, got',
    ],
    [
      { beliefs: withEntry(compact.beliefs, 5, [0.5, Number.NaN, 0]) },
      'corrupt: beliefs[5]: Expected null or',
    ],
    [{ beliefs: withEntry(compact.beliefs, 5, [0.5, 0.5]) }, 'corrupt: beliefs[5]: Expected null or three'],
    [
      { beliefs: withEntry(compact.beliefs, 5, [0.5, 1.5, 0]) },
      'corrupt: beliefs[5]: Expected null or three',
    ],
    [{ parsed: withEntry(compact.parsed, 27, 1) }, 'corrupt: parsed[27]: Expected true or false, got 1.'],
    [{ seed: -1 }, 'corrupt: seed: Expected an integer from 0 to'],
    [{ seed: 400 }, 'corrupt: seed: Expected a seed of the condition in-distribution'],
    [{ grader: { name: 'v2', weights: { crash_free: 2 } } }, 'corrupt: Expected weights that sum to 1'],
    [{ world_digest: 'x' }, 'foreign: world_digest: Expected '],
    [{ final: { ...compact.final, progress: null } }, 'corrupt: final.progress: Expected a finite number'],
    [{ line: episodeLine(text).trimEnd() }, 'corrupt: line: Expected the episode of the other fields'],
    [{ line: '{' }, 'corrupt: Expected one JSON object, got invalid JSON'],
  ])('%j', (change, fault) => {
    expect(faultOf(change)).toContain(fault);
  });

  it.each([null, 3, 'x', []])('%j', (value) => {
    expect(() => parseCompact(value)).toThrow('world_digest: Expected');
  });
});

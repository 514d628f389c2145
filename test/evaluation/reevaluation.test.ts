/** Re-evaluation: replays stored episodes, names each mismatch, and compares scores with baselines on the same seeds. */
import { describe, expect, it } from 'vitest';
import { toGrader } from '../../src/engine/graders/grader.js';
import { Reevaluation } from '../../src/evaluation/reevaluation/reevaluation.js';
import { type Mismatch, TrajectoryReplayer } from '../../src/evaluation/reevaluation/trajectory-replayer.js';
import { UserPolicy } from '../../src/evaluation/user-policy.js';
import { builtin, createVecEnv, evaluate, withConstant } from '../../src/index.js';
import type { TrajectoryEpisode } from '../../src/rollouts/trajectories/trajectory-episode.js';
import { episodeLine, parseEpisode } from '../../src/rollouts/trajectories/trajectory-lines.js';
import { float32Decimal } from '../../src/shared/float32-decimal.js';
import { PROFILE_NAMES } from '../../src/world/fields.js';
import { reportAbsentEngines, TWO_ENGINES } from '../support/engines.js';
import {
  changedAt,
  episodeStarts,
  playerOf,
  recordEpisodes,
  TEST_POLICIES,
} from '../support/trajectories.js';

const GRADERS = ['v1', 'v2', 'v3'].map(toGrader);
const range = (first: number, last: number): number[] =>
  Array.from({ length: last - first + 1 }, (_, i) => first + i);
const read = (episodes: readonly TrajectoryEpisode[]) =>
  episodes.map((each) => parseEpisode(episodeLine(each)));
const replayed = async (episodes: readonly TrajectoryEpisode[], engine = {}) => {
  await using replayer = await TrajectoryReplayer.open(engine);
  return await replayer.replay(read(episodes));
};
const mismatchesOf = async (episode: TrajectoryEpisode): Promise<readonly Mismatch[]> =>
  (await replayed([episode])).mismatches[0];
/** Returns the place of each mismatch, such as "step 4 reward". */
const namesOf = (mismatches: readonly Mismatch[]): string[] =>
  mismatches.map(({ step, field }) => (step === null ? field : `step ${step} ${field}`));

const answered = recordEpisodes(episodeStarts(range(0, 11)), {
  policy: TEST_POLICIES.incompleteText,
  grader: 'v1',
});
const mixed = [
  ...answered,
  ...recordEpisodes(episodeStarts(range(0, 5), 'custom', 'discrete'), { policy: TEST_POLICIES.constant }),
  ...recordEpisodes(episodeStarts(range(0, 4), 'discrete', PROFILE_NAMES[1]), {
    policy: TEST_POLICIES.heuristic,
  }),
  ...recordEpisodes(episodeStarts([2 ** 32 - 1]), { policy: TEST_POLICIES.completeText }),
];

describe('the replay equals the recording', () => {
  it.each(TWO_ENGINES.map((engine) => [engine.name, engine] as const))(
    'on %s',
    async (_, { backend, kernel }) => {
      const { mismatches } = await replayed(mixed, { backend, kernel, threads: 1 });
      expect(mismatches).toEqual(mixed.map(() => []));
    },
  );
  reportAbsentEngines();

  it('if only one step states a belief', async () => {
    const episodes = [0, 9, 27].flatMap((given) =>
      recordEpisodes(episodeStarts([3]), {
        policy: ({ step }) => ({ action: step % 10, belief: step === given ? [0.75, 0.25, 1] : null }),
      }),
    );
    expect((await replayed(episodes)).mismatches).toEqual([[], [], []]);
  });

  it('and the next replay does not change its arrays', async () => {
    await using replayer = await TrajectoryReplayer.open({});
    const { mismatches: _, ...first } = await replayer.replay(read(answered.slice(0, 2)));
    const before = structuredClone(first);
    await replayer.replay(read(answered.slice(2, 4)));
    expect(first).toEqual(before);
  });
});

it('names the kernel that replays, not the one that steps a single environment', async () => {
  await using replayer = await TrajectoryReplayer.open({});
  using env = createVecEnv({ numEnvs: 100 });
  expect(replayer.env.kernel).toBe(env.kernel);
});

describe('a changed field is a mismatch:', () => {
  /** Returns the next float32: the smallest possible change. */
  const next = (value: number): number => {
    const bits = new Float32Array([value]);
    new Uint32Array(bits.buffer)[0]++;
    return bits[0];
  };
  const namesWith = async (path: string, value: unknown, episode = answered[0]): Promise<string[]> =>
    namesOf(await mismatchesOf(changedAt(episode, path, value)));
  const [withoutText] = recordEpisodes(episodeStarts([8]), { policy: TEST_POLICIES.constant });

  it.each<[path: string, value: unknown, name: string]>([
    ['steps.3.observation.0', 4, 'step 3 observation.step'],
    ['steps.3.observation.6', next, 'step 3 observation.meters[2]'],
    ['steps.3.observation.9', 4, 'step 3 observation.event'],
    ['steps.9.observation.21', 1e300, 'step 9 observation.anomalies[4]'],
    ['steps.27.reward', next, 'step 27 reward'],
    ['steps.5.reward_components.format_valid', 2, 'step 5 reward_components.format_valid'],
    ['steps.5.reward_components.action_legal', 0, 'step 5 reward_components.action_legal'],
    ['steps.5.reward_components.env_reward', next, 'step 5 reward_components.env_reward'],
    ['steps.5.reward_components.belief_accuracy', 0.25, 'step 5 reward_components.belief_accuracy'],
    ['steps.5.reward_components.belief_skill', 0.25, 'step 5 reward_components.belief_skill'],
    ['final.wellbeing', next, 'final.wellbeing'],
    ['final.belief_skill', 2, 'final.belief_skill'],
    ['steps.5.prompt', (prompt: string) => `${prompt} `, 'step 5 prompt'],
    ['steps.0.reasoning', 'Other reasons.', 'step 0 reasoning'],
    ['steps.0.reasoning', null, 'step 0 reasoning'],
    ['system', 'Be kind.', 'system'],
    ['system', null, 'system'],
    ['final.final_score', next, 'final.final_score'],
    ['final.early_mean', 0.1, 'final.early_mean'],
    ['final.belief_mae', 0, 'final.belief_mae'],
    ['final.crash_free', next, 'final.crash_free'],
    ['hidden.profile.15', 0.5, 'hidden.profile[15]'],
    ['hidden.belief_target.0', 0.5, 'hidden.belief_target[0]'],
    // With seed 0, step 1 states an action and a belief, step 4 neither.
    ['steps.1.parsed', false, 'step 1 parsed'],
    ['steps.4.parsed', true, 'step 4 parsed'],
  ])('%s', async (path, value, name) => {
    expect(await namesWith(path, value)).toEqual([name]);
  });

  it('a prompt in a single step, and the missing system message', async () => {
    expect(await namesWith('steps.3.prompt', 'What now?', withoutText)).toEqual(['step 3 prompt', 'system']);
  });

  it.each<[string, string, Mismatch]>([
    ['(?<="observation":\\[0,)0,', '-0,', { step: 0, field: 'observation.day', recorded: -0, recomputed: 0 }],
    [
      '"belief":\\[0.5,',
      '"belief":[-0,',
      { step: 0, field: 'belief', recorded: '[-0, 0.5, 0.5]', recomputed: '[0, 0.5, 0.5]' },
    ],
  ])('a negative zero, without a completion: %s', async (pattern, text, expected) => {
    const line = episodeLine(withoutText).replace(new RegExp(pattern), text);
    await using replayer = await TrajectoryReplayer.open({});
    expect((await replayer.replay([parseEpisode(line)])).mismatches[0][0]).toEqual(expected);
  });

  it('another completion: its action, belief and reasoning', async () => {
    const completion = '<reasoning>Other.</reasoning>\n9 9 9 SLEEP';
    const found = await mismatchesOf(changedAt(answered[0], 'steps.0.completion', completion));
    expect(namesOf(found)).toEqual(['step 0 action', 'step 0 belief', 'step 0 reasoning']);
    expect(found.slice(0, 2).map(({ recomputed }) => recomputed)).toEqual(['sleep', '[1, 1, 1]']);
  });

  it('an action: the action, and all later steps', async () => {
    const other = answered[0].steps[1].action === 'exercise' ? 'sleep' : 'exercise';
    const found = await namesWith('steps.1.action', other);
    expect(found[0]).toBe('step 1 action');
    const later = ['step 1 reward', 'step 2 observation.last_action', 'step 2 prompt', 'final.final_score'];
    expect(found).toEqual(expect.arrayContaining(later));
    expect(found.some((name) => name.startsWith('step 0 '))).toBe(false);
    // An answer that names no action is played as sleep.
    const [fallback] = await mismatchesOf(changedAt(answered[0], 'steps.4.action', 'exercise'));
    expect(fallback).toEqual({ step: 4, field: 'action', recorded: 'exercise', recomputed: 'sleep' });
  });

  it('the last belief: the grade', async () => {
    const rewards = ['env_reward', 'belief_accuracy', 'belief_skill'];
    expect(await namesWith('steps.27.belief.0', 0.25, withoutText)).toEqual([
      ...['step 27 reward', ...rewards.map((name) => `step 27 reward_components.${name}`)],
      ...['final.belief_accuracy', 'final.belief_mae', 'final.final_score'],
    ]);
  });

  it('a reward: the mismatch has both numbers as shortest decimals', async () => {
    const [mismatch] = await mismatchesOf(changedAt(withoutText, 'steps.27.reward', Math.fround(0.7)));
    const recomputed = float32Decimal(withoutText.steps[27].reward);
    expect(mismatch).toEqual({ step: 27, field: 'reward', recorded: 0.7, recomputed });
  });

  it('a long text: an excerpt around the first difference', async () => {
    const [{ recorded, recomputed }] = await mismatchesOf(
      changedAt(answered[0], 'system', (system: string) => system.replace('Everyone', 'Nobody')),
    );
    expect(recorded).toMatch(/^\.\.\..*Nobody/s);
    expect(recomputed).toMatch(/^\.\.\..*Everyone/s);
    expect(String(recorded).length).toBeLessThan(70);
  });

  it.each<[string, object, number]>([
    ['the seed', { seed: 77 }, 100],
    ['the profile', { profile_mode: PROFILE_NAMES[0] }, 100],
    // The last reward and the score.
    ['the grader', { grader: toGrader('v2') }, 1],
  ])('%s', async (_, changes, more) => {
    expect((await mismatchesOf({ ...answered[1], ...changes })).length).toBeGreaterThan(more);
  });

  it('of its own episode alone, not of the episodes beside it', async () => {
    const other = changedAt(answered[0], 'final.progress', 1);
    const { mismatches } = await replayed([answered[1], other, answered[2]]);
    expect(mismatches.map(({ length }) => length)).toEqual([0, 1, 0]);
  });
});

describe('a row', () => {
  const reevaluated = async (episodes: readonly TrajectoryEpisode[], size = episodes.length) => {
    await using reevaluation = await Reevaluation.open({}, GRADERS);
    for (let from = 0; from < episodes.length; from += size) {
      await reevaluation.add(read(episodes.slice(from, from + size)));
    }
    return reevaluation.sections();
  };

  it('of a baseline equals the row of evaluate, and the row of the same episodes from a file', async () => {
    const episodes = [
      ...recordEpisodes(episodeStarts(range(0, 99), 'in-distribution'), {
        policy: TEST_POLICIES.heuristic,
        player: playerOf({ teacher: 'h' }),
      }),
      ...recordEpisodes(episodeStarts(range(0, 99), 'in-distribution'), {
        policy: TEST_POLICIES.constant,
        player: playerOf({ teacher: 'c' }),
      }),
    ];
    const [section, ...others] = await reevaluated(episodes);
    expect(others).toEqual([]);
    expect(section).toMatchObject({ condition: 'in-distribution', seeds: '0-99', profiles: 'sampled' });
    for (const { grader, rows } of section.graders) {
      const evaluation = await evaluate({ conditions: ['in-distribution'], grader });
      const pairs: [string, string][] = [
        ...rows
          .filter(({ baseline }) => baseline !== null)
          .map(({ baseline }) => [baseline!, baseline!] as [string, string]),
        ['h', 'heuristic'],
        ['c', 'heuristic+constant'],
      ];
      // Five baselines and two teachers.
      expect(pairs).toHaveLength(7);
      for (const [name, policy] of pairs) {
        const { wins, finalScore, beliefMae, components, digest } = evaluation.rows.find(
          (row) => (row.belief === 'constant' ? `${row.policy}+constant` : row.policy) === policy,
        )!;
        const row = rows.find(({ baseline, player }) => (baseline ?? player!.teacher) === name)!;
        expect(row).toMatchObject({ episodes: 100, finalScore, beliefMae, components, digest });
        expect(row.overHeuristic.wins).toEqual(wins);
      }
      const own = rows.find(({ player }) => player?.teacher === 'c')!;
      expect(own.overConstant.wins).toEqual({ won: 0, lost: 0, tied: 100 });
      expect(own.overConstant.difference).toEqual({ mean: 0, low: 0, high: 0 });
    }
  });

  it('does not depend on the size of batches', async () => {
    // In the 12 episodes together exactly half of the steps are parsed, so a swap of parsed and unparsed would not be noticed.
    const some = answered.slice(0, 11);
    const [[whole], [batched]] = [await reevaluated(some), await reevaluated(some, 5)];
    // The first five rows are those of the baselines.
    const [a, b] = [whole, batched].map(({ graders }) => graders[1].rows[5]);
    expect(a.digest).toBe(b.digest);
    expect(a.finalScore.mean).toBeCloseTo(b.finalScore.mean, 14);
    expect([b.steps, b.unparsed]).toEqual([a.steps, a.unparsed]);
    const unparsed = some.flatMap(({ steps }) => steps).filter(({ parsed }) => !parsed).length;
    expect([a.steps, a.unparsed]).toEqual([some.length * 28, unparsed]);
    expect(unparsed).not.toBe(a.steps - unparsed);
    const [baseline] = whole.graders[1].rows;
    expect([baseline.steps, baseline.unparsed]).toEqual([a.steps, 0]);
  });

  it('belongs to one player and condition; rows of equal condition, seeds and profiles form a section', async () => {
    const players = [
      playerOf(),
      playerOf({ model: 'm' }),
      playerOf({ objective: 'score' }),
      playerOf({ oracle: true }),
    ];
    const episodes = [
      ...players.flatMap((player) => recordEpisodes(episodeStarts([5, 6, 8]), { player })),
      ...recordEpisodes(episodeStarts([6, 5]), { player: playerOf({ teacher: 'two' }) }),
      ...recordEpisodes(episodeStarts([5, 6, 8], 'mine'), {}),
      ...recordEpisodes(episodeStarts([5, 6, 8], 'custom', 'discrete'), {}),
      ...PROFILE_NAMES.flatMap((name) => recordEpisodes(episodeStarts([0, 1], 'discrete', name), {})),
    ];
    const sections = await reevaluated(episodes);
    // The first five rows are those of the baselines.
    const summaries = sections.map(({ condition, profiles, seeds, graders }) => [
      condition,
      profiles,
      seeds,
      graders[0].rows.length - 5,
      graders[0].rows[5].episodes,
    ]);
    expect(summaries).toEqual([
      ['custom', 'sampled', '5-6, 8', 4, 3],
      ['custom', 'sampled', '5-6', 1, 2],
      ['mine', 'sampled', '5-6, 8', 1, 3],
      ['custom', 'discrete', '5-6, 8', 1, 3],
      ['discrete', 'named', '0-1', 1, 6],
    ]);
  });

  it("of a user's policy equals the row of the built-in policy with the same actions", async () => {
    const episodes = read([
      ...recordEpisodes(episodeStarts([1, 2, 3], 'in-distribution'), {}),
      ...recordEpisodes(episodeStarts([0], 'discrete', PROFILE_NAMES[0]), {}),
    ]);
    const mine = new UserPolicy('mine', withConstant({ open: builtin('heuristic').open }));
    await using reevaluation = await Reevaluation.open({}, GRADERS, [mine]);
    await reevaluation.add(episodes);
    const sections = reevaluation.sections();
    expect(sections).toHaveLength(2);
    for (const { rows } of sections.flatMap(({ graders }) => graders)) {
      const [own, other] = ['heuristic+constant', 'mine'].map((name) =>
        rows.find((row) => row.baseline === name),
      );
      expect(other).toEqual({ ...own, baseline: 'mine' });
    }
  });
});

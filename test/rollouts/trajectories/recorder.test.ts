/** Episodes are noted as they are played, and their lines give every bit back. */
import { describe, expect, it } from 'vitest';
import { toGrader } from '../../../src/engine/graders/grader.js';
import { createVecEnv, Episode, prompt } from '../../../src/index.js';
import { TrajectoryRecorder } from '../../../src/rollouts/trajectories/env-recorder.js';
import { EpisodeRecorder } from '../../../src/rollouts/trajectories/episode-recorder.js';
import { type Move, reasoningIn, resolveMove } from '../../../src/rollouts/trajectories/move.js';
import {
  FALLBACK_ACTION,
  type TrajectoryEpisode,
} from '../../../src/rollouts/trajectories/trajectory-episode.js';
import { episodeKey, episodeLine } from '../../../src/rollouts/trajectories/write-line.js';
import { SCHEMAS } from '../../../src/shared/schemas.js';
import { ACTION_NAMES, COMPONENT_NAMES, NUM_STEPS, OBSERVATION_SIZE } from '../../../src/world/fields.js';
import { WORLD } from '../../support/open-batch.js';
import { refusalOf } from '../../support/refusals.js';
import { episodeStarts, playerOf, recordEpisodes, TEST_POLICIES, USAGE } from '../../support/trajectories.js';

const weeks = episodeStarts([0, 1, 2, 3, 4, 5]);
const spoken = recordEpisodes(weeks, { policy: TEST_POLICIES.talker, grader: 'v1' });
const silent = recordEpisodes(weeks, { policy: TEST_POLICIES.constant });

/** Every number of a value, wherever it stands. */
function* numbersIn(value: unknown): Generator<number> {
  if (typeof value === 'number') yield value;
  else if (typeof value === 'object' && value !== null)
    for (const each of Object.values(value)) yield* numbersIn(each);
}

describe('a line', () => {
  it('gives every bit back', () => {
    for (const episode of [...spoken, ...silent]) {
      const line = episodeLine(episode);
      expect(line.indexOf('\n')).toBe(line.length - 1);
      const before = [...numbersIn(episode)];
      const after = [...numbersIn(JSON.parse(line))];
      expect(after).toHaveLength(before.length);
      expect(after.every((value, k) => Object.is(value, before[k]))).toBe(true);
    }
  });

  it('holds float32 values, none of them a negative zero, over many weeks and actions', () => {
    const many = Array.from({ length: 200 }, (_, seed) => seed * 977);
    for (const { steps, final, hidden } of recordEpisodes(episodeStarts(many), {
      policy: TEST_POLICIES.talker,
    })) {
      for (const value of numbersIn([steps, final, hidden])) {
        if (Object.is(value, -0) || Math.fround(value) !== value) throw new Error(`got ${value}`);
      }
    }
  });

  it('is the same on every backend', () => {
    const reference = recordEpisodes(weeks, {
      policy: TEST_POLICIES.talker,
      grader: 'v1',
      backend: 'reference',
    });
    expect(reference.map(episodeLine)).toEqual(spoken.map(episodeLine));
  });

  it('says who, where and under which grader', () => {
    const player = { teacher: 'planner', model: 'fast', objective: 'score', oracle: true };
    const [episode] = recordEpisodes(episodeStarts([7], 'custom', 'discrete'), { player, grader: 'v1' });
    const { steps, final, hidden, system, version, ...head } = episode;
    expect(head).toEqual({
      schema: SCHEMAS.trajectory,
      world_digest: WORLD.digest,
      ...player,
      condition: 'custom',
      profile_mode: 'discrete',
      seed: 7,
      grader: toGrader('v1'),
    });
    expect(steps).toHaveLength(NUM_STEPS);
    expect(Object.keys(final)).toEqual([
      ...COMPONENT_NAMES,
      'belief_mae',
      'early_mean',
      'late_mean',
      'final_score',
    ]);
    expect([hidden!.profile.length, hidden!.belief_target.length]).toEqual([16, 3]);
    expect(version).toMatch(/^\d+\.\d+\.\d+$/);
    expect(system).toBe(
      prompt(new Float32Array(106).fill(-1, 9, 11).fill(28, 3, 4).fill(-1, 22, 29))[0].content,
    );
  });

  it('holds hidden numbers under `hidden`, and nowhere else', () => {
    const truth = new Set([...numbersIn(silent[0].hidden)].filter((value) => value !== 0 && value !== 1));
    const { hidden: _, ...shown } = silent[0];
    expect([...numbersIn(shown)].filter((value) => truth.has(value))).toEqual([]);
  });

  it('is told apart by who played which week', () => {
    const keys = [...spoken, ...recordEpisodes(weeks, { player: playerOf({ oracle: true }) })].map(
      episodeKey,
    );
    expect(new Set(keys).size).toBe(12);
    expect(episodeKey(spoken[0])).toBe(episodeKey(silent[0]));
  });
});

describe('what is noted', () => {
  it('is what one episode of the reference lives', () => {
    for (const { seed, steps, final, hidden } of silent) {
      const episode = new Episode();
      const seen = new Float32Array(OBSERVATION_SIZE);
      episode.reset(seed);
      for (const { observation, action, belief, reward } of steps) {
        episode.observe(seen);
        expect(observation).toEqual(Array.from(seen));
        episode.step(ACTION_NAMES.indexOf(action), belief ?? undefined);
        expect(reward).toBe(episode.reward);
      }
      expect(Object.values(final)).toEqual([
        ...episode.components,
        episode.beliefMae,
        episode.firstHalfMean,
        episode.secondHalfMean,
        episode.finalScore,
      ]);
      expect(hidden!.profile).toEqual(Array.from(episode.profile));
    }
  });

  it('where no action is read is the fallback, with the belief if there is one', () => {
    const steps = spoken.flatMap((episode) => episode.steps);
    const unread = steps.filter(({ parsed }) => !parsed);
    expect(new Set(unread.map(({ action }) => action))).toEqual(new Set([FALLBACK_ACTION]));
    expect(unread.some(({ belief }) => belief !== null)).toBe(true);
    expect(unread.some(({ belief }) => belief === null)).toBe(true);
    for (const { reward_components: rewards } of unread) {
      expect([rewards.format_valid, rewards.action_legal, rewards.env_reward]).toEqual([-2, -1, -3]);
    }
  });

  it('has the reward stack of each step', () => {
    for (const { parsed, belief, reward, reward_components: rewards } of spoken.flatMap(
      ({ steps }) => steps,
    )) {
      expect(rewards.format_valid).toBe(parsed && belief !== null ? 1 : -2);
      expect(rewards.action_legal).toBe(parsed ? 0.5 : -1);
      expect(rewards.env_reward).toBe(parsed ? reward : -3);
      if (belief === null) expect(rewards.belief_accuracy).toBe(-0.5);
      else expect(Math.abs(rewards.belief_accuracy)).toBeLessThanOrEqual(0.5);
    }
    const { steps, final } = silent[0];
    const last = steps[NUM_STEPS - 1].reward_components.belief_accuracy;
    expect(last).toBe(Math.fround(0.5 - final.belief_mae));
  });

  it('has the sum of what was used, and nothing where nothing was', () => {
    const { requests, cost_usd } = spoken[0].usage!;
    expect([requests, cost_usd]).toEqual([NUM_STEPS * USAGE.requests, NUM_STEPS * USAGE.cost_usd]);
    expect(silent[0]).not.toHaveProperty('usage');
  });
});

describe('a move', () => {
  const asked = [
    { role: 'system', content: 's' },
    { role: 'user', content: 'u' },
  ] as const;

  it.each<[string, string | null]>([
    ['<reasoning> a\nb </reasoning>\n5 5 5 SLEEP', 'a\nb'],
    ['x <REASONING>a</reasoning> <reasoning>b</Reasoning> 5 5 5 SLEEP', 'a</reasoning> <reasoning>b'],
    ['<reasoning>a', null],
    ['a</reasoning>', null],
    ['</reasoning><reasoning>', null],
    ['5 5 5 SLEEP', null],
    // Letters that become those of a tag in other cases, and others that grow.
    ['<rea\u017Foning>a</reasoning> \u0130\u0130<reasoning>b</REASONING></rea\u017Foning>', 'b'],
    ['<reason\u0131ng>a</reasoning>', null],
    ['</reasoning><reasoning>a</reasoning>b</reasoning></reasoning', 'a</reasoning>b'],
  ])('%j was thought about as %j', (completion, reasoning) => {
    expect(reasoningIn(completion)).toBe(reasoning);
  });

  it('in words is what they say; thoughts may be told apart', () => {
    const move = { prompt: asked, completion: '9 0 3 deep-work', reasoning: 'apart' };
    const { action, parsed, belief, reasoning } = resolveMove(move);
    expect([ACTION_NAMES[action], parsed, reasoning]).toEqual(['deep_work', true, 'apart']);
    expect(belief).toEqual(Float32Array.of(1, 0, 3 / 9));
  });

  it("has its completion's thought before one that is told apart", () => {
    const completion = '<reasoning>own</reasoning>\n9 0 3 SLEEP';
    expect(resolveMove({ prompt: asked, completion, reasoning: 'apart' }).reasoning).toBe('own');
  });

  it('without words has a belief as the world takes it', () => {
    const belief = [2, -0, 2 ** -41];
    expect(resolveMove({ action: 3, belief }).belief).toEqual(Float32Array.of(1, 0, 0));
    expect(Object.is(resolveMove({ action: 3, belief }).belief![1], 0)).toBe(true);
  });

  it.each<[string, Move, string]>([
    ['an action that is none', { action: 10, belief: null }, 'illegal_action'],
    ['a belief of two', { action: 0, belief: [0.5, 0.5] }, 'wrong_length'],
    ['a belief that is NaN', { action: 0, belief: [0.5, Number.NaN, 0.5] }, 'out_of_range'],
    ['a completion that is no text', { prompt: asked, completion: 3 as never }, 'wrong_type'],
  ])('%s is refused', (_, move, code) => {
    expect(refusalOf(() => resolveMove(move)).code).toBe(code);
  });
});

describe('a recorder', () => {
  const recorderOf = (options: object = {}) =>
    new TrajectoryRecorder(createVecEnv({ numEnvs: 3, ...options }), playerOf(), toGrader('v2'));

  it('lets slots wait and begin anew: what is noted is as in lockstep', () => {
    const recorder = recorderOf();
    recorder.begin(episodeStarts([10, 11, 12]));
    const left = [NUM_STEPS, NUM_STEPS, NUM_STEPS];
    const ended: TrajectoryEpisode[] = [];
    for (let turn = 0; left.some((steps) => steps > 0); turn++) {
      const goes = left.map((steps, slot) => steps > 0 && (turn + slot) % 3 !== 0);
      recorder.step(
        goes.map((go, slot) => (go ? { action: (NUM_STEPS - left[slot]) % 10, belief: null } : null)),
      );
      for (const [slot, go] of goes.entries()) left[slot] -= Number(go);
      if (left[0] === 5 && goes[0] && ended.length === 0) {
        recorder.begin([null, { seed: 13, condition: 'custom', profileMode: 'sampled' }, null]);
        left[1] = NUM_STEPS;
      }
      ended.push(...recorder.take());
    }
    const play = ({ step }: { step: number }) => ({ action: step % 10, belief: null });
    const lockstep = recordEpisodes(episodeStarts([10, 12, 13]), { policy: play });
    expect(ended.sort((a, b) => a.seed - b.seed)).toEqual(lockstep);
    expect(recorder.take()).toEqual([]);
  });

  it.each<[string, object]>([
    ['imagined luck', { imagination: true }],
    ['autoreset', { autoreset: 'same-step' }],
    ['scaled observations', { observation: { scale: true } }],
    ['one-hot observations', { observation: { oneHot: true } }],
    ['some fields', { observation: { fields: ['meters'] } }],
  ])('refuses an environment of %s', (_, options) => {
    expect(refusalOf(() => recorderOf(options)).code).toBe('not_alike');
  });

  it('refuses another system message within an episode, and lists of another length', () => {
    const recorder = recorderOf();
    expect(refusalOf(() => recorder.begin(episodeStarts([1]))).code).toBe('wrong_length');
    recorder.begin(episodeStarts([1, 2, 3]));
    expect(refusalOf(() => recorder.step([])).code).toBe('wrong_length');
    const move = (system: string): Move => ({
      prompt: [
        { role: 'system', content: system },
        { role: 'user', content: '' },
      ],
      completion: '5 5 5 SLEEP',
    });
    recorder.step([move('a'), null, null]);
    expect(refusalOf(() => recorder.step([move('b'), null, null])).code).toBe('not_alike');
  });
});

describe('the recorder of one episode', () => {
  const start = { player: playerOf(), condition: 'custom', profileMode: 'sampled', seed: 1 };
  const recorderOf = (more: object = {}) =>
    new EpisodeRecorder(WORLD, { ...start, grader: toGrader('v2'), ...more });
  const seen = new Float32Array(OBSERVATION_SIZE);
  const end = {
    components: new Float32Array(6),
    finalScore: 0,
    beliefMae: 0,
    firstHalfMean: 0,
    secondHalfMean: 0,
  };
  const silentMove = resolveMove({ action: 0, belief: null });
  const over = expect.objectContaining({ code: 'episode_over' });

  it('takes 28 steps, no fewer and no more', () => {
    const recorder = recorderOf();
    for (let step = 0; step < NUM_STEPS; step++) {
      expect(() => recorder.end(end)).toThrow(over);
      recorder.step(seen, silentMove, 0);
    }
    expect(() => recorder.step(seen, silentMove, 0)).toThrow(over);
    expect(recorder.end(end).steps).toHaveLength(NUM_STEPS);
  });

  it('keeps how it was asked, and what some of the answers took', () => {
    const asked = (system: string, usage?: object): Move => ({
      prompt: [
        { role: 'system', content: system },
        { role: 'user', content: 'u' },
      ],
      completion: '5 5 5 SLEEP',
      usage,
    });
    const sampling = { max_tokens: 64, temperature: 0.5 };
    const recorder = recorderOf({ sampling });
    const played = [
      resolveMove(asked('s')),
      resolveMove(asked('s', { requests: 1 })),
      silentMove,
      resolveMove(asked('s', { requests: 2, refused: 1 })),
    ];
    for (let step = 0; step < NUM_STEPS; step++) recorder.step(seen, played[step] ?? silentMove, 0);
    const { system, usage, sampling: kept } = recorder.end(end);
    expect([system, usage, kept]).toEqual(['s', { requests: 3, refused: 1 }, sampling]);
  });
});

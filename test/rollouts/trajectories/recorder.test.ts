/** Tests of recorded episodes, of moves (what a policy returns for a step), and of the lines of episodes in files. */
import { describe, expect, it } from 'vitest';
import { runSync } from '../../../src/engine/engine-calls.js';
import { toGrader } from '../../../src/engine/graders/grader.js';
import { createVecEnv, Episode, prompt } from '../../../src/index.js';
import { ROW_SIZE } from '../../../src/rollouts/text/observation-row.js';
import { EpisodeRecorder, TrajectoryRecorder } from '../../../src/rollouts/trajectories/episode-recorder.js';
import {
  FALLBACK_ACTION,
  type Move,
  reasoningIn,
  resolveMove,
} from '../../../src/rollouts/trajectories/move.js';
import type { TrajectoryEpisode } from '../../../src/rollouts/trajectories/trajectory-episode.js';
import {
  episodeKey,
  episodeLine,
  parseEpisode,
} from '../../../src/rollouts/trajectories/trajectory-lines.js';
import { float32Decimal } from '../../../src/shared/float32-decimal.js';
import { SCHEMAS } from '../../../src/shared/schemas.js';
import {
  ACTION_NAMES,
  COMPONENT_NAMES,
  NUM_STEPS,
  OBSERVATION,
  OBSERVATION_SIZE,
} from '../../../src/world/fields.js';
import { WORLD } from '../../support/open-batch.js';
import { refusalOf } from '../../support/refusals.js';
import { episodeStarts, playerOf, recordEpisodes, TEST_POLICIES, USAGE } from '../../support/trajectories.js';

const starts = episodeStarts([0, 1, 2, 3, 4, 5]);
const textEpisodes = recordEpisodes(starts, { policy: TEST_POLICIES.incompleteText, grader: 'v1' });
const plainEpisodes = recordEpisodes(starts, { policy: TEST_POLICIES.constant });

/** Yields all numbers in a value. */
function* numbersIn(value: unknown): Generator<number> {
  if (typeof value === 'number') yield value;
  else if (typeof value === 'object' && value !== null)
    for (const each of Object.values(value)) yield* numbersIn(each);
}

describe('a line', () => {
  it('restores every number', () => {
    for (const episode of [...textEpisodes, ...plainEpisodes]) {
      const line = episodeLine(episode);
      expect(line.indexOf('\n')).toBe(line.length - 1);
      expect(parseEpisode(line)).toEqual(episode);
      expect(parseEpisode(JSON.stringify(episode))).toEqual(episode);
    }
  });

  it('has the shortest decimals', () => {
    const { steps, final, hidden } = textEpisodes[0];
    const read = JSON.parse(episodeLine(textEpisodes[0]));
    const decimals = [...numbersIn([steps, final, hidden])].map(float32Decimal);
    expect([...numbersIn([read.steps, read.final, read.hidden])]).toEqual(decimals);
    expect(read.steps[0].observation[OBSERVATION.meters]).toBe(0.7);
  });

  it('is the same on the reference and on the default backend', () => {
    const reference = recordEpisodes(starts, {
      policy: TEST_POLICIES.incompleteText,
      grader: 'v1',
      backend: 'reference',
    });
    expect(reference.map(episodeLine)).toEqual(textEpisodes.map(episodeLine));
  });

  it('has the player, the condition and the grader', () => {
    const player = { teacher: 'planner', model: 'fast', objective: 'score', oracle: true };
    const [episode] = recordEpisodes(episodeStarts([7], 'custom', 'discrete'), { player, grader: 'v1' });
    const { steps, final, hidden, system, version, ...head } = episode;
    const described = { condition: 'custom', profile_mode: 'discrete', seed: 7, grader: toGrader('v1') };
    expect(head).toEqual({ schema: SCHEMAS.trajectory, world_digest: WORLD.digest, ...player, ...described });
    const grade = ['belief_mae', 'early_mean', 'late_mean', 'final_score'];
    expect(Object.keys(final)).toEqual([...COMPONENT_NAMES, ...grade]);
    expect([steps.length, hidden!.profile.length, hidden!.belief_target.length]).toEqual([28, 16, 3]);
    expect(version).toMatch(/^\d+\.\d+\.\d+$/);
    // The system message does not depend on the row. This row is the start of an episode: 28 steps remain, and the last
    // event and action and the seven past actions are -1.
    expect(system).toBe(
      prompt(new Float32Array(ROW_SIZE).fill(-1, 9, 11).fill(28, 3, 4).fill(-1, 22, 29))[0].content,
    );
  });

  it('has hidden numbers under `hidden` only', () => {
    const truth = new Set(
      [...numbersIn(plainEpisodes[0].hidden)].filter((value) => value !== 0 && value !== 1),
    );
    const { hidden: _, ...visible } = plainEpisodes[0];
    expect([...numbersIn(visible)].filter((value) => truth.has(value))).toEqual([]);
  });

  it('has a key that differs by player and seed, not by grader', () => {
    const keys = [...textEpisodes, ...recordEpisodes(starts, { player: playerOf({ oracle: true }) })].map(
      episodeKey,
    );
    expect(new Set(keys).size).toBe(12);
    expect(episodeKey(textEpisodes[0])).toBe(episodeKey(plainEpisodes[0]));
  });
});

describe('a recorded episode', () => {
  it('has only float32 values, and no -0', () => {
    const many = Array.from({ length: 50 }, (_, seed) => seed * 977);
    for (const { steps, final, hidden } of recordEpisodes(episodeStarts(many), {
      policy: TEST_POLICIES.incompleteText,
    })) {
      for (const value of numbersIn([steps, final, hidden])) {
        if (Object.is(value, -0) || Math.fround(value) !== value) throw new Error(`got ${value}`);
      }
    }
  });

  it('equals an episode of the reference', () => {
    for (const { seed, steps, final, hidden } of plainEpisodes) {
      const episode = new Episode();
      const observed = new Float32Array(OBSERVATION_SIZE);
      episode.reset(seed);
      for (const { observation, action, belief, reward } of steps) {
        episode.observe(observed);
        expect(observation).toEqual(Array.from(observed));
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

  it('has the reward stack of each step, and the fallback action where none was parsed', () => {
    const steps = textEpisodes.flatMap((episode) => episode.steps);
    for (const { parsed, belief, action, reward, reward_components: rewards } of steps) {
      if (!parsed) expect(action).toBe(FALLBACK_ACTION);
      expect(rewards.format_valid).toBe(parsed && belief !== null ? 1 : -2);
      expect(rewards.action_legal).toBe(parsed ? 0.5 : -1);
      expect(rewards.env_reward).toBe(parsed ? reward : -3);
      if (belief === null) expect(rewards.belief_accuracy).toBe(-0.5);
      else expect(Math.abs(rewards.belief_accuracy)).toBeLessThanOrEqual(0.5);
    }
    const answers = new Set(steps.map(({ parsed, belief }) => `${parsed} ${belief !== null}`));
    expect(answers.size).toBe(4);
    const { steps: plain, final } = plainEpisodes[0];
    const last = plain[NUM_STEPS - 1].reward_components.belief_accuracy;
    expect(last).toBe(Math.fround(0.5 - final.belief_mae));
  });

  it('has the sum of usages, or no usage', () => {
    const { requests, cost_usd } = textEpisodes[0].usage!;
    expect([requests, cost_usd]).toEqual([NUM_STEPS * USAGE.requests, NUM_STEPS * USAGE.cost_usd]);
    expect(plainEpisodes[0]).not.toHaveProperty('usage');
  });
});

describe('a move', () => {
  const messages = [
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
    // Non-ASCII letters whose upper or lower case is a letter of a tag, or is longer than one character.
    ['<rea\u017Foning>a</reasoning> \u0130\u0130<reasoning>b</REASONING></rea\u017Foning>', 'b'],
    ['<reason\u0131ng>a</reasoning>', null],
    ['</reasoning><reasoning>a</reasoning>b</reasoning></reasoning', 'a</reasoning>b'],
  ])('the reasoning of %j is %j', (completion, reasoning) => {
    expect(reasoningIn(completion)).toBe(reasoning);
  });

  it('of text has its action and belief; reasoning may be separate, but that in the completion is preferred', () => {
    const move = { prompt: messages, completion: '9 0 3 deep-work', reasoning: 'apart' };
    const { action, parsed, belief, reasoning } = resolveMove(move);
    expect([ACTION_NAMES[action], parsed, reasoning]).toEqual(['deep_work', true, 'apart']);
    expect(belief).toEqual(Float32Array.of(1, 0, 3 / 9));
    const completion = `<reasoning>own</reasoning>\n${move.completion}`;
    expect(resolveMove({ ...move, completion }).reasoning).toBe('own');
  });

  it('without text clamps its belief, and turns -0 and tiny numbers into 0', () => {
    const belief = [2, -0, 2 ** -41];
    expect(resolveMove({ action: 3, belief }).belief).toEqual(Float32Array.of(1, 0, 0));
    expect(Object.is(resolveMove({ action: 3, belief }).belief![1], 0)).toBe(true);
  });

  it.each<[string, Move]>([
    ['illegal_action', { action: 10, belief: null }],
    ['wrong_length', { action: 0, belief: [0.5, 0.5] }],
    ['out_of_range', { action: 0, belief: [0.5, Number.NaN, 0.5] }],
    ['wrong_type', { prompt: messages, completion: 3 as never }],
  ])('is refused with %s: %j', (code, move) => {
    expect(refusalOf(() => resolveMove(move)).code).toBe(code);
  });
});

describe('a recorder', () => {
  const recorderOf = (options: object = {}) =>
    new TrajectoryRecorder(createVecEnv({ numEnvs: 3, ...options }), playerOf(), toGrader('v2'));

  it('records the same episodes when environments skip steps or are reset', () => {
    const recorder = recorderOf();
    runSync(recorder.begin(episodeStarts([10, 11, 12])));
    const stepsLeft = [NUM_STEPS, NUM_STEPS, NUM_STEPS];
    const ended: TrajectoryEpisode[] = [];
    for (let turn = 0; stepsLeft.some((count) => count > 0); turn++) {
      const isStepping = stepsLeft.map((count, i) => count > 0 && (turn + i) % 3 !== 0);
      const moves = stepsLeft.map((count, i) =>
        isStepping[i] ? { action: (NUM_STEPS - count) % 10, belief: null } : null,
      );
      runSync(recorder.step(moves));
      for (const [i, steppedNow] of isStepping.entries()) stepsLeft[i] -= Number(steppedNow);
      // Before its end, the episode of seed 11 is replaced by one of seed 13.
      if (stepsLeft[0] === 5 && isStepping[0]) {
        runSync(recorder.begin([null, { seed: 13, condition: 'custom', profileMode: 'sampled' }, null]));
        stepsLeft[1] = NUM_STEPS;
      }
      ended.push(...recorder.take());
    }
    const play = ({ step }: { step: number }) => ({ action: step % 10, belief: null });
    const lockstep = recordEpisodes(episodeStarts([10, 12, 13]), { policy: play });
    expect(ended.sort((a, b) => a.seed - b.seed)).toEqual(lockstep);
    expect(recorder.take()).toEqual([]);
  });

  it.each<object>([
    { imagination: true },
    { autoreset: 'same-step' },
    { observation: { scale: true } },
    { observation: { oneHot: true } },
    { observation: { fields: ['meters'] } },
    { layout: 'column-major' },
  ])('refuses an environment with %j', (options) => {
    const begin = () => runSync(recorderOf(options).begin(episodeStarts([10, 11, 12])));
    expect(refusalOf(begin).code).toBe('not_alike');
  });

  it('refuses another system message within an episode, and lists of a wrong length', () => {
    const recorder = recorderOf();
    expect(refusalOf(() => runSync(recorder.begin(episodeStarts([1])))).code).toBe('wrong_length');
    runSync(recorder.begin(episodeStarts([1, 2, 3])));
    expect(refusalOf(() => runSync(recorder.step([]))).code).toBe('wrong_length');
    const move = (system: string): Move => ({
      prompt: [
        { role: 'system', content: system },
        { role: 'user', content: '' },
      ],
      completion: '5 5 5 SLEEP',
    });
    runSync(recorder.step([move('a'), null, null]));
    expect(refusalOf(() => runSync(recorder.step([move('b'), null, null]))).code).toBe('not_alike');
  });
});

describe('the recorder of one episode', () => {
  const start = { player: playerOf(), condition: 'custom', profileMode: 'sampled', seed: 1 };
  const recorderOf = (more: object = {}) =>
    new EpisodeRecorder(WORLD, { ...start, grader: toGrader('v2'), ...more });
  const seen = new Float32Array(OBSERVATION_SIZE);
  const end = {
    components: new Float32Array(COMPONENT_NAMES.length),
    finalScore: 0,
    beliefMae: 0,
    firstHalfMean: 0,
    secondHalfMean: 0,
  };
  const plainMove = resolveMove({ action: 0, belief: null });
  const episodeOver = expect.objectContaining({ code: 'episode_over' });

  it('takes 28 steps, no fewer and no more', () => {
    const recorder = recorderOf();
    for (let step = 0; step < NUM_STEPS; step++) {
      expect(() => recorder.end(end)).toThrow(episodeOver);
      recorder.step(seen, plainMove, 0);
    }
    expect(() => recorder.step(seen, plainMove, 0)).toThrow(episodeOver);
    expect(recorder.end(end).steps).toHaveLength(NUM_STEPS);
  });

  it('keeps the system message, the sampling and the sum of usages', () => {
    const moveOf = (system: string, usage?: object): Move => ({
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
      resolveMove(moveOf('s')),
      resolveMove(moveOf('s', { requests: 1 })),
      plainMove,
      resolveMove(moveOf('s', { requests: 2, refused: 1 })),
    ];
    for (let step = 0; step < NUM_STEPS; step++) recorder.step(seen, played[step] ?? plainMove, 0);
    const { system, usage, sampling: kept } = recorder.end(end);
    expect([system, usage, kept]).toEqual(['s', { requests: 3, refused: 1 }, sampling]);
  });
});

/** Tests of the policy of `rolloutGroups`: its input, and the validation of its output. */
import { describe, expect, it } from 'vitest';
import {
  createVecEnv,
  type ErrorCode,
  type RolloutPolicy,
  type RolloutView,
  rolloutGroups,
} from '../../../src/index.js';
import { NUM_ACTIONS, NUM_BELIEFS, NUM_STEPS, OBSERVATION_SIZE } from '../../../src/world/fields.js';
import { expectRejection } from '../../support/refusals.js';
import { advanceToStops, rowOf } from '../../support/rollouts.js';

const { NaN: nan } = Number;
const deepWork = ({ steps }: RolloutView) => ({ actions: new Uint8Array(steps.length) });

describe('the input of a policy', () => {
  it('has the observations that the result has, and histories up to the last step', async () => {
    using source = createVecEnv({ numEnvs: 4 });
    advanceToStops(source);
    const views: RolloutView[] = [];
    const policy: RolloutPolicy = (view) => {
      views.push({ ...view, observations: view.observations.slice() });
      if (view.playing[4] === 1) {
        const past = view.history(4);
        expect(past).toHaveLength(Math.min(7, view.steps[4]));
        expect(past.at(-1)?.step).toBe(view.steps[4] - 1);
      }
      // The policy may write to these arrays without changing the rollouts.
      view.steps.fill(0);
      view.playing.fill(0);
      return deepWork(view);
    };
    const from = { source, indices: [0, 1, 2, 3] };
    const { observations } = await rolloutGroups({ from, groupSize: 2, policy });
    expect(views).toHaveLength(NUM_STEPS);
    expect(views[0]).toMatchObject({ groups: 4, groupSize: 2 });
    views.forEach((view, turn) => {
      const at = turn * OBSERVATION_SIZE;
      const first = view.observations.subarray(0, OBSERVATION_SIZE);
      expect(observations.slice(at, at + OBSERVATION_SIZE)).toEqual(first);
    });
  });

  it('has the steps of each rollout and whether it still plays', async () => {
    using source = createVecEnv({ numEnvs: 4 });
    advanceToStops(source);
    const views: string[] = [];
    const policy: RolloutPolicy = (view) => {
      views.push(`${view.steps} ${view.playing}`);
      return deepWork(view);
    };
    await rolloutGroups({ from: source.snapshot(), groupSize: 1, policy });
    expect([views[0], views[1], views[22], views[23], views[27]]).toEqual([
      '0,27,5,28 1,1,1,0',
      '1,28,6,28 1,0,1,0',
      '22,28,27,28 1,0,1,0',
      '23,28,28,28 1,0,0,0',
      '27,28,28,28 1,0,0,0',
    ]);
  });
});

describe('the output of a policy', () => {
  it('may have beliefs and log-probabilities at some steps only', async () => {
    const policy: RolloutPolicy = ({ steps: [t] }) => ({
      actions: [t % NUM_ACTIONS, 1],
      beliefs: t === 3 ? [0.5, 2, -1, nan, nan, nan] : undefined,
      logProbs: t === 4 ? [nan, -0.25] : undefined,
    });
    const { actions, beliefs, logProbs } = await rolloutGroups({ seeds: [1], groupSize: 2, policy });
    expect(rowOf(actions, 0, NUM_STEPS)).toEqual(
      Int8Array.from({ length: NUM_STEPS }, (_, t) => t % NUM_ACTIONS),
    );
    expect(Array.from(rowOf(beliefs, 3, 3))).toEqual([0.5, 2, -1]);
    expect(beliefs.filter((number) => !Number.isNaN(number))).toHaveLength(3);
    expect(logProbs![NUM_STEPS + 4]).toBe(-0.25);
    expect(logProbs!.filter((number) => !Number.isNaN(number))).toHaveLength(1);
  });

  it('may have an array of beliefs that the policy overwrites later', async () => {
    const own = new Float32Array(2 * NUM_BELIEFS);
    let written = 0;
    // Overwrites the beliefs 64 times: at once, and then in microtasks, which run while the rollouts wait.
    const write = () => {
      own.fill(0.25 + (++written % 64) / 128);
      if (written % 64 !== 0) queueMicrotask(write);
    };
    const policy: RolloutPolicy = (view) => {
      write();
      return { ...deepWork(view), beliefs: own };
    };
    const { beliefs, beliefMae } = await rolloutGroups({ seeds: [1], groupSize: 2, policy });
    using env = createVecEnv({ numEnvs: 2 });
    env.reset({ seed: [1, 1] });
    const steps = Array.from({ length: NUM_STEPS }, (_, t) =>
      [0, NUM_STEPS].flatMap((row) => Array.from(rowOf(beliefs, row + t, NUM_BELIEFS))),
    );
    const replayed = steps.map((row) => env.step([0, 0], { beliefs: row }).beliefMae[0]);
    expect(Math.min(...steps.flat())).toBeGreaterThanOrEqual(0.25);
    expect(replayed.at(-1)).toBe(beliefMae[0]);
  });

  it('is ignored for rollouts whose episode is over', async () => {
    using source = createVecEnv({ numEnvs: 4 });
    advanceToStops(source);
    const { finalScores } = source.assign(source, [3, 2, 1, 0]);
    const before = finalScores[0];
    const policy: RolloutPolicy = () => ({
      actions: [255, 1],
      beliefs: [nan, 0, -Infinity, 0.5, 0.5, 0.5],
      logProbs: ['?' as never, -1],
    });
    const rollouts = await rolloutGroups({ from: { source, indices: [0, 1] }, groupSize: 1, policy });
    expect(rollouts.finalScores[0]).toBe(before);
    expect(rowOf(rollouts.actions, 0, NUM_STEPS)).toEqual(new Int8Array(NUM_STEPS).fill(-1));
    expect(rollouts.logProbs!.subarray(0, NUM_STEPS).every(Number.isNaN)).toBe(true);
  });

  const bad: [name: string, output: unknown, code: ErrorCode, ...mentions: string[]][] = [
    ['undefined', undefined, 'wrong_type', "a policy's output", 'undefined'],
    ['actions without an object', [0, 1], 'wrong_type', "a policy's output", 'an array of 2'],
    ['no actions', {}, 'wrong_type', 'actions', 'undefined'],
    ['too few actions', { actions: [0] }, 'wrong_length', '2 actions', 'got 1'],
    ['an invalid action', { actions: [0, 10] }, 'illegal_action', 'actions[1]', 'got 10'],
    [
      'an invalid action in a Uint8Array',
      { actions: Uint8Array.of(0, 10) },
      'illegal_action',
      'actions[1]',
      'got 10',
    ],
    ['an unknown key', { actions: [0, 1], logprobs: [0, 0] }, 'unknown_option', '"logprobs"', '"logProbs"'],
    ['a belief with a NaN', { actions: [0, 1], beliefs: [0, nan, 0, 0, 0, 0] }, 'bad_belief', 'row 0'],
    ['too few beliefs', { actions: [0, 1], beliefs: [0, 0, 0] }, 'wrong_length', 'environments x 3', 'got 3'],
    [
      'a belief that is a string',
      { actions: [0, 1], beliefs: [0, 0, 0, 0, 0, '1'] },
      'bad_belief',
      'beliefs[5]',
    ],
    [
      'log-probabilities that are a number',
      { actions: [0, 1], logProbs: -1 },
      'wrong_type',
      'logProbs',
      'got -1',
    ],
    [
      'too many log-probabilities',
      { actions: [0, 1], logProbs: [0, 0, 0] },
      'wrong_length',
      '2 logProbs',
      'got 3',
    ],
    [
      'an infinite log-probability',
      { actions: [0, 1], logProbs: [0, -Infinity] },
      'out_of_range',
      'logProbs[1]',
    ],
    [
      'a log-probability outside of float32',
      { actions: [0, 1], logProbs: [-1e39, 0] },
      'out_of_range',
      'logProbs[0]',
    ],
    [
      'a log-probability that is a string',
      { actions: [0, 1], logProbs: ['0', 0] },
      'wrong_type',
      'logProbs[0]',
      '"0"',
    ],
  ];

  it.each(bad)(
    'is refused, whether returned directly or by a promise: %s',
    async (_, output, code, ...mentions) => {
      for (const policy of [() => output, async () => output]) {
        const refused = rolloutGroups({ seeds: [1], groupSize: 2, policy: policy as RolloutPolicy });
        await expectRejection(refused, code, ...mentions);
      }
    },
  );

  it('is missing if the policy throws: the call rejects with policy_failed, and closes the environments', async () => {
    const reason = new Error('no');
    const views: RolloutView[] = [];
    const throws = (view: RolloutView) => {
      views.push(view);
      throw reason;
    };
    for (const policy of [throws, async (view: RolloutView) => throws(view)]) {
      const rejection = expect(rolloutGroups({ seeds: [1], groupSize: 2, policy })).rejects;
      await rejection.toMatchObject({ code: 'policy_failed', cause: reason });
    }
    const policy = (view: RolloutView) => {
      views.push(view);
      return deepWork(view);
    };
    await rolloutGroups({ seeds: [1], groupSize: 2, policy });
    expect(views).toHaveLength(2 + NUM_STEPS);
    for (const view of views) expect(() => view.history(0)).toThrow(/was closed/);
  });
});

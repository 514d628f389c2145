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
  it('has the observations of the result, the steps, who still plays, and histories up to the last step', async () => {
    using source = createVecEnv({ numEnvs: 4 });
    advanceToStops(source);
    const views: RolloutView[] = [];
    const shapes: string[] = [];
    const policy: RolloutPolicy = (view) => {
      views.push({ ...view, observations: view.observations.slice() });
      if (view.playing[4] === 1) {
        const past = view.history(4);
        expect(past).toHaveLength(Math.min(7, view.steps[4]));
        expect(past.at(-1)?.step).toBe(view.steps[4] - 1);
      }
      shapes.push(`${view.steps} ${view.playing}`);
      // The policy may write to these arrays without changing the rollouts.
      view.steps.fill(0);
      view.playing.fill(0);
      return deepWork(view);
    };
    const from = { source, indices: [0, 1, 2, 3] };
    const { observations } = await rolloutGroups({ from, groupSize: 2, policy });
    expect(views).toHaveLength(NUM_STEPS);
    expect(views[0]).toMatchObject({ groups: 4, groupSize: 2 });
    expect(shapes[0]).toBe('0,0,27,27,5,5,28,28 1,1,1,1,1,1,0,0');
    expect(shapes[1]).toBe('1,1,28,28,6,6,28,28 1,1,0,0,1,1,0,0');
    expect(shapes[23]).toBe('23,23,28,28,28,28,28,28 1,1,0,0,0,0,0,0');
    views.forEach((view, turn) => {
      const at = turn * OBSERVATION_SIZE;
      const first = view.observations.subarray(0, OBSERVATION_SIZE);
      expect(observations.slice(at, at + OBSERVATION_SIZE)).toEqual(first);
    });
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

  const actions = [0, 1];
  it.each<[ErrorCode, mention: string, output: unknown]>([
    ['wrong_type', "a policy's output", undefined],
    ['wrong_type', "a policy's output", [0, 1]],
    ['wrong_type', 'actions', {}],
    ['wrong_length', '2 actions', { actions: [0] }],
    ['illegal_action', 'actions[1]', { actions: [0, 10] }],
    ['illegal_action', 'actions[1]', { actions: Uint8Array.of(0, 10) }],
    ['unknown_option', '"logProbs"', { actions, logprobs: [0, 0] }],
    ['bad_belief', 'row 0', { actions, beliefs: [0, nan, 0, 0, 0, 0] }],
    ['bad_belief', 'beliefs[5]', { actions, beliefs: [0, 0, 0, 0, 0, '1'] }],
    ['wrong_length', 'environments x 3', { actions, beliefs: [0, 0, 0] }],
    ['wrong_type', 'logProbs', { actions, logProbs: -1 }],
    ['wrong_length', '2 logProbs', { actions, logProbs: [0, 0, 0] }],
    ['out_of_range', 'logProbs[1]', { actions, logProbs: [0, -Infinity] }],
    ['out_of_range', 'logProbs[0]', { actions, logProbs: [-1e39, 0] }],
    ['wrong_type', 'logProbs[0]', { actions, logProbs: ['0', 0] }],
  ])('is refused, whether returned directly or by a promise: %s, %s', async (code, mention, output) => {
    for (const policy of [() => output, async () => output]) {
      const refused = rolloutGroups({ seeds: [1], groupSize: 2, policy: policy as RolloutPolicy });
      await expectRejection(refused, code, mention);
    }
  });

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

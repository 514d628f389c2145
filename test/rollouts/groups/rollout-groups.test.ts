/** Compares rollouts in groups with single episodes, from seeds, snapshots and environments; and the policy's input and output. */
import { describe, expect, it } from 'vitest';
import { randomAction } from '../../../src/engine/reference/baselines.js';
import {
  createVecEnv,
  Episode,
  type ErrorCode,
  type Policy,
  RHYTHM,
  type RolloutGroups,
  type RolloutOptions,
  type RolloutPolicy,
  type RolloutView,
  rolloutGroups,
  type VecEnv,
} from '../../../src/index.js';
import {
  NUM_ACTIONS,
  NUM_BELIEFS,
  NUM_COMPONENTS,
  NUM_STEPS,
  OBSERVATION_SIZE,
} from '../../../src/world/fields.js';
import { createWorld } from '../../../src/world/world.js';
import { reportAbsentEngines, TWO_ENGINES, threadsOn } from '../../support/engines.js';
import { Random } from '../../support/random.js';
import { expectRejection } from '../../support/refusals.js';

/** Creates an episode in the initial state of the rollouts of a group. */
type EpisodeStart = () => Episode;

/** Copies row `at` of an array. */
const rowOf = <T extends Float32Array | Int8Array>(array: T, at: number, width: number): T =>
  array.slice(at * width, (at + 1) * width) as T;

/** Replays a rollout, and compares its observations, hashes, rewards and grade. */
function expectReplayed(rollouts: RolloutGroups, i: number, episode: Episode): void {
  expect(rollouts.firstSteps[i]).toBe(episode.stepCount);
  expect(rollouts.seeds[i]).toBe(episode.seed);
  const observation = new Float32Array(OBSERVATION_SIZE);
  for (let t = 0; t < NUM_STEPS; t++) {
    const at = i * NUM_STEPS + t;
    const belief = rowOf(rollouts.beliefs, at, NUM_BELIEFS);
    if (t < rollouts.firstSteps[i]) {
      expect([rollouts.actions[at], rollouts.rewards[at], rollouts.returns[at]]).toEqual([-1, 0, 0]);
      expect([rollouts.stateHashes[at], ...belief]).toEqual([0n, Number.NaN, Number.NaN, Number.NaN]);
      expect(rowOf(rollouts.observations, at, OBSERVATION_SIZE)).toEqual(new Float32Array(OBSERVATION_SIZE));
      continue;
    }
    episode.observe(observation);
    expect(rowOf(rollouts.observations, at, OBSERVATION_SIZE)).toEqual(observation);
    expect(rollouts.stateHashes[at]).toBe(episode.stateHash());
    const reward = episode.step(rollouts.actions[at], Number.isNaN(belief[0]) ? null : belief);
    expect(rollouts.rewards[at]).toBe(reward);
  }
  expectGrade(rollouts, i, episode);
}

function expectGrade(rollouts: RolloutGroups, i: number, episode: Episode): void {
  const { finalScores, beliefMae, episodeReturns, firstHalfMeans, secondHalfMeans, components } = rollouts;
  const columns = [finalScores, beliefMae, episodeReturns, firstHalfMeans, secondHalfMeans];
  const { finalScore, beliefMae: mae, return: sum, firstHalfMean, secondHalfMean } = episode;
  expect(columns.map((column) => column[i])).toEqual([finalScore, mae, sum, firstHalfMean, secondHalfMean]);
  expect(rowOf(components, i, NUM_COMPONENTS)).toEqual(episode.components);
}

/** Compares every rollout with a replay from the start of its group. */
function expectAllReplayed(rollouts: RolloutGroups, starts: readonly EpisodeStart[]): void {
  expect(rollouts.groups).toBe(starts.length);
  for (let i = 0; i < rollouts.seeds.length; i++) {
    expectReplayed(rollouts, i, starts[Math.floor(i / rollouts.groupSize)]());
  }
}

/**
 * Plays four environments to steps 0, 27, 5 and 28.
 * @returns for each environment a function that plays the same episode alone, to the same step.
 */
function advanceToStops(env: VecEnv): EpisodeStart[] {
  const stops = [0, 27, 5, NUM_STEPS];
  const seeds = [90, 91, 92, 93];
  const sequence = new Random('wander').bytes(4 * NUM_STEPS, 0, NUM_ACTIONS - 1);
  env.reset({ seed: seeds });
  env.run(sequence, { stops, beliefs: [0.1, 0.9, 0.3] });
  return stops.map((stop, envIndex) => () => {
    const episode = new Episode().reset(seeds[envIndex]);
    for (let t = 0; t < stop; t++) episode.step(sequence[envIndex * NUM_STEPS + t], [0.1, 0.9, 0.3]);
    return episode;
  });
}

const nan = Number.NaN;
const STEPS = Array.from({ length: NUM_STEPS }, (_, t) => t);

const sequencesOf = ({ actions }: RolloutGroups): string[] =>
  Array.from({ length: actions.length / NUM_STEPS }, (_, i) => rowOf(actions, i, NUM_STEPS).join());

const SEEDS = [7, 0, 4_294_967_295];
const PROFILES = ['sampled', 'introvert_morning', 'discrete'];
const BEGINNINGS: EpisodeStart[] = SEEDS.map(
  (seed, g) => () => new Episode().reset(seed, { profile: PROFILES[g], grader: 'v1' }),
);
const FROM_SEEDS = { seeds: SEEDS, profiles: PROFILES, grader: 'v1', groupSize: 4 };

/** A policy with random actions, beliefs in some rows, and log-probabilities. It returns some outputs as promises. */
function anyPolicy(random: Random): RolloutPolicy {
  return (view) => {
    const n = view.steps.length;
    const actions = Uint8Array.from(view.playing, (plays) =>
      plays ? random.integer(0, NUM_ACTIONS - 1) : 255,
    );
    const { beliefs } = random.beliefs(n, 0.6);
    const output = { actions, beliefs, logProbs: Float32Array.from(actions, () => random.real(-9, 0)) };
    return random.chance(0.5) ? output : Promise.resolve(output);
  };
}

describe.each(TWO_ENGINES)('$name', ({ backend, kernel }) => {
  const on = { backend, kernel };

  it.each(['random', 'heuristic'] as const)(
    'plays the policy %s from seeds and from later steps',
    async (policy) => {
      const rollouts = await rolloutGroups({ ...on, ...FROM_SEEDS, policy });
      expectAllReplayed(rollouts, BEGINNINGS);
      using env = createVecEnv({ numEnvs: 12, ...on });
      env.reset({
        seed: SEEDS.flatMap((seed) => Array(4).fill(seed)),
        profiles: PROFILES.flatMap((name) => Array(4).fill(name)),
      });
      const policySeeds = policy === 'random' ? Array.from({ length: 12 }, (_, i) => i % 4) : undefined;
      const { trajectory } = env.run(policy, { trajectory: true, policySeeds });
      expect(rollouts.actions).toEqual(trajectory!.actions);
      expect(rollouts.logProbs).toBeNull();
      using source = createVecEnv({ numEnvs: 4, ...on });
      const beginnings = advanceToStops(source);
      const from = { source, indices: [0, 1, 2, 3] };
      expectAllReplayed(await rolloutGroups({ kernel, from, groupSize: 1, policy }), beginnings);
    },
  );

  it('plays a policy function from seeds', async () => {
    const rollouts = await rolloutGroups({ ...on, ...FROM_SEEDS, policy: anyPolicy(new Random('policy')) });
    expectAllReplayed(rollouts, BEGINNINGS);
    expect(rollouts.beliefs.some(Number.isNaN)).toBe(true);
    expect(rollouts.beliefs.some((number) => number < 0)).toBe(true);
    expect(rollouts.logProbs!.every((number) => number < 0)).toBe(true);
  });

  it.each(['disabled', 'same-step', 'next-step'] as const)(
    'plays from environments with autoreset %s',
    async (autoreset) => {
      const options = { observation: { history: true }, layout: 'column-major', autoreset } as const;
      using source = createVecEnv({ numEnvs: 4, ...on, ...options });
      const beginnings = advanceToStops(source);
      const before = source.snapshot();
      const indices = [2, 0, 2, 1, 3];
      const policy = anyPolicy(new Random('ragged'));
      const rollouts = await rolloutGroups({ kernel, from: { source, indices }, groupSize: 2, policy });
      expectAllReplayed(
        rollouts,
        indices.map((index) => beginnings[index]),
      );
      expect(new Set(rollouts.firstSteps)).toEqual(new Set([5, 0, 27, NUM_STEPS]));
      expect(source.snapshot()).toEqual(before);
      const samePolicy = anyPolicy(new Random('ragged'));
      const copies = await rolloutGroups({ ...on, from: before, groupSize: 1, policy: samePolicy });
      expectAllReplayed(copies, beginnings);
    },
  );
});

describe('engines', () => {
  reportAbsentEngines();

  it('give the same results, with different numbers of threads and when repeated', async () => {
    const results = [];
    for (const { backend, kernel } of [...TWO_ENGINES, TWO_ENGINES[0]]) {
      const on: Partial<RolloutOptions> = {
        backend,
        kernel,
        threads: threadsOn({ backend }, 1 + (results.length % 3)),
      };
      const policy = anyPolicy(new Random('alike'));
      results.push([
        await rolloutGroups({ ...on, ...FROM_SEEDS, policy }),
        await rolloutGroups({ ...on, ...FROM_SEEDS, policy: 'random', gamma: 0.9 }),
      ]);
    }
    for (const result of results) expect(result).toEqual(results[0]);
  });
});

describe('members of a group', () => {
  const random = (policySeeds?: RolloutOptions['policySeeds']) =>
    rolloutGroups({ seeds: [1, 2, 1], groupSize: 5, policy: 'random', policySeeds });

  it('have different policy seeds; groups with the same seed have the same actions', async () => {
    const sequences = sequencesOf(await random());
    // Two different seeds, with five members each.
    expect(new Set(sequences).size).toBe(10);
    expect(sequences.slice(10)).toEqual(sequences.slice(0, 5));
    const { params } = createWorld();
    // Member 3 of the group with seed 2.
    expect(sequences[8]).toBe(STEPS.map((t) => randomAction(params, 2, t, 3)).join());
  });

  it('take the same actions with a common policy seed', async () => {
    const [zero, nine] = [sequencesOf(await random(0)), sequencesOf(await random(9))];
    expect(new Set(zero).size).toBe(2);
    expect(new Set([...zero, ...nine]).size).toBe(4);
    // By default, member 0 of each group has the policy seed 0.
    expect(zero[0]).toBe(sequencesOf(await random())[0]);
  });
});

describe('returns to go', () => {
  it.each([undefined, 0, 0.99])('are discounted by gamma %s', async (gamma) => {
    const policy = 'heuristic';
    const { rewards, returns } = await rolloutGroups({ ...FROM_SEEDS, policy, gamma });
    for (let i = 0; i < rewards.length; i += NUM_STEPS) {
      let sum = 0;
      for (let at = i + NUM_STEPS - 1; at >= i; at--) {
        sum = rewards[at] + (gamma ?? 1) * sum;
        expect(returns[at]).toBe(Math.fround(sum));
      }
    }
  });
});

describe('rolloutGroups', () => {
  it('continues environments with imagination to the same scores as `run`', async () => {
    using source = createVecEnv({ numEnvs: 2, imagination: true });
    source.reset({ seed: 1 });
    const [from, bytes] = [{ source, indices: [0, 1] }, source.snapshot()];
    const options = { groupSize: 1, policy: 'heuristic' } as const;
    const rollouts = await rolloutGroups({ ...options, from });
    expect(await rolloutGroups({ ...options, from: bytes })).toEqual(rollouts);
    const notImagined = await rolloutGroups({ ...options, seeds: [1, 2] });
    expect(rollouts.finalScores).not.toEqual(notImagined.finalScores);
    expect(rollouts.finalScores).toEqual(source.run('heuristic').finalScores);
  });

  it('plays in a changed world, from seeds, snapshots and environments', async () => {
    const world = structuredClone(RHYTHM);
    world.constants.crashThreshold *= 2;
    using source = createVecEnv({ numEnvs: 2, world });
    source.reset({ seed: 1 });
    const options = { groupSize: 1, policy: 'heuristic' } as const;
    const rollouts = await rolloutGroups({ ...options, seeds: [1, 2], world });
    const from = source.snapshot();
    expect(await rolloutGroups({ ...options, from: { source, indices: [0, 1] } })).toEqual(rollouts);
    expect(await rolloutGroups({ ...options, from, world })).toEqual(rollouts);
    await expectRejection(rolloutGroups({ ...options, from }), 'bad_snapshot', 'world');
  });

  it('returns a frozen object whose arrays share no memory', async () => {
    const rollouts = await rolloutGroups({ seeds: [1], groupSize: 1, policy: 'heuristic' });
    expect(Object.isFrozen(rollouts)).toBe(true);
    const arrays = Object.values(rollouts).filter((each) => ArrayBuffer.isView(each));
    expect(new Set(arrays.map(({ buffer }) => buffer)).size).toBe(arrays.length);
    for (const { byteLength, buffer } of arrays) expect(byteLength).toBe(buffer.byteLength);
  });
});

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

describe('the setting of a player', () => {
  it.each<[expected: unknown, grader: RolloutOptions['grader']]>([
    ['v2', undefined],
    ['v1', 'v1'],
    ['custom', [0, 0, 0, 0, 0, 0, 0, 1]],
    [null, ['v1', 'v2']],
    [null, Array(2).fill([0, 0, 0, 0, 0, 0, 0, 1]).flat()],
  ])('has the grader %s of all rollouts, given %j', async (expected, grader) => {
    const seen: (string | null)[] = [];
    const policy: Policy = {
      open: (setting) => {
        seen.push(setting.grader?.name ?? null);
        throw new Error('opened');
      },
    };
    await expect(rolloutGroups({ seeds: [1, 2], groupSize: 1, policy, grader })).rejects.toThrow('opened');
    expect(seen).toEqual([expected]);
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

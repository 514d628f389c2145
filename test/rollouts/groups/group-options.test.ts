/** What rollouts in groups refuse, and how they are watched and stopped. */
import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import type { Platform } from '../../../src/engine/backends/platform.js';
import { referenceBackend } from '../../../src/engine/backends/reference.js';
import { openVecEnv } from '../../../src/engine/vec-env/vec-env.js';
import {
  createVecEnv,
  type ErrorCode,
  RHYTHM,
  type RolloutOptions,
  type RolloutPolicy,
  type RolloutView,
  rolloutGroups,
} from '../../../src/index.js';
import { rolloutGroupsOn } from '../../../src/rollouts/groups/rollout-groups.js';
import { NUM_STEPS, PROFILE_SIZE } from '../../../src/world/fields.js';
import { Random } from '../../support/random.js';
import { expectRejection } from '../../support/refusals.js';

const { NaN: nan } = Number;

describe('a call that is watched', () => {
  const heuristic = { seeds: [1, 2], groupSize: 3, policy: 'heuristic' } as const;

  it('says how many steps are taken, of all rollouts', async () => {
    const seen: [number, number][] = [];
    const onProgress = (done: number, total: number) => seen.push([done, total]);
    await rolloutGroups({ ...heuristic, onProgress });
    expect(seen).toEqual(Array.from({ length: NUM_STEPS }, (_, t) => [6 * (t + 1), 6 * NUM_STEPS]));
  });

  it('does nothing where every episode is over', async () => {
    using source = createVecEnv({ numEnvs: 1 });
    source.reset({ seed: 4 });
    const { finalScores } = source.run('heuristic');
    const unasked = () => {
      throw new Error('asked');
    };
    const rollouts = await rolloutGroups({
      from: { source, indices: [0] },
      groupSize: 2,
      policy: unasked,
      onProgress: unasked,
    });
    expect(rollouts.finalScores).toEqual(Float32Array.of(finalScores[0], finalScores[0]));
  });

  it('ends with the reason of its signal, whoever aborts it', async () => {
    const reason = new Error('enough');
    await expect(rolloutGroups({ ...heuristic, signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    const abort = new AbortController();
    const onProgress = (done: number) => done > 20 && abort.abort(reason);
    await expect(rolloutGroups({ ...heuristic, signal: abort.signal, onProgress })).rejects.toBe(reason);
    const timer = new AbortController();
    setTimeout(() => timer.abort(reason), 0);
    await expect(rolloutGroups({ ...heuristic, signal: timer.signal })).rejects.toBe(reason);
  });

  it('leaves no listener on its signal, while it plays and afterwards', async () => {
    const { signal } = new AbortController();
    const listeners: number[] = [];
    const policy: RolloutPolicy = async ({ playing }) => {
      listeners.push(getEventListeners(signal, 'abort').length);
      await undefined;
      return { actions: new Uint8Array(playing.length) };
    };
    await rolloutGroups({ seeds: [1], groupSize: 2, policy, signal });
    expect(listeners).toEqual(Array(NUM_STEPS).fill(0));
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('does not wait for a policy once it is aborted, and is closed', async () => {
    const abort = new AbortController();
    const reason = new Error('enough');
    let told: RolloutView | undefined;
    let fail = (_: Error): void => {};
    const policy: RolloutPolicy = (view) => {
      told = view;
      queueMicrotask(() => abort.abort(reason));
      return new Promise((_, reject) => {
        fail = reject;
      });
    };
    await expect(rolloutGroups({ ...heuristic, policy, signal: abort.signal })).rejects.toBe(reason);
    // What it says now is nobody's unhandled rejection.
    fail(new Error('too late'));
    expect(() => told!.history(0)).toThrow(/was closed/);
  });

  it('nor for one that aborts it while it is asked', async () => {
    const abort = new AbortController();
    const reason = new Error('enough');
    const policy: RolloutPolicy = () => {
      abort.abort(reason);
      return new Promise(() => {});
    };
    await expect(rolloutGroups({ ...heuristic, policy, signal: abort.signal })).rejects.toBe(reason);
  });

  it('ends with what its listener throws', async () => {
    const reason = new Error('no');
    const onProgress = () => {
      throw reason;
    };
    await expect(rolloutGroups({ ...heuristic, onProgress })).rejects.toBe(reason);
  });
});

describe('what was opened is closed', () => {
  const batches = { opened: 0, closed: 0 };
  /** The reference, whose batches are counted. */
  const counting: Platform = {
    backends: [
      {
        ...referenceBackend,
        open: (options) => {
          const batch = referenceBackend.open(options);
          batches.opened++;
          const close = () => {
            batches.closed++;
          };
          return Object.assign(batch, { close });
        },
      },
    ],
    asyncBackends: [],
  };
  const source = openVecEnv(counting, { numEnvs: 2 });
  source.reset({ seed: 1 });
  const bytes = source.snapshot();
  const fails = () => {
    throw new Error('no');
  };
  const seeds = [1, 2];
  const from = { source, indices: [1] };
  const world = structuredClone(RHYTHM);
  world.reward.scale = 9;

  it.each<[name: string, opened: number, options: Partial<RolloutOptions>]>([
    ['from seeds', 2, { seeds }],
    ['from a snapshot', 2, { from: bytes }],
    ['from an environment', 2, { from }],
    ['a policy that fails', 2, { seeds, policy: fails }],
    ['a listener that fails', 2, { seeds, onProgress: fails }],
    ['a signal that was aborted before', 0, { seeds, signal: AbortSignal.abort() }],
    ['a grader that is none', 0, { seeds, grader: 'v3' }],
    ['groups of none', 1, { seeds, groupSize: 0 }],
    ['a snapshot of another world', 1, { from: bytes, world }],
    ['slots that are none', 0, { from: { source, indices: [2] } }],
  ])('%s', async (_, opened, options) => {
    const before = { ...batches };
    await rolloutGroupsOn(counting, { groupSize: 2, policy: 'heuristic', ...options }).catch(() => {});
    expect(batches).toEqual({ opened: before.opened + opened, closed: before.closed + opened });
  });
});

describe('options', () => {
  const source = createVecEnv({ numEnvs: 2 });
  source.reset({ seed: 1 });
  const good = { seeds: [1, 2], groupSize: 2, policy: 'random' };
  const { seeds: _, ...begun } = { ...good, from: { source, indices: [0] } };
  const bytes = source.snapshot();
  const bad: [name: string, options: unknown, code: ErrorCode, ...mentions: string[]][] = [
    ['none', undefined, 'wrong_type', 'rollout options', 'undefined'],
    ['an unknown one', { ...good, group_size: 4 }, 'unknown_option', '"group_size"', '"groupSize"'],
    ['neither seeds nor from', { ...good, seeds: undefined }, 'wrong_type', 'seeds', 'or from'],
    ['both', { ...begun, seeds: [1] }, 'unknown_option', 'no seeds with from'],
    ['a number of seeds', { ...good, seeds: 3 }, 'wrong_type', 'seeds', 'got 3'],
    ['no seeds', { ...good, seeds: [] }, 'wrong_length', 'at least one'],
    ['a seed that is none', { ...good, seeds: [1, -1] }, 'bad_seed', 'seeds[1]', 'got -1'],
    ['no group size', { ...good, groupSize: undefined }, 'wrong_type', 'groupSize'],
    ['groups of none', { ...good, groupSize: 0 }, 'out_of_range', 'groupSize', 'got 0'],
    ['too large groups', { ...good, groupSize: 2 ** 23 + 1 }, 'out_of_range', 'groupSize', '8388608'],
    ['no policy', { ...good, policy: undefined }, 'wrong_type', 'policy', 'undefined'],
    ['an unknown policy', { ...good, policy: 'randon' }, 'unknown_name', '"randon"', '"random"'],
    ['a policy seed that is none', { ...good, policySeeds: 1.5 }, 'bad_seed', 'policySeeds', 'got 1.5'],
    [
      'seeds of no random policy',
      { ...good, policy: 'heuristic', policySeeds: 1 },
      'unknown_option',
      '"heuristic"',
    ],
    ['seeds of a function', { ...good, policy: () => 1, policySeeds: 1 }, 'unknown_option', 'a function'],
    ['a discount above 1', { ...good, gamma: 1.01 }, 'out_of_range', 'gamma', '1.01'],
    ['a discount that is NaN', { ...good, gamma: nan }, 'out_of_range', 'gamma', 'NaN'],
    ['a discount that is text', { ...good, gamma: '1' }, 'wrong_type', 'gamma', '"1"'],
    ['an unknown person', { ...good, profiles: ['sampled', 'nobody'] }, 'unknown_name', '"nobody"'],
    [
      'persons for members',
      { ...good, profiles: Array(4).fill('sampled') },
      'wrong_length',
      '2 names',
      'got 4',
    ],
    ['an unknown grader', { ...good, grader: 'v3' }, 'unknown_name', '"v3"'],
    ['a world that is none', { ...good, world: { ...RHYTHM, decay: 1 } }, 'bad_world', 'decay'],
    ['an unknown backend', { ...good, backend: 'gpu' }, 'unknown_name', '"gpu"'],
    ['no threads', { ...good, threads: 0 }, 'out_of_range', 'threads'],
    ['progress that is no function', { ...good, onProgress: 1 }, 'wrong_type', 'onProgress'],
    ['a signal that is none', { ...good, signal: {} }, 'wrong_type', 'signal'],
    ['from a number', { ...begun, from: 5 }, 'wrong_type', 'from', 'got 5'],
    [
      'from no environment',
      { ...begun, from: { source: {}, indices: [0] } },
      'wrong_type',
      'from.source',
      'snapshot()',
    ],
    [
      'from a slot that is none',
      { ...begun, from: { source, indices: [0, 2] } },
      'out_of_range',
      'indices[1]',
      'got 2',
    ],
    ['from no slot', { ...begun, from: { source, indices: [] } }, 'wrong_length', 'at least one'],
    ['from a slot alone', { ...begun, from: { source, index: 1 } }, 'unknown_option', '"index"'],
    [
      'a source and a backend',
      { ...begun, backend: 'native' },
      'unknown_option',
      'no backend with from.source',
    ],
    ['a source and a world', { ...begun, world: RHYTHM }, 'unknown_option', 'no world with from.source'],
    ['a source and persons', { ...begun, profiles: 'sampled' }, 'unknown_option', 'no profiles with from'],
    ['a source and a grader', { ...begun, grader: 'v1' }, 'unknown_option', 'no grader with from'],
    ['half a snapshot', { ...begun, from: bytes.subarray(0, 300) }, 'bad_snapshot', '300'],
    ['other numbers', { ...begun, from: new Float32Array(90) }, 'bad_snapshot', 'a Float32Array'],
  ];

  it.each(bad)('%s', async (_, options, code, ...mentions) => {
    await expectRejection(rolloutGroups(options as RolloutOptions), code, ...mentions);
  });

  it('a source without episodes, and a closed one', async () => {
    const fresh = createVecEnv({ numEnvs: 1 });
    const from = { source: fresh, indices: [0] };
    await expectRejection(rolloutGroups({ from, groupSize: 1, policy: 'random' }), 'not_reset');
    fresh.close();
    await expectRejection(rolloutGroups({ from, groupSize: 1, policy: 'random' }), 'closed');
  });

  it('are read before the call returns', async () => {
    const mine = { seeds: Uint32Array.of(7, 0, 9), profiles: new Random('persons').profiles(3) };
    const options = { groupSize: 2, policy: 'heuristic' } as const;
    const expected = await rolloutGroups({ ...options, ...structuredClone(mine) });
    const rollouts = rolloutGroups({ ...options, ...mine });
    mine.seeds.fill(0);
    mine.profiles.fill(9);
    expect(await rollouts).toEqual(expected);
    expect(mine.profiles).toHaveLength(3 * PROFILE_SIZE);
  });
});

/** Tests of the options of `rolloutGroups`: validation, progress and signals. */

import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import type { Platform } from '../../../src/engine/backends/open-batch.js';
import { referenceBackend } from '../../../src/engine/backends/reference.js';
import { replayHistory } from '../../../src/engine/reference/saved-states.js';
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

describe('rolloutGroups, with progress and signals,', () => {
  const heuristic = { seeds: [1, 2], groupSize: 3, policy: 'heuristic' } as const;

  it('reports the steps taken by all rollouts', async () => {
    const seen: [number, number][] = [];
    const onProgress = (done: number, total: number) => seen.push([done, total]);
    await rolloutGroups({ ...heuristic, onProgress });
    expect(seen).toEqual(Array.from({ length: NUM_STEPS }, (_, t) => [6 * (t + 1), 6 * NUM_STEPS]));
  });

  it('takes no step if every episode is over', async () => {
    using source = createVecEnv({ numEnvs: 1 });
    source.reset({ seed: 4 });
    const { finalScores } = source.run('heuristic');
    const neverCalled = () => {
      throw new Error('called');
    };
    const rollouts = await rolloutGroups({
      from: { source, indices: [0] },
      groupSize: 2,
      policy: neverCalled,
      onProgress: neverCalled,
    });
    expect(rollouts.finalScores).toEqual(Float32Array.of(finalScores[0], finalScores[0]));
  });

  it('rejects with the reason of the signal, before and during the call', async () => {
    const reason = new Error('enough');
    await expect(rolloutGroups({ ...heuristic, signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    const abort = new AbortController();
    const onProgress = (done: number) => done > 20 && abort.abort(reason);
    await expect(rolloutGroups({ ...heuristic, signal: abort.signal, onProgress })).rejects.toBe(reason);
    const later = new AbortController();
    // A timer of 0 ms may fire only after the fastest kernels have played all steps.
    setImmediate(() => later.abort(reason));
    await expect(rolloutGroups({ ...heuristic, signal: later.signal })).rejects.toBe(reason);
  });

  it('leaves no listener on the signal', async () => {
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

  it.each<[string, later: (call: () => void) => void]>([
    ['while the policy runs', queueMicrotask],
    ['by the policy', (call) => call()],
  ])('rejects at once when aborted %s, and closes the environments', async (_, later) => {
    const abort = new AbortController();
    const reason = new Error('enough');
    let input: RolloutView | undefined;
    let fail = (_: Error): void => {};
    const policy: RolloutPolicy = (view) => {
      input = view;
      later(() => abort.abort(reason));
      return new Promise((_, reject) => {
        fail = reject;
      });
    };
    await expect(rolloutGroups({ ...heuristic, policy, signal: abort.signal })).rejects.toBe(reason);
    // A later error of the policy must not become an unhandled rejection.
    fail(new Error('too late'));
    expect(() => input!.history(0)).toThrow(/was closed/);
  });

  it('rejects with an error of onProgress', async () => {
    const reason = new Error('no');
    const onProgress = () => {
      throw reason;
    };
    await expect(rolloutGroups({ ...heuristic, onProgress })).rejects.toBe(reason);
  });
});

describe('rolloutGroups closes every batch that it opens', () => {
  const batches = { opened: 0, closed: 0 };
  /** The reference backend; counts the batches opened and closed. */
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
    replayHistory,
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

  // A call opens two batches: one with an environment per group, then one with an environment per rollout. It opens fewer if
  // it is refused before.
  it.each<[name: string, opened: number, options: Partial<RolloutOptions>]>([
    ['from seeds', 2, { seeds }],
    ['from a snapshot', 2, { from: bytes }],
    ['from an environment', 2, { from }],
    ['a policy that fails', 2, { seeds, policy: fails }],
    ['onProgress that fails', 2, { seeds, onProgress: fails }],
    ['a signal aborted before the call', 0, { seeds, signal: AbortSignal.abort() }],
    ['an unknown grader', 0, { seeds, grader: 'v9' }],
    ['a group size of 0', 1, { seeds, groupSize: 0 }],
    ['a snapshot of another world', 1, { from: bytes, world }],
    ['an invalid environment index', 0, { from: { source, indices: [2] } }],
  ])('%s', async (_, opened, options) => {
    const before = { ...batches };
    await rolloutGroupsOn(counting, { groupSize: 2, policy: 'heuristic', ...options }).catch(() => {});
    expect(batches).toEqual({ opened: before.opened + opened, closed: before.closed + opened });
  });
});

describe('rolloutGroups refuses, with the code and the place,', () => {
  const source = createVecEnv({ numEnvs: 2 });
  source.reset({ seed: 1 });
  const bytes = source.snapshot();
  const from = { source, indices: [0] };
  const profiles = Array(4).fill('sampled');

  it.each<[ErrorCode, mention: string, options: object]>([
    ['unknown_option', '"groupSize"', { group_size: 4 }],
    ['wrong_type', 'or the option "from"', { seeds: undefined }],
    ['wrong_type', 'seeds', { seeds: 3 }],
    ['wrong_length', 'at least one', { seeds: [] }],
    ['bad_seed', 'seeds[1]', { seeds: [1, -1] }],
    ['wrong_type', 'groupSize', { groupSize: undefined }],
    ['out_of_range', 'groupSize', { groupSize: 0 }],
    ['out_of_range', '8388608', { groupSize: 2 ** 23 + 1 }],
    ['wrong_type', 'policy', { policy: undefined }],
    ['unknown_name', '"random"', { policy: 'randon' }],
    ['bad_seed', 'policySeeds', { policySeeds: 1.5 }],
    ['unknown_option', '"heuristic"', { policy: 'heuristic', policySeeds: 1 }],
    ['unknown_option', 'a function', { policy: () => 1, policySeeds: 1 }],
    ['out_of_range', 'gamma', { gamma: 1.01 }],
    ['out_of_range', 'gamma', { gamma: nan }],
    ['wrong_type', 'gamma', { gamma: '1' }],
    ['unknown_name', '"nobody"', { profiles: ['sampled', 'nobody'] }],
    // A profile per rollout instead of per group.
    ['wrong_length', '2 names', { profiles }],
    ['unknown_name', '"v9"', { grader: 'v9' }],
    ['bad_world', 'decay', { world: { ...RHYTHM, decay: 1 } }],
    ['unknown_name', '"gpu"', { backend: 'gpu' }],
    ['out_of_range', 'threads', { threads: 0 }],
    ['wrong_type', 'onProgress', { onProgress: 1 }],
    ['wrong_type', 'signal', { signal: {} }],
    ['unknown_option', 'no "seeds" with "from"', { from, seeds: [1] }],
    ['wrong_type', 'from', { from: 5 }],
    ['wrong_type', 'from.source', { from: { source: {}, indices: [0] } }],
    ['out_of_range', 'indices[1]', { from: { source, indices: [0, 2] } }],
    ['wrong_length', 'at least one', { from: { source, indices: [] } }],
    ['unknown_option', '"index"', { from: { source, index: 1 } }],
    ['unknown_option', 'no "backend" with "from.source"', { from, backend: 'native' }],
    ['unknown_option', 'no "world" with "from.source"', { from, world: RHYTHM }],
    ['unknown_option', 'no "profiles" with "from"', { from, profiles: 'sampled' }],
    ['unknown_option', 'no "grader" with "from"', { from, grader: 'v1' }],
    ['bad_snapshot', '300', { from: bytes.subarray(0, 300) }],
    ['bad_snapshot', 'a Float32Array', { from: new Float32Array(90) }],
  ])('%s, %s', async (code, mention, options) => {
    const start = 'from' in options ? {} : { seeds: [1, 2] };
    const call = rolloutGroups({ ...start, groupSize: 2, policy: 'random', ...options } as RolloutOptions);
    await expectRejection(call, code, mention);
  });

  it('wrong_type, rollout options', () =>
    expectRejection(rolloutGroups(undefined as never), 'wrong_type', 'options'));

  it('not_reset for a source before its first reset, and closed', async () => {
    const fresh = createVecEnv({ numEnvs: 1 });
    const from = { source: fresh, indices: [0] };
    await expectRejection(rolloutGroups({ from, groupSize: 1, policy: 'random' }), 'not_reset');
    fresh.close();
    await expectRejection(rolloutGroups({ from, groupSize: 1, policy: 'random' }), 'closed');
  });
});

it('rolloutGroups copies its options before the call returns', async () => {
  const mutable = { seeds: Uint32Array.of(7, 0, 9), profiles: new Random('profiles').profiles(3) };
  const options = { groupSize: 2, policy: 'heuristic' } as const;
  const expected = await rolloutGroups({ ...options, ...structuredClone(mutable) });
  const rollouts = rolloutGroups({ ...options, ...mutable });
  mutable.seeds.fill(0);
  mutable.profiles.fill(9);
  expect(await rollouts).toEqual(expected);
  expect(mutable.profiles).toHaveLength(3 * PROFILE_SIZE);
});

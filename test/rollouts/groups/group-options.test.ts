/** Tests of the options of `rolloutGroups`: validation, progress and signals. */
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

  it('rejects at once when aborted while the policy runs, and closes the environments', async () => {
    const abort = new AbortController();
    const reason = new Error('enough');
    let input: RolloutView | undefined;
    let fail = (_: Error): void => {};
    const policy: RolloutPolicy = (view) => {
      input = view;
      queueMicrotask(() => abort.abort(reason));
      return new Promise((_, reject) => {
        fail = reject;
      });
    };
    await expect(rolloutGroups({ ...heuristic, policy, signal: abort.signal })).rejects.toBe(reason);
    // A later error of the policy must not become an unhandled rejection.
    fail(new Error('too late'));
    expect(() => input!.history(0)).toThrow(/was closed/);
  });

  it('rejects at once when the policy aborts the signal', async () => {
    const abort = new AbortController();
    const reason = new Error('enough');
    const policy: RolloutPolicy = () => {
      abort.abort(reason);
      return new Promise(() => {});
    };
    await expect(rolloutGroups({ ...heuristic, policy, signal: abort.signal })).rejects.toBe(reason);
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

describe('rolloutGroups', () => {
  const source = createVecEnv({ numEnvs: 2 });
  source.reset({ seed: 1 });
  const good = { seeds: [1, 2], groupSize: 2, policy: 'random' };
  const { seeds: _, ...fromSource } = { ...good, from: { source, indices: [0] } };
  const bytes = source.snapshot();
  const bad: [name: string, options: unknown, code: ErrorCode, ...mentions: string[]][] = [
    ['no options', undefined, 'wrong_type', 'rollout options', 'undefined'],
    ['an unknown option', { ...good, group_size: 4 }, 'unknown_option', '"group_size"', '"groupSize"'],
    ['neither seeds nor from', { ...good, seeds: undefined }, 'wrong_type', 'seeds', 'or the option "from"'],
    ['seeds and from', { ...fromSource, seeds: [1] }, 'unknown_option', 'no "seeds" with "from"'],
    ['seeds that are a number', { ...good, seeds: 3 }, 'wrong_type', 'seeds', 'got 3'],
    ['no seeds', { ...good, seeds: [] }, 'wrong_length', 'at least one'],
    ['an invalid seed', { ...good, seeds: [1, -1] }, 'bad_seed', 'seeds[1]', 'got -1'],
    ['no group size', { ...good, groupSize: undefined }, 'wrong_type', 'groupSize'],
    ['a group size of 0', { ...good, groupSize: 0 }, 'out_of_range', 'groupSize', 'got 0'],
    ['too large groups', { ...good, groupSize: 2 ** 23 + 1 }, 'out_of_range', 'groupSize', '8388608'],
    ['no policy', { ...good, policy: undefined }, 'wrong_type', 'policy', 'undefined'],
    ['an unknown policy', { ...good, policy: 'randon' }, 'unknown_name', '"randon"', '"random"'],
    ['an invalid policy seed', { ...good, policySeeds: 1.5 }, 'bad_seed', 'policySeeds', 'got 1.5'],
    [
      'policySeeds with the heuristic',
      { ...good, policy: 'heuristic', policySeeds: 1 },
      'unknown_option',
      '"heuristic"',
    ],
    [
      'policySeeds with a function',
      { ...good, policy: () => 1, policySeeds: 1 },
      'unknown_option',
      'a function',
    ],
    ['a discount above 1', { ...good, gamma: 1.01 }, 'out_of_range', 'gamma', '1.01'],
    ['a discount that is NaN', { ...good, gamma: nan }, 'out_of_range', 'gamma', 'NaN'],
    ['a discount that is a string', { ...good, gamma: '1' }, 'wrong_type', 'gamma', '"1"'],
    ['an unknown profile', { ...good, profiles: ['sampled', 'nobody'] }, 'unknown_name', '"nobody"'],
    [
      'a profile per rollout instead of per group',
      { ...good, profiles: Array(4).fill('sampled') },
      'wrong_length',
      '2 names',
      'got 4',
    ],
    ['an unknown grader', { ...good, grader: 'v9' }, 'unknown_name', '"v9"'],
    ['an invalid world', { ...good, world: { ...RHYTHM, decay: 1 } }, 'bad_world', 'decay'],
    ['an unknown backend', { ...good, backend: 'gpu' }, 'unknown_name', '"gpu"'],
    ['0 threads', { ...good, threads: 0 }, 'out_of_range', 'threads'],
    ['onProgress that is not a function', { ...good, onProgress: 1 }, 'wrong_type', 'onProgress'],
    ['a signal that is not an AbortSignal', { ...good, signal: {} }, 'wrong_type', 'signal'],
    ['a number as from', { ...fromSource, from: 5 }, 'wrong_type', 'from', 'got 5'],
    [
      'a source that is not an environment',
      { ...fromSource, from: { source: {}, indices: [0] } },
      'wrong_type',
      'from.source',
      'snapshot()',
    ],
    [
      'an index outside of the source',
      { ...fromSource, from: { source, indices: [0, 2] } },
      'out_of_range',
      'indices[1]',
      'got 2',
    ],
    [
      'from with an empty list of indices',
      { ...fromSource, from: { source, indices: [] } },
      'wrong_length',
      'at least one',
    ],
    ['from with an unknown key', { ...fromSource, from: { source, index: 1 } }, 'unknown_option', '"index"'],
    [
      'a source and a backend',
      { ...fromSource, backend: 'native' },
      'unknown_option',
      'no "backend" with "from.source"',
    ],
    [
      'a source and a world',
      { ...fromSource, world: RHYTHM },
      'unknown_option',
      'no "world" with "from.source"',
    ],
    [
      'a source and profiles',
      { ...fromSource, profiles: 'sampled' },
      'unknown_option',
      'no "profiles" with "from"',
    ],
    ['a source and a grader', { ...fromSource, grader: 'v1' }, 'unknown_option', 'no "grader" with "from"'],
    ['a truncated snapshot', { ...fromSource, from: bytes.subarray(0, 300) }, 'bad_snapshot', '300'],
    [
      'a Float32Array as from',
      { ...fromSource, from: new Float32Array(90) },
      'bad_snapshot',
      'a Float32Array',
    ],
  ];

  it.each(bad)('refuses %s', async (_, options, code, ...mentions) => {
    await expectRejection(rolloutGroups(options as RolloutOptions), code, ...mentions);
  });

  it('refuses a source before its first reset, and a closed source', async () => {
    const fresh = createVecEnv({ numEnvs: 1 });
    const from = { source: fresh, indices: [0] };
    await expectRejection(rolloutGroups({ from, groupSize: 1, policy: 'random' }), 'not_reset');
    fresh.close();
    await expectRejection(rolloutGroups({ from, groupSize: 1, policy: 'random' }), 'closed');
  });

  it('copies its options before the call returns', async () => {
    const mutable = { seeds: Uint32Array.of(7, 0, 9), profiles: new Random('profiles').profiles(3) };
    const options = { groupSize: 2, policy: 'heuristic' } as const;
    const expected = await rolloutGroups({ ...options, ...structuredClone(mutable) });
    const rollouts = rolloutGroups({ ...options, ...mutable });
    mutable.seeds.fill(0);
    mutable.profiles.fill(9);
    expect(await rollouts).toEqual(expected);
    expect(mutable.profiles).toHaveLength(3 * PROFILE_SIZE);
  });
});

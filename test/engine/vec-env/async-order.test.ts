/** Calls without await: they take effect in order, copy their arguments, and fail independently. */
import { afterEach, describe, expect, it } from 'vitest';
import type { AsyncVecEnv, VecEnv } from '../../../src/engine/node.js';
import { NUM_STEPS } from '../../../src/world/fields.js';
import { API_PAIRS, asyncEnvColumns, codeOf } from '../../support/async-envs.js';
import { copyOutputs, expectEqual } from '../../support/bits.js';
import { Random } from '../../support/random.js';
import { expectRejection } from '../../support/refusals.js';
import { envColumns } from '../../support/unchanged.js';

const N = 6;
const BELIEFS_LENGTH = N * 3;

describe.each(API_PAIRS)('$name', ({ open, openSync }) => {
  const opened: AsyncVecEnv[] = [];
  const begin = async (seed: number): Promise<[AsyncVecEnv, VecEnv]> => {
    const env = await open({ numEnvs: N });
    opened.push(env);
    const sync = openSync({ numEnvs: N });
    await env.reset({ seed });
    sync.reset({ seed });
    return [env, sync];
  };
  afterEach(async () => {
    for (const env of opened.splice(0)) await env.close();
  });

  it('calls settle in order', async () => {
    const [env] = await begin(1);
    const order: string[] = [];
    const recordEnd = (name: string, call: Promise<unknown>) =>
      call.then(
        () => order.push(name),
        () => order.push(`${name}!`),
      );
    const calls = [
      recordEnd('run', env.run('heuristic', { stops: new Uint8Array(N).fill(20), onProgress: () => {} })),
      recordEnd('submit', env.submit(new Uint8Array(N))),
      recordEnd('bad submit', env.submit(new Uint8Array(N + 1))),
      recordEnd('read', env.read(['rewards'])),
      recordEnd('snapshot', env.snapshot()),
      recordEnd('step', env.step(new Uint8Array(N))),
      recordEnd('bad read', env.read(['reward' as never])),
      recordEnd('hash', env.stateHash()),
      recordEnd('close', env.close()),
      recordEnd('late', env.stateHash()),
      recordEnd('close again', env.close()),
    ];
    await Promise.all(calls);
    expect(order).toEqual([
      ...['run', 'submit', 'bad submit!', 'read', 'snapshot', 'step', 'bad read!', 'hash', 'close'],
      ...['late!', 'close again'],
    ]);
  });

  it('step and submit copy their arrays before they return', async () => {
    const [env, sync] = await begin(2);
    const random = new Random('reused arrays');
    const actions = new Uint8Array(N);
    const list: number[] = new Array(N).fill(0);
    const beliefs = new Float32Array(BELIEFS_LENGTH);
    const mask = new Uint8Array(N);
    const options = { beliefs, mask };
    for (let t = 0; t < 20; t++) {
      random.bytes(N, 0, 9).forEach((code, i) => {
        actions[i] = list[i] = code;
      });
      for (let k = 0; k < BELIEFS_LENGTH; k++) beliefs[k] = random.real();
      for (let i = 0; i < N; i++) mask[i] = Number(random.chance(0.8));
      const stepActions = t % 2 ? actions : list;
      sync.step(stepActions, options);
      void env.submit(stepActions, options);
      // Overwrites all arguments. The list sometimes gets holes.
      actions.fill(255);
      list.fill(-1);
      list.length = t % 3 ? N : 0;
      beliefs.fill(Number.POSITIVE_INFINITY);
      mask.fill(2);
      list.length = N;
    }
    const result = await env.assign(
      env,
      Uint32Array.from({ length: N }, (_, i) => i),
    );
    expectEqual(envColumns(sync, sync.assign(sync, [0, 1, 2, 3, 4, 5])), await asyncEnvColumns(env, result));
  });

  it('the other methods copy their arrays before they return', async () => {
    const [env, sync] = await begin(3);
    const [source, syncSource] = await begin(70);
    const seed = Uint32Array.of(9, 8, 7, 6, 5, 4);
    const graders = new Float32Array(N * 8).fill(1 / 8);
    const mask = [true, false, true, true, false, true];
    const sequence = new Uint8Array(N * NUM_STEPS).fill(3);
    const stops = [4, 5, 6, 7, 8, 9];
    const policySeeds = [1, 2, 3, 4, 5, 6];
    const indices = Uint32Array.of(5, 4, 3, 2, 1, 0);
    const overwriteArguments = () => {
      for (const array of [seed, graders, sequence, stops, policySeeds, indices]) array.fill(77 as never);
      mask.fill(true);
    };
    sync.reset({ seed, graders, mask });
    sync.run(sequence, { stops });
    sync.run('random', { policySeeds, stops: stops.map((stop) => stop + 2) });
    syncSource.run(sequence, { from: { source: sync, indices }, stops: stops.map((stop) => stop + 4) });
    const syncFork = syncSource.fork(indices);
    const bytes = syncFork.snapshot();
    const expected = sync.assign(syncSource, indices);
    const calls = [
      env.reset({ seed, graders, mask }),
      env.run(sequence, { stops }),
      env.run('random', { policySeeds, stops: stops.map((stop) => stop + 2) }),
      source.run(sequence, { from: { source: env, indices }, stops: stops.map((stop) => stop + 4) }),
    ];
    const fork = source.fork(indices);
    const last = env.assign(source, indices);
    overwriteArguments();
    await Promise.all(calls);
    expectEqual(envColumns(sync, expected), await asyncEnvColumns(env, await last));
    expect(await (await fork).snapshot()).toEqual(bytes);
    opened.push(await fork);
    const restored = env.restore(bytes);
    bytes.fill(0);
    expectEqual(copyOutputs(syncFork.assign(syncFork, [0, 1, 2, 3, 4, 5])), copyOutputs(await restored));
  });

  it('calls read their options once, before they return; an error of a getter rejects the call', async () => {
    const [env] = await begin(4);
    let reads = 0;
    const options = {
      get mask() {
        reads++;
        return new Uint8Array(N);
      },
    };
    const step = env.step(new Uint8Array(N), options);
    expect(reads).toBe(1);
    await step;
    expect(reads).toBe(1);
    const thrown = new Error('of the caller');
    const throwing = {
      get mask(): never {
        throw thrown;
      },
    };
    await expect(env.submit(new Uint8Array(N), throwing)).rejects.toBe(thrown);
    await env.step(new Uint8Array(N));
  });

  it('calls with two environments follow earlier calls of both', async () => {
    const [one, syncOne] = await begin(5);
    const [two, syncTwo] = await begin(6);
    const indices = [3, 3, 3, 0, 1, 2];
    for (const [a, b] of [
      [syncOne, syncTwo],
      [syncTwo, syncOne],
    ]) {
      a.step(new Uint8Array(N).fill(1));
      b.assign(a, indices);
      a.step(new Uint8Array(N).fill(2));
      b.run('random', { from: { source: a, indices }, stops: new Uint8Array(N).fill(9) });
      a.step(new Uint8Array(N).fill(4));
    }
    for (const [a, b] of [
      [one, two],
      [two, one],
    ]) {
      void a.submit(new Uint8Array(N).fill(1));
      void b.assign(a, indices);
      void a.submit(new Uint8Array(N).fill(2));
      void b.run('random', { from: { source: a, indices }, stops: new Uint8Array(N).fill(9) });
      void a.submit(new Uint8Array(N).fill(4));
    }
    expect(await one.stateHash()).toEqual(syncOne.stateHash());
    expect(await two.stateHash()).toEqual(syncTwo.stateHash());
    // The source closes after the first copy is requested, and before the second.
    const copy = one.assign(two, indices);
    const closed = two.close();
    const copyAfterClose = one.assign(two, indices);
    await copy;
    await closed;
    await expectRejection(copyAfterClose, 'closed');
  });

  it('refused calls change nothing, and later calls continue', async () => {
    const [env, sync] = await begin(7);
    const calls: [code: string, call: Promise<unknown>][] = [
      ['illegal_action', env.submit(new Uint8Array(N).fill(10))],
      ['wrong_type', env.submit('no' as never)],
      ['wrong_type', env.submit(null as never)],
      ['wrong_length', env.submit(new Array(2 ** 32 - 1) as never)],
      [
        'bad_belief',
        env.submit(new Uint8Array(N), { beliefs: new Float32Array(BELIEFS_LENGTH).fill(1 / 0) }),
      ],
      ['unknown_option', env.step(new Uint8Array(N), { masks: [] } as never)],
      ['wrong_type', env.step(new Uint8Array(N), null as never)],
      ['wrong_type', env.step(new Uint8Array(N), 7 as never)],
      ['unknown_name', env.read(['rewards', 'reward' as never])],
      ['wrong_type', env.read('rewards' as never)],
      ['wrong_type', env.read([1] as never)],
      ['not_alike', env.run('random', { from: { source: env, indices: [0] } })],
      ['wrong_type', env.run('random', { from: null as never })],
      ['wrong_type', env.run('random', { from: { source: sync as never, indices: [0] } })],
      ['wrong_type', env.run('random', { signal: {} as never })],
      ['unknown_name', env.run('randon' as never)],
      ['wrong_type', env.assign(sync as never, [0])],
      ['wrong_length', env.assign(env, [0])],
      ['out_of_range', env.fork([N])],
      ['unknown_option', env.fork([0], { numEnvs: 3 } as never)],
      ['bad_snapshot', env.restore(new Uint8Array(8))],
      ['bad_snapshot', env.restore({} as never)],
      ['no_snapshot', env.reopen()],
      ['out_of_range', env.history(N)],
      ['bad_seed', env.reset({ seed: -1 })],
    ];
    const step = env.step(new Uint8Array(N));
    for (const [code, call] of calls) await expectRejection(call, code as never);
    expectEqual(envColumns(sync, sync.step(new Uint8Array(N))), await asyncEnvColumns(env, await step));
  });

  it('step and submit reject after the end of an episode', async () => {
    const [env] = await begin(8);
    void env.run('random');
    expect(await codeOf(env.submit(new Uint8Array(N)))).toBe('episode_over');
    expect(await codeOf(env.step(new Uint8Array(N)))).toBe('episode_over');
    await env.reset({ seed: 1 });
    for (let t = 0; t < NUM_STEPS; t++) void env.submit(new Uint8Array(N));
    expect(await codeOf(env.submit(new Uint8Array(N)))).toBe('episode_over');
  });

  it('calls do not change a result that is a copy', async () => {
    const env = await open({ numEnvs: N, copy: true });
    const first = await env.reset({ seed: 1 });
    const before = copyOutputs(first);
    const second = await env.step(new Uint8Array(N));
    expect(second).not.toBe(first);
    expectEqual(before, copyOutputs(first));
    expect(await env.read()).not.toBe(second);
    await env.close();
  });

  it('each API restores snapshots of the other', async () => {
    const options = { numEnvs: N, autoreset: 'same-step', observation: { history: true } } as const;
    const [env, sync] = [await open(options), openSync(options)];
    void env.reset({ seed: 12 });
    void env.run('random', { stops: [28, 3, 9, 27, 0, 14] });
    await env.reset({ seed: 40, mask: [true, false, false, false, false, false] });
    sync.restore(await env.snapshot());
    const random = new Random('snapshots between APIs');
    for (let t = 0; t < 30; t++) {
      const actions = random.bytes(N, 0, 9);
      const expected = sync.step(actions);
      expectEqual(envColumns(sync, expected), await asyncEnvColumns(env, await env.step(actions)), `${t}`);
    }
    const bytes = sync.snapshot();
    expect(await env.snapshot()).toEqual(bytes);
    sync.step(new Uint8Array(N));
    void env.submit(new Uint8Array(N));
    expectEqual(envColumns(sync, sync.restore(bytes)), await asyncEnvColumns(env, await env.restore(bytes)));
    await env.close();
  });
});

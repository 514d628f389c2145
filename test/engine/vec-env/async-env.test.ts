/**
 * The asynchronous API equals the synchronous API bit for bit, with awaited, queued and submitted calls. Calls take effect in
 * order, copy their arguments, and fail independently.
 */
import { afterEach, describe, expect, it } from 'vitest';
import { OUTPUT_ARRAYS } from '../../../src/engine/backends/outputs.js';
import type { AsyncVecEnv, VecEnv } from '../../../src/engine/node.js';
import { AUTORESET_MODES } from '../../../src/engine/vec-env/autoreset.js';
import type { StepResult, VecEnvOptions } from '../../../src/engine/vec-env/vec-env-options.js';
import { NUM_BELIEFS, NUM_STEPS } from '../../../src/world/fields.js';
import { API_PAIRS, asyncEnvColumns, reasonOf } from '../../support/async-envs.js';
import { copyColumns, copyOutputs, expectEqual } from '../../support/bits.js';
import { envIndices } from '../../support/call-sequences.js';
import { applyCall, type Call, randomCall, randomReset, resetOptionsOf } from '../../support/calls.js';
import { reportAbsentEngines } from '../../support/engines.js';
import { drawsOf, Random } from '../../support/random.js';
import { expectRejection } from '../../support/refusals.js';
import { envColumns } from '../../support/unchanged.js';

/** Fills two registers of the widest kernel (16 lanes) and a part of a third. */
const N = 37;
const SEEDS = [1000, 500] as const;
const SHAPE = { numEnvs: N, seedRange: SEEDS };
const OBSERVATIONS: [name: string, options: VecEnvOptions['observation']][] = [
  ['raw', undefined],
  ['encoded', { fields: ['meters', 'step', 'event'], oneHot: true, scale: true }],
  ['with history', { history: true }],
];
reportAbsentEngines();

/** Applies a call to an asynchronous environment. With `submits`, a step is submitted and reads no outputs. */
function applyAsyncCall(env: AsyncVecEnv, call: Call, submits: boolean): Promise<StepResult | undefined> {
  if (call.kind === 'run') return env.run(call.sequence, { stops: call.stops, beliefs: call.belief });
  if (call.kind === 'reset') return env.reset(resetOptionsOf(call));
  const { kind: _, actions, ...options } = call;
  return submits ? env.submit(actions, options).then(() => undefined) : env.step(actions, options);
}

/** Returns 1 for each environment that must not step, because its episode has ended and a step does not reset it. */
const finishedOf = (env: VecEnv): Uint8Array =>
  env.metadata.autoresetMode === 'next-step'
    ? new Uint8Array(N)
    : Uint8Array.from({ length: N }, (_, i) => Number(env.history(i, 1)[0]?.step === 27));

describe.each(API_PAIRS)('$name', ({ name: backend, open, openSync }) => {
  describe.each(AUTORESET_MODES)('autoreset %s', (autoreset) => {
    it.each(OBSERVATIONS)(
      'random calls have the results of the synchronous API, observations %s',
      async (name, observation) => {
        const random = new Random(`async ${autoreset} ${name}`);
        for (let sequenceIndex = 0; sequenceIndex < drawsOf(3); sequenceIndex++) {
          const options = { numEnvs: N, seedRange: SEEDS, autoreset, observation, copy: random.chance(0.3) };
          const layout = random.pick(['row-major', 'column-major'] as const);
          const sync = openSync({ ...options, layout });
          const env = await open({ ...options, layout });
          const first = randomReset(random, SHAPE);
          expectEqual(
            envColumns(sync, applyCall(sync, first)),
            await asyncEnvColumns(env, (await applyAsyncCall(env, first, false))!),
          );
          for (let round = 0; round < 12; round++) {
            // The calls are not awaited. Most steps are submitted.
            const pending: Promise<unknown>[] = [];
            let expected: StepResult | undefined;
            for (let k = random.integer(1, 6); k > 0; k--) {
              const call = randomCall(random, SHAPE, finishedOf(sync));
              expected = applyCall(sync, call);
              pending.push(applyAsyncCall(env, call, random.chance(0.7)));
            }
            const read = env.read();
            await Promise.all(pending);
            expectEqual(
              envColumns(sync, expected!),
              await asyncEnvColumns(env, await read),
              `${sequenceIndex}, ${round}:`,
            );
          }
          expect(env.counters).toEqual(sync.counters);
          const bytes = await env.snapshot();
          expect(sync.snapshot()).toEqual(bytes);
          const copy = { ...options, layout, copy: false };
          await using restored = await open(copy);
          expectEqual(
            envColumns(sync, sync.restore(bytes)),
            await asyncEnvColumns(restored, await restored.restore(bytes)),
          );
          sync.close();
          await env.close();
        }
      },
    );
  });

  it('has the properties of the synchronous API', async () => {
    const options = { numEnvs: 5, autoreset: 'next-step', observation: { oneHot: true } } as const;
    const sync = openSync(options);
    const env = await open(options);
    const sharedNames = Object.keys(sync).filter(
      (name) => backend !== 'deferred' || !/^(backend|kernel)/.test(name),
    );
    for (const name of sharedNames as (keyof VecEnv)[]) {
      expect([name, env[name as keyof AsyncVecEnv]]).toEqual([name, sync[name]]);
    }
    expect(Object.keys(env)).toEqual(Object.keys(sync));
    expect(env.device === null).toBe(backend !== 'deferred');
    await env.close();
  });

  it('read changes the named outputs and no others', async () => {
    const options = { numEnvs: N, autoreset: 'same-step', observation: { scale: true } } as const;
    const [env, sync] = [await open(options), openSync(options)];
    const result = await env.reset({ seed: 3 });
    sync.reset({ seed: 3 });
    const actions = Uint8Array.from({ length: N }, (_, i) => i % 10);
    const before = copyOutputs(result).observations;
    for (let t = 0; t < 27; t++) {
      void env.submit(actions);
      const expected = copyOutputs(sync.step(actions));
      const { rewards } = copyOutputs(await env.read(['rewards']));
      expectEqual({ rewards: expected.rewards }, { rewards });
      expectEqual({ before }, { before: copyOutputs(result).observations });
    }
    // All episodes end with this step.
    const expectedOutputs = copyColumns(copyOutputs(sync.step(actions)));
    await env.submit(actions);
    for (const name of Object.keys(OUTPUT_ARRAYS) as (keyof typeof OUTPUT_ARRAYS)[]) {
      const { [name]: got } = copyOutputs(await env.read([name]));
      expectEqual({ [name]: expectedOutputs[name] }, { [name]: got });
    }
    await env.read([]);
  });

  it('a run reads the named outputs back, and the others can be read later', async () => {
    const env = await open({ numEnvs: N });
    const sync = openSync({ numEnvs: N });
    const before = copyColumns(copyOutputs(await env.reset({ seed: 3 })));
    sync.reset({ seed: 3 });
    const expectedOutputs = copyColumns(copyOutputs(sync.run('heuristic')));
    const scoresOnly = copyOutputs(await env.run('heuristic', { outputs: ['finalScores'] }));
    expectEqual({ finalScores: expectedOutputs.finalScores }, { finalScores: scoresOnly.finalScores });
    // On a device, the other outputs keep their values. A backend without a device writes all outputs as it computes them.
    if (env.device !== null) expectEqual({ rewards: before.rewards }, { rewards: scoresOnly.rewards });
    expectEqual(expectedOutputs, copyOutputs(await env.read()));
  });

  it('finalMask keeps its flags when outputs are read, until the next call that can change episodes', async () => {
    const options = { numEnvs: 3, autoreset: 'same-step' } as const;
    const env = await open(options);
    const source = await open(options);
    void env.reset({ seed: 1 });
    void source.reset({ seed: 9 });
    void source.run('random', { stops: [27, 4, 27] });
    await source.step([1, 2, 3]);
    const snapshot = await env.snapshot();
    const calls: Record<string, () => Promise<StepResult>> = {
      assign: () => env.assign(source, [0, 1, 2]),
      restore: () => env.restore(snapshot),
      reset: () => env.reset({ seed: 4, mask: [true, false, false] }),
      reopen: () => env.reopen(),
      'a run of no steps': () => env.run('random', { stops: [0, 0, 0] }),
    };
    for (const [name, call] of Object.entries(calls)) {
      void env.reset({ seed: 1 });
      void env.run('random', { stops: [27, 27, 4] });
      const { finalMask, finalObservations } = await env.step([1, 2, 3]);
      expect([name, ...finalMask]).toEqual([name, 1, 1, 0]);
      expect(finalObservations?.some((value) => value !== 0)).toBe(true);
      await env.read();
      expect([...finalMask]).toEqual([1, 1, 0]);
      await call();
      for (const read of [
        () => env.read(['finalObservations']),
        () => env.read(['finalMask']),
        () => env.read(),
      ]) {
        const result = await read();
        expect([name, ...result.finalMask]).toEqual([name, 0, 0, 0]);
        expect(result.finalObservations?.every((value) => value === 0)).toBe(true);
      }
    }
  });
});

/** The number of environments in tests of the order of calls. */
const FEW = 6;

describe.each(API_PAIRS)('calls without await, $name', ({ open, openSync }) => {
  const opened: AsyncVecEnv[] = [];
  const begin = async (seed: number): Promise<[AsyncVecEnv, VecEnv]> => {
    const env = await open({ numEnvs: FEW });
    opened.push(env);
    const sync = openSync({ numEnvs: FEW });
    await env.reset({ seed });
    sync.reset({ seed });
    return [env, sync];
  };
  afterEach(async () => {
    for (const env of opened.splice(0)) await env.close();
  });
  const all = (value: number) => new Uint8Array(FEW).fill(value);

  it('calls settle in order', async () => {
    const [env] = await begin(1);
    const order: string[] = [];
    const calls: Record<string, Promise<unknown>> = {
      run: env.run('heuristic', { stops: all(20), onProgress: () => {} }),
      submit: env.submit(all(0)),
      'bad submit': env.submit(new Uint8Array(FEW + 1)),
      read: env.read(['rewards']),
      snapshot: env.snapshot(),
      step: env.step(all(0)),
      'bad read': env.read(['reward' as never]),
      hash: env.stateHash(),
      close: env.close(),
      late: env.stateHash(),
      'close again': env.close(),
    };
    const settled = Object.entries(calls).map(([name, call]) =>
      call.then(
        () => order.push(name),
        () => order.push(`${name}!`),
      ),
    );
    await Promise.all(settled);
    const refused = ['bad submit', 'bad read', 'late'];
    expect(order).toEqual(Object.keys(calls).map((name) => (refused.includes(name) ? `${name}!` : name)));
  });

  it('step and submit copy their arrays before they return', async () => {
    const [env, sync] = await begin(2);
    const random = new Random('reused arrays');
    const actions = new Uint8Array(FEW);
    const list: number[] = new Array(FEW).fill(0);
    const beliefs = new Float32Array(FEW * NUM_BELIEFS);
    const mask = new Uint8Array(FEW);
    const options = { beliefs, mask };
    for (let t = 0; t < 20; t++) {
      random.bytes(FEW, 0, 9).forEach((code, i) => {
        actions[i] = list[i] = code;
        mask[i] = Number(random.chance(0.8));
      });
      for (let k = 0; k < beliefs.length; k++) beliefs[k] = random.real();
      const stepActions = t % 2 ? actions : list;
      sync.step(stepActions, options);
      void (random.chance(0.5) ? env.submit(stepActions, options) : env.step(stepActions, options));
      // Overwrites all arguments. The list sometimes gets holes.
      actions.fill(255);
      list.fill(-1);
      list.length = t % 3 ? FEW : 0;
      beliefs.fill(Number.POSITIVE_INFINITY);
      mask.fill(2);
      list.length = FEW;
    }
    const result = await env.assign(env, envIndices(FEW));
    expectEqual(envColumns(sync, sync.assign(sync, envIndices(FEW))), await asyncEnvColumns(env, result));
  });

  it('the other methods copy their arrays before they return', async () => {
    const [env, sync] = await begin(3);
    const [source, syncSource] = await begin(70);
    const seed = Uint32Array.of(9, 8, 7, 6, 5, 4);
    const graders = new Float32Array(FEW * 8).fill(1 / 8);
    const mask = [true, false, true, true, false, true];
    const start = {
      steps: [1, 2, 3, 1, 2, 3],
      meters: new Float32Array(FEW * 5).fill(0.25),
      crashes: [1, 2, 3, 1, 2, 3],
    };
    const sequence = new Uint8Array(FEW * NUM_STEPS).fill(3);
    const stops = [4, 5, 6, 7, 8, 9];
    const policySeeds = [1, 2, 3, 4, 5, 6];
    const indices = Uint32Array.of(5, 4, 3, 2, 1, 0);
    const later = (steps: number) => stops.map((stop) => stop + steps);
    sync.reset({ seed, graders, mask, start });
    sync.run(sequence, { stops });
    sync.run('random', { policySeeds, stops: later(2) });
    syncSource.run(sequence, { from: { source: sync, indices }, stops: later(4) });
    const syncFork = syncSource.fork(indices);
    const bytes = syncFork.snapshot();
    const expected = sync.assign(syncSource, indices);
    const calls = [
      env.reset({ seed, graders, mask, start }),
      env.run(sequence, { stops }),
      env.run('random', { policySeeds, stops: later(2) }),
      source.run(sequence, { from: { source: env, indices }, stops: later(4) }),
    ];
    const fork = source.fork(indices);
    const last = env.assign(source, indices);
    const { steps, meters, crashes } = start;
    const arrays = [seed, graders, steps, meters, crashes, sequence, stops, policySeeds, indices];
    for (const array of arrays) array.fill(77 as never);
    mask.fill(true);
    await Promise.all(calls);
    expectEqual(envColumns(sync, expected), await asyncEnvColumns(env, await last));
    expect(await (await fork).snapshot()).toEqual(bytes);
    opened.push(await fork);
    const restored = env.restore(bytes);
    bytes.fill(0);
    expectEqual(copyOutputs(syncFork.assign(syncFork, envIndices(FEW))), copyOutputs(await restored));
  });

  it('calls read their options once, before they return; an error of a getter rejects the call', async () => {
    const [env] = await begin(4);
    let reads = 0;
    const options = {
      get mask() {
        reads++;
        return all(0);
      },
    };
    const step = env.step(all(0), options);
    expect(reads).toBe(1);
    await step;
    expect(reads).toBe(1);
    const thrown = new Error('of the caller');
    const throwing = {
      get mask(): never {
        throw thrown;
      },
    };
    expect(await reasonOf(env.submit(all(0), throwing))).toBe(thrown);
    await env.step(all(0));
  });

  it('calls with two environments follow earlier calls of both', async () => {
    const [one, syncOne] = await begin(5);
    const [two, syncTwo] = await begin(6);
    const indices = [3, 3, 3, 0, 1, 2];
    /** Makes the calls without await. */
    const play = (a: AsyncVecEnv, b: AsyncVecEnv) => {
      void a.step(all(1));
      void b.assign(a, indices);
      void a.step(all(2));
      void b.run('random', { from: { source: a, indices }, stops: all(9) });
      void a.step(all(4));
    };
    for (const [a, b] of [[syncOne, syncTwo] as unknown as AsyncVecEnv[], [one, two]]) {
      play(a, b);
      play(b, a);
    }
    expect(await one.stateHash()).toEqual(syncOne.stateHash());
    expect(await two.stateHash()).toEqual(syncTwo.stateHash());
    // The source closes after the first copy is requested, and before the second.
    const copy = one.assign(two, indices);
    const closed = two.close();
    const copyAfterClose = one.assign(two, indices);
    await Promise.all([copy, closed]);
    await expectRejection(copyAfterClose, 'closed');
  });

  it('refused calls change nothing, and later calls continue', async () => {
    const [env, sync] = await begin(7);
    const infinite = new Float32Array(FEW * NUM_BELIEFS).fill(1 / 0);
    const calls: [code: string, call: Promise<unknown>][] = [
      ['illegal_action', env.submit(all(10))],
      ['wrong_type', env.submit('no' as never)],
      ['wrong_type', env.submit(null as never)],
      ['wrong_length', env.submit(new Array(2 ** 32 - 1) as never)],
      ['bad_belief', env.submit(all(0), { beliefs: infinite })],
      ['unknown_option', env.step(all(0), { masks: [] } as never)],
      ['wrong_type', env.step(all(0), null as never)],
      ['wrong_type', env.step(all(0), 7 as never)],
      ['unknown_name', env.read(['rewards', 'reward' as never])],
      ['wrong_type', env.read('rewards' as never)],
      ['wrong_type', env.read([1] as never)],
      ['not_alike', env.run('random', { from: { source: env, indices: [0] } })],
      ['wrong_type', env.run('random', { from: null as never })],
      ['wrong_type', env.run('random', { from: { source: sync as never, indices: [0] } })],
      ['wrong_type', env.run('random', { signal: {} as never })],
      ['unknown_name', env.run('heuristic', { outputs: ['scores' as never] })],
      ['unknown_name', env.run('randon' as never)],
      ['wrong_type', env.assign(sync as never, [0])],
      ['wrong_length', env.assign(env, [0])],
      ['out_of_range', env.fork([FEW])],
      ['unknown_option', env.fork([0], { numEnvs: 3 } as never)],
      ['wrong_length', env.fork([0], { imagination: { profiles: new Float32Array(4) } })],
      ['bad_snapshot', env.restore(new Uint8Array(8))],
      ['bad_snapshot', env.restore({} as never)],
      ['no_snapshot', env.reopen()],
      ['out_of_range', env.history(FEW)],
      ['bad_seed', env.reset({ seed: -1 })],
      ['out_of_range', env.reset({ start: { steps: 28, meters: [] } })],
    ];
    const step = env.step(all(0));
    for (const [code, call] of calls) await expectRejection(call, code as never);
    expectEqual(envColumns(sync, sync.step(all(0))), await asyncEnvColumns(env, await step));
  });
});

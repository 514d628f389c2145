/** The asynchronous API equals the synchronous API bit for bit, with awaited, queued and submitted calls. */
import { describe, expect, it } from 'vitest';
import { OUTPUT_ARRAYS } from '../../../src/engine/backends/outputs.js';
import type { AsyncVecEnv, VecEnv } from '../../../src/engine/node.js';
import { AUTORESET_MODES } from '../../../src/engine/validate/autoreset-modes.js';
import type { StepResult, VecEnvOptions } from '../../../src/engine/vec-env/vec-env-options.js';
import { API_PAIRS, asyncEnvColumns } from '../../support/async-envs.js';
import { copyColumns, copyOutputs, expectEqual } from '../../support/bits.js';
import { applyCall, type Call, randomCall, randomReset, resetOptionsOf } from '../../support/calls.js';
import { reportAbsentEngines } from '../../support/engines.js';
import { drawsOf, Random } from '../../support/random.js';
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
    const env = await open({
      numEnvs: N,
      autoreset: 'same-step',
      observation: { scale: true },
    });
    const sync = openSync({ numEnvs: N, autoreset: 'same-step', observation: { scale: true } });
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
    await expect(env.run('heuristic', { outputs: ['scores' as never] })).rejects.toMatchObject({
      code: 'unknown_name',
    });
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

/** The choice of a backend by name or by priority, errors of the choice, and the options of a device. */
import { describe, expect, it } from 'vitest';
import { BROWSER, listAsyncBackends as listOfBrowser } from '../../../src/engine/backends/browser.js';
import type { WebGpuOptions } from '../../../src/engine/backends/device-options.js';
import { nativeBackend } from '../../../src/engine/backends/native.js';
import { listAsyncBackends, listBackends } from '../../../src/engine/backends/node.js';
import { createAsyncVecEnv, openEnv, VecEnv } from '../../../src/engine/node.js';
import { AsyncVecEnv, openAsyncVecEnv, openEnvOn } from '../../../src/engine/vec-env/async-vec-env.js';
import { openVecEnv } from '../../../src/engine/vec-env/vec-env.js';
import { rolloutGroupsOn } from '../../../src/rollouts/groups/rollout-groups.js';
import { BackendError } from '../../../src/shared/errors.js';
import { DeferredBackend } from '../../support/deferred.js';
import { ENGINES, NATIVE } from '../../support/engines.js';
import { expectRefusal, expectRejection, refusalOf } from '../../support/refusals.js';
import { STAND_IN_PLATFORM } from '../../support/stand-in-batch.js';

const numEnvs = 2;
const REASON = 'Expected a device, got none. Use another machine.';

describe('the choice of a backend', () => {
  it('auto selects the first available backend, and reports the unavailable backends before it', async () => {
    const backend = new DeferredBackend();
    const first = await openAsyncVecEnv(backend.platform, { numEnvs });
    expect([first.backend, first.backendReason]).toEqual(['deferred', 'the fastest available']);
    backend.reason = REASON;
    const second = await openAsyncVecEnv(backend.platform, { numEnvs });
    expect(second.backend).toBe('reference');
    expect(second.backendReason).toBe(`the fastest available; tried before it: deferred (${REASON})`);
  });

  it('a backend requested by name opens, or the error has the reason', async () => {
    const backend = new DeferredBackend();
    const env = await openAsyncVecEnv(backend.platform, { numEnvs, backend: 'reference' });
    expect([env.backend, env.backendReason]).toEqual(['reference', 'requested by name']);
    backend.reason = REASON;
    const call = openAsyncVecEnv(backend.platform, { numEnvs, backend: 'deferred' });
    await expectRejection(call, 'backend_unavailable', 'Tried: deferred', REASON);
  });

  it('a synchronous environment refuses an asynchronous backend, and names the function to use', async () => {
    const { platform } = new DeferredBackend();
    expectRefusal(
      () => openVecEnv(platform, { numEnvs, backend: 'deferred' }),
      'unknown_name',
      'createAsyncVecEnv',
      'auto, reference',
    );
    expect(refusalOf(() => openVecEnv(platform, { numEnvs, backend: 'referenc' })).message).not.toContain(
      'createAsyncVecEnv',
    );
    await expectRejection(
      openAsyncVecEnv(platform, { numEnvs, backend: 'defered' }),
      'unknown_name',
      '"deferred"',
    );
    await expectRejection(openAsyncVecEnv(platform, { numEnvs, backend: 3 as never }), 'wrong_type');
  });

  it('the option kernel is refused without the native backend', async () => {
    const { platform } = new DeferredBackend();
    for (const backend of ['deferred', 'reference', 'auto']) {
      const call = openAsyncVecEnv(platform, { numEnvs, backend, kernel: 'avx2' });
      await expectRejection(call, 'unknown_name', 'kernel', backend);
    }
  });

  it.each(NATIVE)(
    'the option kernel without a backend opens $name, even if another backend comes first',
    async ({ kernel }) => {
      const { platform } = new DeferredBackend();
      const asyncBackends = [...platform.asyncBackends, nativeBackend];
      const env = await openAsyncVecEnv({ ...platform, asyncBackends }, { numEnvs, kernel });
      expect([env.backend, env.kernel]).toEqual(['native', kernel]);
      await env.close();
    },
  );

  it.each(ENGINES)('$name opens by its name', async ({ backend, kernel }) => {
    const env = await createAsyncVecEnv({ numEnvs, backend, kernel });
    expect([env.backend, env.kernel]).toEqual([backend, kernel ?? backend]);
    await env.reset({ seed: 1 });
    const fork = await env.fork([1]);
    expect([fork.backend, fork.kernel]).toEqual([backend, kernel ?? backend]);
    await env.close();
    await fork.close();
  });

  it('listAsyncBackends includes the synchronous backends, and auto selects the first available', async () => {
    const availabilities = await listAsyncBackends();
    expect(availabilities).toEqual(expect.arrayContaining(listBackends()));
    const opened = ENGINES.map(({ backend, kernel }) => (kernel ? `${backend}/${kernel}` : backend));
    const listed = availabilities.filter(({ available }) => available).map(({ name }) => name);
    expect(listed).toEqual(expect.arrayContaining(opened));
    const { backend } = await createAsyncVecEnv({ numEnvs });
    expect(backend).toBe(availabilities.find(({ available }) => available)?.name);
  });

  it('a lack of memory rejects with BackendError out_of_memory', async () => {
    const backend = new DeferredBackend();
    backend.open = async () => {
      throw new RangeError('Array buffer allocation failed');
    };
    const error = await openAsyncVecEnv(backend.platform, { numEnvs }).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(BackendError);
    expect((error as BackendError).code).toBe('out_of_memory');
  });
});

describe('the option webgpu', () => {
  const open = async (webgpu?: WebGpuOptions) => {
    const backend = new DeferredBackend();
    const env = await openAsyncVecEnv(backend.platform, { numEnvs, ...(webgpu && { webgpu }) });
    return { backend, env };
  };

  it('applies to the batch, to a fork and after reopen', async () => {
    const { backend: plain } = await open();
    expect(plain.devices).toEqual([{ allowInexact: false, maxDispatchMs: 100, workgroupSize: 64 }]);
    const options = {
      powerPreference: 'low-power',
      allowInexact: true,
      maxDispatchMs: 10_000,
      workgroupSize: 256,
    } as const;
    const { backend, env } = await open(options);
    await env.reset({ seed: 1 });
    await env.snapshot();
    await env.reopen();
    await env.fork([0]);
    expect(backend.devices).toEqual([options, options, options]);
    expect(env.device).toEqual({ adapter: 'a test double', software: false, exact: true });
  });

  const REFUSED: [code: string, options: object, mention: string][] = [
    ['unknown_option', { maxDispatch: 1 }, '"maxDispatchMs"'],
    ['unknown_name', { powerPreference: 'low' }, 'low-power, high-performance'],
    ['wrong_type', { powerPreference: 1 }, 'powerPreference'],
    ['wrong_type', { allowInexact: 1 }, 'allowInexact'],
    ['out_of_range', { maxDispatchMs: 0 }, '1 to 10000'],
    ['out_of_range', { maxDispatchMs: 10_001 }, 'maxDispatchMs'],
    ['out_of_range', { workgroupSize: 0 }, '1 to 256'],
    ['out_of_range', { workgroupSize: 512 }, 'workgroupSize'],
    ['out_of_range', { workgroupSize: 48 }, 'a power of two'],
    ['out_of_range', { workgroupSize: 1.5 }, 'an integer'],
  ];
  it.each(REFUSED)('rejects with %s for %j', async (code, options, mention) => {
    await expectRejection(open(options), code as never, mention);
  });

  it.each([[null], [3], [[]]])('rejects with wrong_type for %j', async (webgpu) => {
    const call = createAsyncVecEnv({ numEnvs, webgpu: webgpu as never });
    await expectRejection(call, 'wrong_type', 'webgpu options');
  });

  it('is not an option of the synchronous API, and both APIs refuse unknown options', async () => {
    const { platform } = new DeferredBackend();
    expectRefusal(() => openVecEnv(platform, { numEnvs, webgpu: {} } as never), 'unknown_option');
    await expectRejection(
      openAsyncVecEnv(platform, { numEnvs, webgl: {} } as never),
      'unknown_option',
      '"webgpu"',
    );
    await expectRejection(openAsyncVecEnv(platform, { numEnvs: 0 }), 'out_of_range', 'numEnvs');
    await expectRejection(openAsyncVecEnv(platform, undefined as never), 'wrong_type');
  });
});

it('a change of the options after the call has no effect', async () => {
  const grader = [1, 0, 0, 0, 0, 0, 0, 0];
  const options = { numEnvs, grader };
  const opening = createAsyncVecEnv(options);
  grader.fill(7);
  options.numEnvs = 0;
  const env = await opening;
  await env.reset({ seed: 1 });
  const { components, finalScores } = await env.run('heuristic');
  expect(finalScores[0]).toBe(components[0]);
});

it('in browsers the APIs have WebAssembly and the reference, the asynchronous API also WebGPU', async () => {
  expect((await listOfBrowser()).map(({ name }) => name)).toEqual(['webgpu', 'wasm', 'reference']);
  expect(openVecEnv(BROWSER, { numEnvs: 1 }).backend).toBe('wasm');
});

it('auto passes over a device that the processor emulates', async () => {
  const emulated = { ...STAND_IN_PLATFORM.asyncBackends[0], name: 'emulated' };
  emulated.availability = async () => ({ name: 'emulated', available: true, software: true });
  const asyncBackends = [emulated, ...BROWSER.asyncBackends.slice(1)];
  const platform = { ...BROWSER, asyncBackends };
  await using env = await openAsyncVecEnv(platform, { numEnvs });
  expect([env.backend, env.backendReason]).toEqual(['wasm', expect.stringMatching(/emulated \(.*slower/)]);
  await using named = await openAsyncVecEnv(platform, { numEnvs, backend: 'emulated' });
  expect(named.backendReason).toBe('requested by name');
});

it("threads that come with 'auto', or for a fork, are for the backend that has them", async () => {
  using env = openVecEnv(BROWSER, { numEnvs, threads: 4 });
  await using asyncEnv = await openAsyncVecEnv(BROWSER, { numEnvs, threads: 4 });
  expect([env.backend, env.threads, asyncEnv.threads]).toEqual(['wasm', 1, 1]);
  env.reset({ seed: 1 });
  await asyncEnv.reset({ seed: 1 });
  await using asyncFork = await asyncEnv.fork([0], { threads: 3 });
  expect([env.fork([0]).threads, env.fork([0], { threads: 3 }).threads, asyncFork.threads]).toEqual([
    1, 1, 1,
  ]);
  expectRefusal(() => env.fork([0], { threads: 0 }), 'out_of_range', 'threads');
  const options = { groupSize: 2, policy: 'heuristic', threads: 4 } as const;
  const fromSeeds = await rolloutGroupsOn(BROWSER, { ...options, seeds: [1, 2] });
  expect(fromSeeds.finalScores).toHaveLength(4);
  const from = { source: env, indices: [0, 1] };
  expect((await rolloutGroupsOn(BROWSER, { ...options, from })).finalScores).toEqual(fromSeeds.finalScores);
  expect((await rolloutGroupsOn(BROWSER, { ...options, from: env.snapshot() })).finalScores).toHaveLength(4);
});

it.each([undefined, 'auto', 'reference'])('openEnv opens a VecEnv on backend %s', async (backend) => {
  await using env = await openEnvOn(STAND_IN_PLATFORM, { numEnvs: 2, backend });
  expect(env).toBeInstanceOf(VecEnv);
});

it('openEnv opens an AsyncVecEnv on an asynchronous backend, and refuses an unknown one', async () => {
  await using env = await openEnvOn(STAND_IN_PLATFORM, { numEnvs: 2, backend: 'stand-in' });
  expect(env).toBeInstanceOf(AsyncVecEnv);
  expectRefusal(
    () => openEnv({ numEnvs: 1, backend: 'webpgu' }),
    'unknown_name',
    'native, wasm, webgpu, reference',
  );
});

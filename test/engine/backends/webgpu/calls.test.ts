/**
 * Random call sequences of the asynchronous API on a device, with random options. Calls are queued, and some are illegal.
 * Results and refusals must equal those of the synchronous API on the reference, bit for bit.
 */
import { expect, it } from 'vitest';
import {
  type AsyncVecEnv,
  createAsyncVecEnv,
  createVecEnv,
  type VecEnv,
} from '../../../../src/engine/node.js';
import { AUTORESET_MODES } from '../../../../src/engine/vec-env/autoreset.js';
import type { StepResult, VecEnvOptions } from '../../../../src/engine/vec-env/vec-env-options.js';
import { RhythmError } from '../../../../src/shared/errors.js';
import { NUM_ACTIONS, NUM_BELIEFS, NUM_STEPS } from '../../../../src/world/fields.js';
import { RHYTHM } from '../../../../src/world/numbers.js';
import { asyncEnvColumns, attempt, codeOf } from '../../../support/async-envs.js';
import { type Columns, copyColumns, expectEqual } from '../../../support/bits.js';
import { envIndices, LAYOUTS, randomReset } from '../../../support/call-sequences.js';
import { describeGpu } from '../../../support/gpu-suite.js';
import { Random } from '../../../support/random.js';
import { envColumns } from '../../../support/unchanged.js';

/** The number of sequences, and of rounds of calls in each. Chosen by hand: more find rarer errors, and take longer. */
const SEQUENCES = 6;
const ROUNDS = 8;

type EitherEnv = VecEnv | AsyncVecEnv;
/** Two environments with the same options, and what the reference returned: its last result, and its snapshots. */
interface Pair {
  readonly reference: VecEnv;
  readonly device: AsyncVecEnv;
  readonly seedRange: readonly [number, number];
  result: StepResult | null;
  readonly snapshots: Uint8Array[];
}

const changedWorld = structuredClone(RHYTHM);
changedWorld.initialMeters[0] = 0.5;
changedWorld.beliefGain = 1;

function randomOptions(random: Random): VecEnvOptions {
  const fields = random.pick([undefined, ['step', 'meters', 'event'], ['reward', 'last_action']]);
  return {
    numEnvs: random.pick([1, 3, 17, 40]),
    autoreset: random.pick(AUTORESET_MODES),
    seedRange: random.pick([
      [0, 2 ** 32],
      [100, 60],
      [2 ** 32 - 50, 50],
    ] as const),
    observation: {
      fields,
      oneHot: random.chance(0.3),
      scale: random.chance(0.3),
      history: random.chance(0.4),
    },
    layout: random.pick(LAYOUTS),
    copy: random.chance(0.3),
    profiles: random.pick(['sampled', 'discrete']),
    grader: random.pick(['v1', 'v2']),
    imagination: random.chance(0.2),
  };
}

async function openPair(random: Random, world: VecEnvOptions['world']): Promise<Pair> {
  const options = { ...randomOptions(random), world };
  // Other tests use these workgroup sizes too: compiling for a size takes seconds. maxDispatchMs: lowest and default.
  const webgpu = { workgroupSize: random.pick([64, 256]), maxDispatchMs: random.pick([1, 100]) };
  const device = await createAsyncVecEnv({ ...options, backend: 'webgpu', webgpu });
  const reference = createVecEnv({ ...options, backend: 'reference' });
  return { reference, device, seedRange: options.seedRange!, result: null, snapshots: [] };
}

/** A call of an environment. It may copy from `source`. */
type Call = (env: EitherEnv, source: EitherEnv) => unknown;

/** Draws a legal or an illegal step. */
function anyStep(random: Random, { reference, result }: Pair): Call {
  const { numEnvs, metadata } = reference;
  const canAllStep = metadata.autoresetMode === 'next-step' || result === null;
  const finished = canAllStep ? new Uint8Array(numEnvs) : result.terminated;
  const { actions, beliefs, stepMask } = random.step(finished, false); // without resets
  if (random.chance(0.1)) actions[random.integer(0, numEnvs - 1)] = NUM_ACTIONS;
  if (random.chance(0.05) && beliefs !== null) beliefs[0] = Number.POSITIVE_INFINITY;
  const mask = random.chance(0.05) ? undefined : (stepMask ?? undefined);
  const options = { beliefs: beliefs ?? undefined, mask };
  const isSubmitted = random.chance(0.4);
  return (env) =>
    isSubmitted && 'submit' in env ? env.submit(actions, options) : (env.step(actions, options) as unknown);
}

function anyRun(random: Random, { numEnvs }: VecEnv, sourceEnvs: number): Call {
  const { policy, beliefs, stops } = random.run(numEnvs);
  const choice = policy.kind === 'sequence' ? policy.actions : policy.kind;
  const policySeeds = policy.kind === 'random' ? (policy.policySeeds ?? undefined) : undefined;
  const given = beliefs === null ? undefined : beliefs.kind === 'sequence' ? beliefs.beliefs : beliefs.belief;
  const trajectory = random.chance(0.4);
  const indices = random.chance(0.3) && randomIndices(random, numEnvs, sourceEnvs);
  const onProgress = random.chance(0.2) ? () => {} : undefined;
  const signal = random.chance(0.05) ? AbortSignal.abort(new RhythmError('closed', 'stopped')) : undefined;
  return (env, source) => {
    const from = indices ? { source: source as never, indices } : undefined;
    const options = {
      policySeeds,
      beliefs: given,
      stops: stops ?? undefined,
      trajectory,
      onProgress,
      signal,
      from,
    };
    return env.run(choice, options);
  };
}

/** Random indices below `of`. Rarely, one is `of` itself, which is refused. */
const randomIndices = (random: Random, length: number, of: number): Uint32Array =>
  Uint32Array.from({ length }, () => random.integer(0, of - (random.chance(0.002) ? 0 : 1)));

function anyReset(random: Random, { reference, seedRange, result }: Pair): Call {
  const reset = randomReset(random, reference.numEnvs, seedRange);
  if (random.chance(0.05)) reset.seed[0] = (seedRange[0] + 2 ** 31) >>> 0;
  const mask = result !== null && random.chance(0.7) ? random.mask(reference.numEnvs, 0.3) : undefined;
  return (env) => env.reset({ ...reset, mask });
}

function anyRestore(random: Random, { snapshots }: Pair): Call {
  const bytes = snapshots.length === 0 ? new Uint8Array(9) : random.pick(snapshots).slice();
  if (random.chance(0.1)) bytes[random.integer(0, bytes.length - 1)] ^= 1;
  return (env) => env.restore(bytes);
}

/** Draws the profiles of an imagined fork. */
const drawImagined = (random: Random, n: number, [low, size]: Pair['seedRange']) => ({
  profiles: random.chance(0.5) ? ('prior' as const) : random.profiles(n),
  seed: random.seeds(n).map((seed) => low + (seed % size)),
});

/** Draws a call that forks an environment, often with imagination, and plays the fork to its end. */
function anyFork(random: Random, { reference, result, seedRange }: Pair): Call {
  const drawn = randomIndices(random, random.integer(1, 20), reference.numEnvs);
  const playing = [...envIndices(reference.numEnvs)].filter((i) => result?.terminated[i] === 0);
  const isImagined = random.chance(0.4) && playing.length > 0;
  // The profiles of ended episodes cannot be replaced.
  const indices = isImagined && random.chance(0.9) ? drawn.map((i) => playing[i % playing.length]) : drawn;
  const imagination = isImagined
    ? drawImagined(random, indices.length, seedRange)
    : random.chance(0.3) || undefined;
  const options = { imagination, autoreset: random.pick(AUTORESET_MODES) };
  const actions = random.bytes(indices.length, 0, NUM_ACTIONS - 1);
  const play = async (env: AsyncVecEnv) => {
    const fork = await env.fork(indices, options);
    const before = await asyncEnvColumns(fork, await fork.read());
    await codeOf(attempt(() => fork.step(actions)));
    const after = await asyncEnvColumns(fork, await fork.run('random'));
    await fork.close();
    return [before, after, fork.usesHiddenState];
  };
  return (env) =>
    env === reference ? playFork(reference.fork(indices, options), actions) : play(env as AsyncVecEnv);
}

/** Plays a synchronous fork to its end, before the next call of its source. */
function playFork(fork: VecEnv, actions: Uint8Array): [Columns, Columns, boolean] {
  const before = envColumns(fork, fork.assign(fork, envIndices(fork.numEnvs)));
  try {
    fork.step(actions);
  } catch {}
  const after = envColumns(fork, fork.run('random'));
  fork.close();
  return [before, after, fork.usesHiddenState];
}

// Steps have three names, so that they are drawn most often.
const CALLS: Record<string, (random: Random, pair: Pair, source: Pair) => Call> = {
  step: anyStep,
  'another step': anyStep,
  'one more step': anyStep,
  run: (random, { reference }, source) => anyRun(random, reference, source.reference.numEnvs),
  reset: anyReset,
  restore: anyRestore,
  fork: anyFork,
  assign: (random, { reference }, source) => {
    const indices = randomIndices(random, reference.numEnvs, source.reference.numEnvs);
    return (env, from) => (env as VecEnv).assign(from as VecEnv, indices);
  },
  shuffle: (random, { reference }) => {
    const indices = randomIndices(random, reference.numEnvs, reference.numEnvs);
    return (env) => (env as VecEnv).assign(env as VecEnv, indices);
  },
  snapshot: () => (env) => env.snapshot(),
  history: (random, { reference }) => {
    const i = random.integer(0, reference.numEnvs - 1);
    return (env) => env.history(i, NUM_STEPS);
  },
  targets: () => (env) => env.beliefTargets(),
  'unknown option': () => (env) => env.step(new Uint8Array(env.numEnvs), { belief: [NUM_BELIEFS] } as object),
};

const isStepResult = (value: unknown): value is StepResult =>
  typeof value === 'object' && value !== null && 'finalMask' in value;

/** Returns the part of a call's result that later calls do not change: a trajectory, bytes or a history. */
const withoutViews = (value: unknown): unknown => {
  if (!isStepResult(value)) return value;
  return 'trajectory' in value ? value.trajectory : null;
};

/** Makes a call on the reference. @returns its result, or the code of its refusal. */
function callReference(call: Call, pair: Pair, source: Pair): unknown {
  try {
    const value = call(pair.reference, source.reference);
    if (isStepResult(value)) pair.result = value;
    if (value instanceof Uint8Array) pair.snapshots.push(value);
    return withoutViews(value);
  } catch (error) {
    if (error instanceof RhythmError) return error.code;
    throw error;
  }
}

/** Makes a call on the device. @returns its result, or the code of its refusal. */
const callDevice = (call: Call, pair: Pair, source: Pair): Promise<unknown> =>
  (call(pair.device, source.device) as Promise<unknown>).then(
    (value) => withoutViews(value ?? null),
    (error) => (error instanceof RhythmError ? error.code : Promise.reject(error)),
  );

async function expectSame({ reference, device, result }: Pair, where: string): Promise<void> {
  if (result === null) return;
  expectEqual(envColumns(reference, result), await asyncEnvColumns(device, await device.read()), where);
}

/** Makes up to five calls on two pairs, then awaits all of them. @returns the number of calls and of refusals. */
async function playRound(random: Random, pairs: readonly Pair[], where: string): Promise<number[]> {
  const [names, expected, got]: [string[], unknown[], Promise<unknown>[]] = [[], [], []];
  for (let k = random.integer(1, 5); k > 0; k--) {
    const which = random.integer(0, 1);
    const [pair, source] = [pairs[which], pairs[1 - which]];
    const name = random.pick(Object.keys(CALLS));
    const call = CALLS[name](random, pair, source);
    names.push(`${name} of ${which}`);
    // The asynchronous call copies its arguments at once. The reference then gets the same arrays.
    got.push(callDevice(call, pair, source));
    expected.push(callReference(call, pair, source));
  }
  expect(await Promise.all(got), `${where}: ${names.join(', ')}`).toEqual(expected);
  for (const pair of pairs) await expectSame(pair, `${where}, after ${names.join(', ')}:`);
  return [names.length, expected.filter((value) => typeof value === 'string').length];
}

const counts = { calls: 0, refused: 0 };

async function playSequence(seed: number): Promise<void> {
  const random = new Random(`calls ${seed}`);
  const world = random.pick([undefined, undefined, changedWorld]);
  const pairs = [await openPair(random, world), await openPair(random, world)];
  for (const pair of pairs) {
    if (random.chance(0.2)) continue;
    const call = anyReset(random, pair);
    expect([await callDevice(call, pair, pair)]).toEqual([callReference(call, pair, pair)]);
  }
  for (let round = 0; round < ROUNDS; round++) {
    const [calls, refused] = await playRound(random, pairs, `sequence ${seed}, round ${round}`);
    counts.calls += calls;
    counts.refused += refused;
  }
  // Calls before close complete, and calls after close are refused.
  const [{ device, reference, result }] = pairs;
  if (result !== null) {
    const sequence = random.bytes(reference.numEnvs * NUM_STEPS, 0, NUM_ACTIONS - 1);
    const [run, hash, closed, codeAfterClose] = [
      device.run(sequence),
      device.stateHash(),
      device.close(),
      codeOf(device.read()),
    ];
    const { finalScores } = reference.run(sequence);
    expectEqual(copyColumns({ finalScores }), copyColumns({ finalScores: (await run).finalScores }));
    expectEqual({ hash: reference.stateHash() }, { hash: await hash });
    expect([await closed, await codeAfterClose]).toEqual([undefined, 'closed']);
  }
  for (const pair of pairs) {
    pair.reference.close();
    await pair.device.close();
  }
}

describeGpu('random call sequences on a device', () => {
  it.each(Array.from({ length: SEQUENCES }, (_, seed) => [seed]))(
    'sequence %i has the results of the reference',
    playSequence,
  );

  it('some calls are refused, but fewer than half', () => {
    expect(counts.refused).toBeGreaterThan(0);
    expect(counts.refused).toBeLessThan(counts.calls / 2);
  });
});

/** Names of built-in properties of objects are refused as unknown keys and names. */
import { describe, expect, it } from 'vitest';
import { findBuiltin } from '../../../src/agents/policies/stepped-policies.js';
import {
  audit,
  createAsyncVecEnv,
  createVecEnv,
  createWorld,
  Episode,
  evaluate,
  groupAdvantages,
  Inference,
  openLoopActions,
  Planner,
  parseCompletions,
  RHYTHM,
  regrade,
  rewardStack,
  rolloutGroups,
  scoreReplay,
  searchActionSequence,
  searchActionSequences,
  stepAdvantages,
  validateGrader,
  validateWorld,
} from '../../../src/index.js';
import { expectRejection } from '../../support/refusals.js';

// biome-ignore lint/suspicious/noExplicitAny: cases pass values of wrong types.
type Any = any;

const KEYS = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', '__defineGetter__'];

/** Returns two copies of an object with a further key: as the first and as the last own key. */
const withKey = (key: string, value: object): Any[] => {
  const own = `${JSON.stringify(key)}:{"numEnvs":3,"polluted":true}`;
  const text = JSON.stringify(value);
  const between = text === '{}' ? '' : ',';
  return [
    JSON.parse(`{${own}${between}${text.slice(1)}`),
    JSON.parse(`${text.slice(0, -1)}${between}${own}}`),
  ];
};

const env = createVecEnv({ numEnvs: 2, backend: 'reference' });
env.reset({ seed: 1 });
const source = createVecEnv({ numEnvs: 2, backend: 'reference' });
source.reset({ seed: 1 });
const asyncEnv = await createAsyncVecEnv({ numEnvs: 2, backend: 'reference' });
await asyncEnv.reset({ seed: 1 });

const meters = [0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5];
const rows = { actions: [1], given: [false], stepRewards: [1], beliefMae: [0] };
const columns = () => ({
  ...{ seeds: Uint32Array.of(1), stepIndices: Uint8Array.of(0), histories: new Uint8Array(28) },
  actions: Int8Array.of(1),
});
const stepRollouts = { rewards: [1], stateHashes: BigUint64Array.of(1n), groupSize: 1, steps: 1 };

/** Functions of the API that read an object: a call with the object, and a legal object. */
const OBJECTS: [name: string, call: (value: Any) => unknown, validObject: object][] = [
  ['createVecEnv', createVecEnv, { numEnvs: 2 }],
  ['createAsyncVecEnv', createAsyncVecEnv, { numEnvs: 2 }],
  ['webgpu options', (webgpu) => createAsyncVecEnv({ numEnvs: 2, webgpu }), {}],
  ['observation options', (observation) => createVecEnv({ numEnvs: 2, observation }), { oneHot: true }],
  ['reset', (value) => env.reset(value), { seed: 1 }],
  ['the option start of reset', (start) => env.reset({ start }), { steps: 3, meters }],
  ['step', (value) => env.step([0, 0], value), {}],
  ['run', (value) => env.run('random', value), { stops: [1, 1] }],
  [
    'the option from of run',
    (from) => env.run('random', { from: Object.assign(from, { source }) }),
    { indices: [0, 1] },
  ],
  ['fork', (value) => env.fork([0], value), { imagination: true }],
  ['reset, asynchronous', (value) => asyncEnv.reset(value), { seed: 1 }],
  ['the option start of reset, asynchronous', (start) => asyncEnv.reset({ start }), { steps: 3, meters }],
  ['step, asynchronous', (value) => asyncEnv.step([0, 0], value), {}],
  ['submit', (value) => asyncEnv.submit([0, 0], value), {}],
  ['run, asynchronous', (value) => asyncEnv.run('random', value), { stops: [1, 1] }],
  ['fork, asynchronous', (value) => asyncEnv.fork([0], value), {}],
  ['a world', createWorld, RHYTHM],
  ['a world of validateWorld', validateWorld, RHYTHM],
  ['constants of a world', (constants) => validateWorld({ ...RHYTHM, constants }), RHYTHM.constants],
  ['streams of a world', (streams) => validateWorld({ ...RHYTHM, streams }), RHYTHM.streams],
  ['graders of a world', (graders) => validateWorld({ ...RHYTHM, graders }), RHYTHM.graders],
  ['profiles of a world', (profiles) => validateWorld({ ...RHYTHM, profiles }), RHYTHM.profiles],
  ['a grader', validateGrader, { name: 'calm', weights: { crash_free: 1 } }],
  ['weights of a grader', (weights) => validateGrader({ name: 'calm', weights }), { crash_free: 1 }],
  [
    'a grader of regrade',
    (value) => regrade(new Float32Array(8), value),
    { name: 'calm', weights: { crash_free: 1 } },
  ],
  ['Episode', (value) => new Episode(value), {}],
  ['reset of Episode', (value) => new Episode().reset(1, value), {}],
  ['Inference', (value) => new Inference(createWorld(), 1, value), {}],
  ['Planner', (value) => new Planner(value), { numEnvs: 1 }],
  ['searchActionSequence', (value) => searchActionSequence(value), {}],
  ['a problem of searchActionSequences', (value) => searchActionSequences([value]), { seeds: [1] }],
  ['rolloutGroups', rolloutGroups, { seeds: [1], groupSize: 1, policy: 'random' }],
  [
    'the option from of rolloutGroups',
    (from) => rolloutGroups({ from: Object.assign(from, { source }), groupSize: 1, policy: 'random' }),
    { indices: [0] },
  ],
  ['scoreReplay', (value) => scoreReplay([], value), {}],
  ['columns of scoreReplay', (value) => scoreReplay(Object.assign(value, columns())), {}],
  ['rewardStack', (value) => rewardStack(rows, value), {}],
  ['weights of rewardStack', (weights) => rewardStack(rows, { weights }), {}],
  ['shaping of rewardStack', (shaping) => rewardStack(rows, { shaping }), {}],
  ['groupAdvantages', (value) => groupAdvantages([1], 1, value), {}],
  ['stepAdvantages', (value) => stepAdvantages(stepRollouts as Any, value), {}],
  ['parseCompletions', (value) => parseCompletions(['SLEEP'], value), {}],
  ['evaluate', evaluate, {}],
  ['audit', audit, {}],
];

/** Functions of the API that take a name: a call with the name. */
const NAMES: [what: string, call: (name: Any) => unknown][] = [
  ['a backend', (backend) => createVecEnv({ numEnvs: 1, backend })],
  ['a backend, asynchronous', (backend) => createAsyncVecEnv({ numEnvs: 1, backend })],
  ['a kernel', (kernel) => createVecEnv({ numEnvs: 1, backend: 'reference', kernel })],
  ['an autoreset mode', (autoreset) => createVecEnv({ numEnvs: 1, autoreset })],
  ['a layout', (layout) => createVecEnv({ numEnvs: 1, layout })],
  ['a profile', (profiles) => createVecEnv({ numEnvs: 1, profiles })],
  ['profiles', (name) => env.reset({ profiles: [name, name] })],
  ['a grader', (grader) => createVecEnv({ numEnvs: 1, grader })],
  ['graders', (name) => env.reset({ graders: [name, name] })],
  ['a field', (name) => createVecEnv({ numEnvs: 1, observation: { fields: [name] } })],
  ['a policy of run', (name) => env.run(name)],
  ['an output', (name) => asyncEnv.read([name])],
  ['a policy', findBuiltin],
  ['a policy of rolloutGroups', (policy) => rolloutGroups({ seeds: [1], groupSize: 1, policy })],
  ['an open-loop sequence', openLoopActions],
  ['a method', (method) => groupAdvantages([1], 1, { method })],
  ['an objective', (objective) => new Planner({ numEnvs: 1, objective })],
  ['a grader of regrade', (name) => regrade(new Float32Array(8), name)],
  ['a profile of a search problem', (profile) => searchActionSequences([{ seeds: [1], profile }])],
  ['a profile of Episode', (profile) => new Episode().reset(1, { profile })],
];

/** Calls a synchronous or asynchronous function. @returns a promise, which rejects if the function throws. */
const callAsync = async (call: (value: Any) => unknown, value: unknown): Promise<unknown> => call(value);

describe.each(KEYS)('%s', (key) => {
  it.each(OBJECTS)('is refused as a key of the object: %s', async (_, call, validObject) => {
    for (const value of withKey(key, validObject)) {
      const error = (await callAsync(call, value).then(
        () => new Error('Expected a refusal, got none.'),
        (reason: unknown) => reason,
      )) as Error & { code?: string };
      expect(error.message).toContain(key);
      expect(error.code).toMatch(/^(unknown_option|bad_world|bad_grader)$/);
    }
    expect([({} as Any).polluted, ({} as Any).numEnvs]).toEqual([undefined, undefined]);
  });

  it.each(NAMES)('is refused as the name of %s', async (_, call) => {
    const error = (await callAsync(call, key).then(
      () => new Error('Expected a refusal, got none.'),
      (reason: unknown) => reason,
    )) as Error & { code?: string };
    expect(error.message).toContain(`"${key}"`);
    expect(error.code).toMatch(/^(unknown_name|backend_unavailable)$/);
  });
});

it('inherited properties are read as options, and those that are no option are ignored', () => {
  env.reset(Object.create({ seed: 7, other: 1 }));
  expect([...env.seeds]).toEqual([7, 8]);
});

it('the objects are legal without the key (calls that take long are left out), and null is no world', async () => {
  for (const [name, call, validObject] of OBJECTS) {
    if (['evaluate', 'audit', 'searchActionSequence', 'a problem of searchActionSequences'].includes(name))
      continue;
    await callAsync(call, structuredClone(validObject)).catch((error) => {
      throw new Error(`${name}: ${error.message}`);
    });
  }
  await expectRejection(callAsync(createWorld, null), 'bad_world');
});

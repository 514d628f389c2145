/** No environment plays a seed outside its seedRange: snapshots and copies with such seeds are refused. */
import { describe, expect, it } from 'vitest';
import type { VecEnv } from '../../../src/engine/node.js';
import { decodeSnapshot, encodeSnapshot } from '../../../src/engine/snapshot/codec.js';
import { AUTORESET_MODES } from '../../../src/engine/vec-env/autoreset.js';
import { NUM_STEPS, STATE, STATE_WORDS } from '../../../src/world/fields.js';
import { APIS, attempt } from '../../support/async-envs.js';
import { applyCall, type Call, type EnvShape, randomCall, randomReset } from '../../support/calls.js';
import { openOn, TWO_ENGINES } from '../../support/engines.js';
import { forAll, type Random } from '../../support/random.js';
import { expectRefusal, expectRejection } from '../../support/refusals.js';

const N = 3;
const LOW = 100;
const SIZE = 10;
const SHAPE = { numEnvs: N, seedRange: [LOW, SIZE] } as const;
const LAST = LOW + SIZE - 1;
/** Seeds of environment 1 outside the range. */
const OUTSIDE = [0, LOW - 1, LAST + 1, 2 ** 32 - 1];

/** Returns the snapshot with this seed in environment 1. */
function withSeed(bytes: Uint8Array, seed: number): Uint8Array {
  const snapshot = decodeSnapshot(bytes);
  snapshot.words[STATE_WORDS + STATE.seed] = seed;
  return encodeSnapshot(snapshot);
}

const mentions = (seed: number) => [`${LOW} to ${LAST}`, `got ${seed}`];
const ANY_SEED = { autoreset: 'same-step', numEnvs: N } as const;

describe.each(APIS)('$name', ({ open }) => {
  it.each(AUTORESET_MODES)(
    '%s: a snapshot with a seed outside the range is refused, and nothing changes',
    async (autoreset) => {
      await using env = await open({ ...SHAPE, autoreset });
      await env.reset({ seed: LOW });
      await env.run('heuristic', { stops: [3, 27, 28] });
      const bytes = await env.snapshot();
      for (const seed of OUTSIDE) {
        const restoring = attempt(() => env.restore(withSeed(bytes, seed)));
        await expectRejection(restoring, 'bad_snapshot', 'seed of environment 1', ...mentions(seed));
        expect(await env.snapshot()).toEqual(bytes);
      }
      for (const seed of [LOW, LAST]) {
        await env.restore(withSeed(bytes, seed));
        expect([...env.seeds]).toEqual([LOW, seed, LOW + 2]);
      }
    },
  );

  it('a copy of an episode with a seed outside the range is refused, and nothing changes', async () => {
    await using source = await open(ANY_SEED);
    await using target = await open({ ...SHAPE, autoreset: 'same-step' });
    for (const seed of OUTSIDE) {
      await target.reset({ seed: LOW });
      const bytes = await target.snapshot();
      await source.reset({ seed: [LOW, seed, LAST] });
      const calls = [
        () => target.assign(source, [0, 1, 2]),
        () => target.run('heuristic', { from: { source, indices: [0, 2, 1] } }),
      ];
      for (const call of calls) {
        await expectRejection(attempt(call), 'bad_seed', 'environment 1 of the source', ...mentions(seed));
        expect(await target.snapshot()).toEqual(bytes);
      }
      // Seeds of environments that are not copied are not checked.
      await target.assign(source, [2, 0, 2]);
      expect([...target.seeds]).toEqual([LAST, LOW, LAST]);
      const { words } = decodeSnapshot(await target.snapshot());
      expect([0, 1, 2].map((i) => words[i * STATE_WORDS + STATE.seed])).toEqual([LAST, LOW, LAST]);
      await target.run('heuristic', { from: { source, indices: [0, 2, 0] } });
      expect([...target.seeds]).toEqual([LOW, LAST, LOW]);
    }
  });
});

describe.each(TWO_ENGINES)('$name', (engine) => {
  // The next seed is LOW plus (seed - LOW + N) modulo SIZE.
  it.each([
    [3, [106, 107, 108]],
    [2 ** 32 - 4, [105, 106, 107]],
  ] as const)(
    'after a caller writes seeds from %i on into env.seeds, the next seeds are in the range',
    (seed, next) => {
      using env = openOn(engine, { ...SHAPE, autoreset: 'same-step' });
      env.reset({ seed: LOW });
      env.run('random', { stops: [27, 27, 27] });
      env.seeds.set([seed, seed + 1, seed + 2]);
      env.assign(env, [0, 1, 2]);
      env.step([0, 0, 0]);
      expect([...env.seeds]).toEqual(next);
      env.restore(env.snapshot());
    },
  );

  it.each([
    [LOW - 5, [LOW + 4, LOW - 5]],
    [LOW + 5, [LAST, LAST + 1]],
    [LOW + 1, [LOW + 1, LAST + 1]],
  ])(
    'from a source whose range begins at %i, only episodes with seeds inside the range of the target are copied',
    (low, seeds) => {
      using source = openOn(engine, { numEnvs: 2, seedRange: [low, 10] });
      using target = openOn(engine, { numEnvs: 1, seedRange: SHAPE.seedRange });
      const [inside, outside] = seeds;
      source.reset({ seed: [inside, outside] });
      expectRefusal(() => target.assign(source, [1]), 'bad_seed', `got ${outside}`);
      target.assign(source, [0]);
      expect([...target.seeds]).toEqual([inside]);
    },
  );

  it('the source of a copy is checked after the getters of the arguments, which may reset it', () => {
    using source = openOn(engine, ANY_SEED);
    using target = openOn(engine, SHAPE);
    source.reset({ seed: LOW });
    const stops = [0, 0, 0];
    Object.defineProperty(stops, 1, {
      get: () => {
        source.reset({ seed: 5 });
        return 3;
      },
    });
    expectRefusal(
      () => target.run('random', { stops, from: { source, indices: [0, 1, 2] } }),
      'bad_seed',
      'got 5',
    );
    expectRefusal(() => target.snapshot(), 'not_reset');
  });

  it.each(AUTORESET_MODES)('%s: a snapshot after any legal calls can be restored', (autoreset) => {
    forAll(3, (random) => {
      const numEnvs = random.pick([1, N, 17]);
      const low = random.pick([0, LOW, 2 ** 32 - 40]);
      const shape: EnvShape = { numEnvs, seedRange: [low, random.pick([1, numEnvs, 40])] };
      using env = openOn(engine, { ...shape, autoreset });
      using loaded = openOn(engine, { ...shape, autoreset });
      using other = openOn(engine, { ...shape, autoreset });
      let call: Call = randomReset(random, shape);
      for (let t = 0; t < 60; t++) {
        applyCall(env, call);
        if (t > 0) {
          applyCall(loaded, call);
          expect(Buffer.compare(loaded.snapshot(), env.snapshot())).toBe(0);
        }
        if (random.chance(0.1)) copyBack(random, env, other);
        loaded.restore(env.snapshot());
        call = randomCall(random, shape, finishedOf(env));
      }
    });
  });
});

/** Runs copies of the episodes of `env` in `other`. Then assigns to `env` these copies or its own episodes, reordered. */
function copyBack(random: Random, env: VecEnv, other: VecEnv): void {
  const { numEnvs } = env;
  const order = random.permutation(numEnvs);
  other.run('random', { stops: random.stops(numEnvs), from: { source: env, indices: order } });
  env.assign(random.chance(0.5) ? other : env, random.permutation(numEnvs));
}

/** Returns 1 for each environment that must not step: its episode has ended, and a step does not reset it. */
function finishedOf(env: VecEnv): Uint8Array {
  const hasEnded = (i: number) => env.history(i, 1)[0]?.step === NUM_STEPS - 1;
  const resets = env.metadata.autoresetMode === 'next-step';
  return Uint8Array.from({ length: env.numEnvs }, (_, i) => Number(!resets && hasEnded(i)));
}

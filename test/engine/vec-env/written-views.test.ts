/** The caller may write into views, for example to normalise observations; this changes no episode. */
import { describe, it } from 'vitest';
import type { VecEnv } from '../../../src/engine/node.js';
import { AUTORESET_MODES } from '../../../src/engine/validate/autoreset-modes.js';
import type { StepResult } from '../../../src/engine/vec-env/vec-env-options.js';
import { type Columns, expectEqual } from '../../support/bits.js';
import { applyCall, type Call, type EnvShape, randomCall, randomReset } from '../../support/calls.js';
import { openOn, TWO_ENGINES } from '../../support/engines.js';
import { NaiveEnv } from '../../support/naive-env.js';
import { forAll, type Random } from '../../support/random.js';
import { outputColumns } from '../../support/unchanged.js';

const scene: EnvShape = { numEnvs: 5, seedRange: [100, 12] };

function scribble(random: Random, result: StepResult): void {
  for (const view of Object.values(result)) {
    if (!ArrayBuffer.isView(view)) continue;
    const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
    bytes.forEach((_, at) => {
      bytes[at] = random.integer(0, 255);
    });
  }
}

/** Copies the states behind the views. */
const behind = (env: VecEnv): Columns => ({ ...outputColumns(env, null), snapshot: env.snapshot() });

describe.each(TWO_ENGINES)('$name', (engine) => {
  it.each(AUTORESET_MODES)('%s: a call sequence continues unchanged after writes into views', (autoreset) => {
    forAll(10, (random) => {
      const options = {
        ...scene,
        autoreset,
        layout: random.pick(['row-major', 'column-major'] as const),
        observation: random.pick([undefined, { history: true }]),
      };
      const naive = new NaiveEnv(autoreset, scene);
      using clean = openOn(engine, options);
      using written = openOn(engine, options);
      let call: Call = randomReset(random, scene);
      for (let t = 0; t < 90; t++) {
        naive.applyCall(call);
        applyCall(clean, call);
        scribble(random, applyCall(written, call));
        expectEqual(behind(clean), behind(written), `call ${t}, ${call.kind}:`);
        call = randomCall(random, scene, naive.finished);
      }
    });
  });

  it.each(AUTORESET_MODES)('%s: so do copies of such environments', (autoreset) => {
    forAll(10, (random) => {
      const envs = [1, 2].map(() => openOn(engine, { ...scene, autoreset }));
      const reset = randomReset(random, scene);
      for (const env of envs) applyCall(env, reset);
      const stops = random.stops(5);
      const results = envs.map((env) => env.run('random', { stops }));
      scribble(random, results[1]);
      const order = random.permutation(5);
      const forks = envs.map((env) => env.fork(order));
      envs[0].assign(envs[0], order);
      scribble(random, envs[1].assign(envs[1], order));
      for (const pair of [envs, forks]) {
        for (const policy of ['heuristic', 'random'] as const) {
          for (const env of pair)
            env.run(policy, { stops: policy === 'random' ? undefined : stops.fill(27) });
          expectEqual(behind(pair[0]), behind(pair[1]), policy);
        }
      }
      for (const env of [...envs, ...forks]) env.close();
    });
  });
});

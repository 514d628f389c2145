/** Views are the caller's to write into: whoever normalises observations in place changes no episode by it. */
import { describe, it } from 'vitest';
import { AUTORESET_MODES } from '../src/validate/autoreset-modes.js';
import type { StepResult } from '../src/vec-env/options.js';
import type { VecEnv } from '../src/vec-env.js';
import { type Columns, expectEqual } from './support/bits.js';
import { anyCall, anyReset, type Call, make, type Scene } from './support/calls.js';
import { ENGINES, openOn } from './support/engines.js';
import { NaiveEnv } from './support/naive-env.js';
import { forAll, type Random } from './support/random.js';
import { views } from './support/unchanged.js';

const scene: Scene = { numEnvs: 5, seedRange: [100, 12] };

function scribble(random: Random, result: StepResult): void {
  for (const view of Object.values(result)) {
    if (!ArrayBuffer.isView(view)) continue;
    const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
    bytes.forEach((_, at) => {
      bytes[at] = random.integer(0, 255);
    });
  }
}

/** What lies behind the views. */
const behind = (env: VecEnv): Columns => ({ ...views(env, null), snapshot: env.snapshot() });

describe.each(ENGINES)('$name', (engine) => {
  it.each(AUTORESET_MODES)('%s: a story goes on behind views that were written into', (autoreset) => {
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
      let call: Call = anyReset(random, scene);
      for (let t = 0; t < 90; t++) {
        naive.make(call);
        make(clean, call);
        scribble(random, make(written, call));
        expectEqual(behind(clean), behind(written), `call ${t}, ${call.kind}:`);
        call = anyCall(random, scene, naive.stuck);
      }
    });
  });

  it.each(AUTORESET_MODES)('%s: so do copies of what was written into', (autoreset) => {
    forAll(10, (random) => {
      const envs = [1, 2].map(() => openOn(engine, { ...scene, autoreset }));
      const reset = anyReset(random, scene);
      for (const env of envs) make(env, reset);
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

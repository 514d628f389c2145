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

/** Five environments, with the seeds 100 to 111. */
const SHAPE: EnvShape = { numEnvs: 5, seedRange: [100, 12] };

/** Writes random bytes into every view of a result. */
function overwrite(random: Random, result: StepResult): void {
  for (const view of Object.values(result)) {
    if (!ArrayBuffer.isView(view)) continue;
    const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
    bytes.forEach((_, at) => {
      bytes[at] = random.integer(0, 255);
    });
  }
}

/** Returns the states and properties of an environment without the outputs, which are overwritten. */
const columnsOf = (env: VecEnv): Columns => ({ ...outputColumns(env, null), snapshot: env.snapshot() });

describe.each(TWO_ENGINES)('$name', (engine) => {
  it.each(AUTORESET_MODES)('%s: a call sequence continues unchanged after writes into views', (autoreset) => {
    forAll(10, (random) => {
      const options = {
        ...SHAPE,
        autoreset,
        layout: random.pick(['row-major', 'column-major'] as const),
        observation: random.pick([undefined, { history: true }]),
      };
      const naive = new NaiveEnv(autoreset, SHAPE);
      using clean = openOn(engine, options);
      using written = openOn(engine, options);
      let call: Call = randomReset(random, SHAPE);
      // The number of calls is chosen by hand: enough for several episodes.
      for (let t = 0; t < 90; t++) {
        naive.applyCall(call);
        applyCall(clean, call);
        overwrite(random, applyCall(written, call));
        expectEqual(columnsOf(clean), columnsOf(written), `call ${t}, ${call.kind}:`);
        call = randomCall(random, SHAPE, naive.finished);
      }
    });
  });

  it.each(AUTORESET_MODES)(
    '%s: copies of environments with overwritten views continue unchanged',
    (autoreset) => {
      forAll(10, (random) => {
        const envs = [1, 2].map(() => openOn(engine, { ...SHAPE, autoreset }));
        const reset = randomReset(random, SHAPE);
        for (const env of envs) applyCall(env, reset);
        const stops = random.stops(5);
        const results = envs.map((env) => env.run('random', { stops }));
        overwrite(random, results[1]);
        const order = random.permutation(5);
        const forks = envs.map((env) => env.fork(order));
        envs[0].assign(envs[0], order);
        overwrite(random, envs[1].assign(envs[1], order));
        // The heuristic plays to step 27, the random policy from there on.
        for (const pair of [envs, forks]) {
          for (const policy of ['heuristic', 'random'] as const) {
            for (const env of pair)
              env.run(policy, { stops: policy === 'random' ? undefined : stops.fill(27) });
            expectEqual(columnsOf(pair[0]), columnsOf(pair[1]), policy);
          }
        }
        for (const env of [...envs, ...forks]) env.close();
      });
    },
  );
});

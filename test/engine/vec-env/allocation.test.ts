/**
 * `step` and `assign` allocate nothing. The test measures the growth of JavaScript's heap over many calls, in a process
 * whose young generation is so large that no garbage collection runs during the measurement.
 */
import { describe, expect, it } from 'vitest';
import { runChild } from '../../support/child.js';
import { NATIVE, reportAbsentEngines } from '../../support/engines.js';

/** The maximum growth in bytes per call: half of the smallest object. V8 itself allocates less than one byte per call. */
const MAX_GROWTH = 8;
/** Calls per measurement, and calls before the first. Chosen by hand: more calls take longer, fewer are less exact. */
const CALLS = 4000;
const WARM_UP = 2_000;
/**
 * The maximum number of measurements of a case. The smallest result counts, because V8 allocates numbers until it
 * optimises the code. Chosen by hand: a case ends at its first small result.
 */
const ROUNDS = 32;
/** V8 flags: optimise after the same number of calls at any load, and collect garbage only after 128 MiB. */
const FLAGS = [
  '--expose-gc',
  '--no-concurrent-recompilation',
  '--min-semi-space-size=128',
  '--max-semi-space-size=128',
];

/** The measured calls. With autoreset, `open` opens environments at different steps, so that their episodes end in turn. */
const CASES: Record<string, string> = {
  'step, no autoreset': `
    const [env, first] = [open(), open()];
    const indices = Uint32Array.from(actions.keys());
    return (t) => (t % 28 === 27 ? env.assign(first, indices) : env.step(actions));`,
  'step under same-step': `const env = open({ autoreset: 'same-step' }); return () => env.step(actions);`,
  'step under next-step': `const env = open({ autoreset: 'next-step' }); return () => env.step(actions);`,
  'step, column-major': `
    const env = open({ autoreset: 'same-step', layout: 'column-major' });
    return () => env.step(actions);`,
  'step with beliefs': `
    const env = open({ autoreset: 'same-step' });
    const options = { beliefs: new Float32Array(3 * N).fill(0.5).fill(NaN, 3, 9) };
    return () => env.step(actions, options);`,
  'step with beliefs as numbers': `
    const env = open({ autoreset: 'same-step' });
    const options = { beliefs: Array(3 * N).fill(0.25).fill(NaN, 3, 9) };
    return () => env.step(actions, options);`,
  'step of some environments, in turn': `
    const env = open({ autoreset: 'next-step' });
    const options = { mask: new Uint8Array(N) };
    return (t) => { options.mask[t % N] ^= 1; return env.step(actions, options); };`,
  'step with codes as i32': `
    const env = open({ autoreset: 'same-step' });
    const codes = new Int32Array(N);
    return () => env.step(codes);`,
  'step with encoded observations': `
    const env = open({ autoreset: 'same-step', observation: { oneHot: true, scale: true, history: true } });
    return () => env.step(actions);`,
  assign: `
    const [env, source] = [open(), open()];
    const indices = new Uint32Array(N).fill(5);
    return () => env.assign(source, indices);`,
  'assign with history': `
    const options = { observation: { history: true } };
    const [env, source] = [open(options), open({ ...options, layout: 'column-major' })];
    const indices = new Uint32Array(N).fill(5);
    return () => env.assign(source, indices);`,
};

/** Calls that allocate, which the measurement must report. */
const ALLOCATING: Record<string, string> = {
  'an object': `const kept = []; return (t) => { kept[t % 9] = { t }; };`,
  'copies of results': `const env = open({ autoreset: 'same-step', copy: true }); return () => env.step(actions);`,
};

function program(kernel: string | undefined): string {
  const makers = Object.entries({ ...CASES, ...ALLOCATING }).map(
    ([name, code]) => `${JSON.stringify(name)}: () => { ${code} }`,
  );
  return `
    import { createVecEnv } from './dist/engine/node.js';
    const N = 28;
    const actions = new Uint8Array(N);
    const open = (options = {}) => {
      const env = createVecEnv({ numEnvs: N, backend: 'native', kernel: ${JSON.stringify(kernel)}, ...options });
      env.reset({ seed: 1 });
      if (options.autoreset) env.run('random', { stops: Array.from(actions.keys()) });
      return env;
    };
    const used = () => process.memoryUsage();
    const growth = {};
    for (const [name, make] of Object.entries({ ${makers.join(',\n')} })) {
      const call = make();
      let t = 0;
      while (t < ${WARM_UP}) call(t++);
      // The smallest growth: bytes of the heap per call, and bytes of array buffers.
      const minima = [Infinity, Infinity];
      const rounds = ${JSON.stringify(Object.keys(ALLOCATING))}.includes(name) ? 1 : ${ROUNDS};
      for (let round = 0; round < rounds && !(minima[0] < ${MAX_GROWTH} && minima[1] <= 0); round++) {
        gc();
        const before = used();
        for (let k = 0; k < ${CALLS}; k++) call(t++);
        const after = used();
        minima[0] = Math.min(minima[0], (after.heapUsed - before.heapUsed) / ${CALLS});
        minima[1] = Math.min(minima[1], after.arrayBuffers - before.arrayBuffers);
      }
      growth[name] = minima;
    }
    print(growth);
  `;
}

reportAbsentEngines();

describe.skipIf(NATIVE.length === 0)('on the native backend', () => {
  it('step and assign allocate nothing; the measurement reports one object and copies of results', () => {
    const { status, output, stderr } = runChild(program(NATIVE[0].kernel), {}, FLAGS);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const growth = Object.entries(output as Record<string, [heap: number, buffers: number]>);
    expect(growth.map(([name]) => name)).toEqual([CASES, ALLOCATING].flatMap(Object.keys));
    for (const [name, [heap, buffers]] of growth) {
      // 16 bytes: the smallest object.
      if (name in ALLOCATING) expect(heap, name).toBeGreaterThan(16);
      else expect(heap, name).toBeLessThan(MAX_GROWTH);
      // Memory of earlier cases may still be freed.
      if (name in CASES) expect(buffers, name).toBeLessThanOrEqual(0);
    }
  });
});

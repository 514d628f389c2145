/**
 * Steps and assignments allocate nothing. The test measures the growth of JavaScript's heap over many calls, in a process
 * whose young generation is so large that no garbage is collected meanwhile.
 */
import { describe, expect, it } from 'vitest';
import { runChild } from '../../support/child.js';
import { NATIVE, nameAbsent } from '../../support/engines.js';

/** Bytes per call: half of the smallest object. V8's own records take less than one byte. */
const LESS_THAN_ANY_OBJECT = 8;
const CALLS = 10_000;
const WARM_UP = 2_000;
/** The most measurements of a case. The smallest counts: V8 boxes numbers until it optimises (after up to 165,000 calls). */
const ROUNDS = 32;
/** V8 flags that optimise after a number of calls, independently of the machine's load. */
const FLAGS = [
  '--expose-gc',
  '--no-concurrent-recompilation',
  '--min-semi-space-size=128',
  '--max-semi-space-size=128',
];

/** The measured calls. `open(options)` has 28 environments, each at another step, so that one ends at every step. */
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
  'step of some, in turn': `
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

/** Calls that allocate: the measure must report them. */
const SEEN: Record<string, string> = {
  'an object': `const kept = []; return (t) => { kept[t % 9] = { t }; };`,
  'copies of results': `const env = open({ autoreset: 'same-step', copy: true }); return () => env.step(actions);`,
};

function program(kernel: string | undefined, cases: Record<string, string>, rounds: number): string {
  const makers = Object.entries(cases).map(([name, code]) => `${JSON.stringify(name)}: () => { ${code} }`);
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
    const grown = {};
    for (const [name, make] of Object.entries({ ${makers.join(',\n')} })) {
      const call = make();
      let t = 0;
      while (t < ${WARM_UP}) call(t++);
      const least = [Infinity, Infinity];
      for (let round = 0; round < ${rounds} && !(least[0] < ${LESS_THAN_ANY_OBJECT} && least[1] <= 0); round++) {
        gc();
        const before = used();
        for (let k = 0; k < ${CALLS}; k++) call(t++);
        const after = used();
        least[0] = Math.min(least[0], (after.heapUsed - before.heapUsed) / ${CALLS});
        least[1] = Math.min(least[1], after.arrayBuffers - before.arrayBuffers);
      }
      grown[name] = least;
    }
    say(grown);
  `;
}

function measure(
  cases: Record<string, string>,
  rounds: number,
): Record<string, [heap: number, buffers: number]> {
  const { status, output, stderr } = runChild(program(NATIVE[0].kernel, cases, rounds), {}, FLAGS);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return output as ReturnType<typeof measure>;
}

nameAbsent();

describe.skipIf(NATIVE.length === 0)('the native backend allocates nothing', () => {
  it('the measure reports one object per call, and copies', () => {
    for (const [heap] of Object.values(measure(SEEN, 3))) expect(heap).toBeGreaterThan(16);
  });

  it('calls allocate nothing', () => {
    const grown = measure(CASES, ROUNDS);
    expect(Object.keys(grown)).toEqual(Object.keys(CASES));
    for (const [name, [heap, buffers]] of Object.entries(grown)) {
      expect(heap, name).toBeLessThan(LESS_THAN_ANY_OBJECT);
      // Memory of earlier cases may still be freed.
      expect(buffers, name).toBeLessThanOrEqual(0);
    }
  });
});

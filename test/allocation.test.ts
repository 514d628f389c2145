/**
 * Nothing is allocated per step, nor by an assignment: measured as the growth of JavaScript's heap over many calls, in a
 * process whose young generation is so large that nothing is collected meanwhile.
 */
import { describe, expect, it } from 'vitest';
import { runChild } from './support/child.js';
import { NATIVE, nameAbsent } from './support/engines.js';

/** Bytes: half of the smallest object that there is. What V8 notes for itself comes to less than one. */
const LESS_THAN_ANY_OBJECT = 8;
const CALLS = 20_000;
const WARM_UP = 25_000;
/** The least of them counts: until V8 has optimised a function, when it finds the time, numbers in it are boxed. */
const ROUNDS = 8;
const FLAGS = ['--expose-gc', '--min-semi-space-size=128', '--max-semi-space-size=128'];

/** What is called, made from `open(options)`, whose 28 slots are each at another step: one ends at every step. */
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

/** What must be seen: the measure is none otherwise. */
const SEEN: Record<string, string> = {
  'an object': `const kept = []; return (t) => { kept[t % 9] = { t }; };`,
  'copies of results': `const env = open({ autoreset: 'same-step', copy: true }); return () => env.step(actions);`,
};

function program(kernel: string | undefined, cases: Record<string, string>): string {
  const makers = Object.entries(cases).map(([name, code]) => `${JSON.stringify(name)}: () => { ${code} }`);
  return `
    import { createVecEnv } from './src/vec-env.ts';
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
      const rounds = Array.from({ length: ${ROUNDS} }, () => {
        gc();
        const before = used();
        for (let k = 0; k < ${CALLS}; k++) call(t++);
        const after = used();
        return [after.heapUsed - before.heapUsed, after.arrayBuffers - before.arrayBuffers];
      });
      grown[name] = [0, 1].map((k) => Math.min(...rounds.map((round) => round[k])));
    }
    say(grown);
  `;
}

function measure(cases: Record<string, string>): Record<string, [heap: number, buffers: number]> {
  const { status, said, stderr } = runChild(program(NATIVE[0].kernel, cases), {}, FLAGS);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return said as ReturnType<typeof measure>;
}

nameAbsent();

describe.skipIf(NATIVE.length === 0)('the native backend allocates nothing', () => {
  it('the measure sees one object a call, and copies', () => {
    for (const [heap] of Object.values(measure(SEEN))) expect(heap / CALLS).toBeGreaterThan(16);
  });

  it('by a call', () => {
    const grown = measure(CASES);
    expect(Object.keys(grown)).toEqual(Object.keys(CASES));
    for (const [name, [heap, buffers]] of Object.entries(grown)) {
      expect(heap / CALLS, name).toBeLessThan(LESS_THAN_ANY_OBJECT);
      // Memory of cases before may still be given back.
      expect(buffers, name).toBeLessThanOrEqual(0);
    }
  });
});

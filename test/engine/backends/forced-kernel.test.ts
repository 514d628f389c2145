/** The kernel that an option or RHYTHM_KERNEL names is the kernel that runs. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { loadAddon } from '../../../src/engine/backends/addon.js';
import { nativeBackend } from '../../../src/engine/backends/native.js';
import { createVecEnv } from '../../../src/engine/node.js';
import type { VecEnvOptions } from '../../../src/engine/vec-env/vec-env-options.js';
import type { RhythmError } from '../../../src/shared/errors.js';
import { NATIVE, reportAbsentEngines } from '../../support/engines.js';

reportAbsentEngines();

afterEach(() => void vi.unstubAllEnvs());

/** Plays a step with the options. @returns the backend and kernel that ran, or the refusal. */
function attempt(options: VecEnvOptions): unknown {
  try {
    using env = createVecEnv(options);
    env.reset({ seed: 1 });
    env.step([0]);
    return [env.backend, env.kernel];
  } catch (error) {
    const { code, message } = error as RhythmError;
    return { code, message };
  }
}

/** Attempts each set of options with this RHYTHM_KERNEL. @returns the results of `attempt`. */
function openIn(kernel: string, ...options: Partial<VecEnvOptions>[]): unknown {
  vi.stubEnv('RHYTHM_KERNEL', kernel);
  return options.map((each) => attempt({ numEnvs: 1, ...each }));
}

describe.each(NATIVE)('$name', ({ kernel }) => {
  it('runs if the option kernel names it', () => {
    using env = createVecEnv({ numEnvs: 1, kernel });
    expect([env.backend, env.kernel]).toEqual(['native', kernel]);
  });

  it('runs if RHYTHM_KERNEL names it, unless an option names another kernel or the reference', () => {
    expect(
      openIn(kernel!, {}, { backend: 'native' }, { kernel: 'scalar' }, { backend: 'reference' }),
    ).toEqual([
      ['native', kernel],
      ['native', kernel],
      ['native', 'scalar'],
      ['reference', 'reference'],
    ]);
  });
});

it.runIf(NATIVE.length > 0)(
  'an unknown RHYTHM_KERNEL is refused, and an empty RHYTHM_KERNEL is ignored',
  () => {
    const message = expect.stringContaining('Did you mean "portable"?');
    expect(openIn('protable', {})).toEqual([{ code: 'backend_unavailable', message }]);
    // One or two environments step fastest on the scalar kernel.
    expect(openIn('', {})).toEqual([['native', 'scalar']]);
    using env = createVecEnv({ numEnvs: 3, backend: 'native' });
    expect(env.kernel).toBe(NATIVE[0].kernel);
  },
);

it.runIf(NATIVE.length > 0)('the list of kernels has distinct names, and the widest kernels first', () => {
  const rows = loadAddon().kernels();
  expect(new Set(rows.map((row) => row.name)).size).toBe(rows.length);
  const lanes = rows.map((row) => row.lanes);
  expect(lanes).toEqual([...lanes].sort((a, b) => b - a));
  // The portable and the scalar kernel.
  expect(lanes.slice(-2)).toEqual([4, 1]);
  expect(nativeBackend.kernels().map((row) => row.name)).toEqual(rows.map((row) => row.name));
});

/** Tests that the exactness proof detects a device that differs from the reference in one rule or one number. */
import { describe, expect, it } from 'vitest';
import type { BatchOptions } from '../../../../src/engine/backends/backend.js';
import { proveExact } from '../../../../src/engine/backends/webgpu/checked-program.js';
import { SHADER_TEXTS, type ShaderFile } from '../../../../src/engine/backends/webgpu/generated/shaders.js';
import type { ShaderTexts } from '../../../../src/engine/backends/webgpu/program.js';
import { webGpuBackend } from '../../../../src/engine/backends/webgpu/webgpu-backend.js';
import { BLOCK_LAYOUT } from '../../../../src/world/block.js';
import { STATE_WORDS, TRAIT_NAMES } from '../../../../src/world/fields.js';
import {
  compile,
  DEVICE,
  EMPTY_SHADERS,
  nodeGpuWith,
  openDevice,
  openOnDevice,
  optionsFor,
  withReplacedText,
} from '../../../support/gpu.js';
import { describeGpu } from '../../../support/gpu-suite.js';
import { WORLD } from '../../../support/open-batch.js';

/**
 * Alterations of the shaders: the file, the text to replace, and its replacement, which is wrong if the WGSL condition `is`
 * holds.
 */
const ALTERATIONS: readonly [name: string, file: ShaderFile, from: string, to: (is: string) => string][] = [
  [
    'an exclusive or with 1 instead of 0',
    'numbers.wgsl',
    'bitcast<u32>(x) ^ zero',
    (is) => `bitcast<u32>(x) ^ (zero + u32(${is}))`,
  ],
  [
    'a comparison',
    'rules.wgsl',
    'm.s < profile.stress_threshold',
    (is) => `select((m.s < profile.stress_threshold), (m.s > profile.stress_threshold), ${is})`,
  ],
  [
    'a rotation',
    'threefry.wgsl',
    'const even = vec4(17u, 29u, 16u, 24u)',
    (is) => `let even = vec4(17u, 29u, 16u, select(24u, 23u, ${is}))`,
  ],
  [
    'the order of a sum',
    'rules.wgsl',
    'add(add(add(add(term.v, term.c), term.p), term.s), term.n)',
    (is) =>
      'add(add(add(add(' +
      `select(term.v, term.n, ${is}), term.c), term.p), term.s), select(term.n, term.v, ${is}))`,
  ],
  [
    'the bound of the first half',
    'rules.wgsl',
    't < COUNT_STEPS / 2u',
    (is) => `t < COUNT_STEPS / 2u + u32(${is})`,
  ],
  [
    'a comparison of the sort',
    'profile.wgsl',
    'let pair = EXCHANGES[e];',
    // The last exchange is that of 5 and 6.
    (is) => `let pair = select(EXCHANGES[e], vec2(5u, 7u), e == 24u && ${is});`,
  ],
  [
    'a small belief that becomes 1 instead of 0',
    'grade.wgsl',
    'return select(bounded, 0.0, bounded',
    (is) => `return select(bounded, select(0.0, 1.0, ${is}), bounded`,
  ],
  [
    'an observed field',
    'outputs.wgsl',
    'f32(t / COUNT_SLOTS)',
    (is) => `f32(select(t / COUNT_SLOTS, t % COUNT_SLOTS, ${is}))`,
  ],
];

/** A word of the world's block of numbers that no rule reads. It has the number of the alteration that holds, from 1 on. */
const CHOICE =
  BLOCK_LAYOUT.find(({ name }) => name === 'traitInverseSpan')!.offset +
  TRAIT_NAMES.indexOf('metabolic_rate');

/** Shaders with all alterations. One compilation is enough for all, because the alteration is chosen when the shaders run. */
const ALTERABLE = ALTERATIONS.reduce<ShaderTexts>(
  (texts, [, file, from, to], k) =>
    withReplacedText(file, from, to(`(world[${CHOICE}u] == ${k + 1}u)`), texts),
  SHADER_TEXTS,
);

describeGpu('the exactness proof', () => {
  const prove = async (texts: ShaderTexts, words = WORLD.words) => {
    const program = await compile(await openDevice(), texts);
    const open = (options: BatchOptions) => openOnDevice(program, { ...options, world: { ...WORLD, words } });
    return proveExact(open, WORLD);
  };

  it.each([
    ['the shaders', SHADER_TEXTS],
    ['shaders with alterations that do not hold', ALTERABLE],
  ])('finds no difference in a few hundred episodes of a correct device: %s', async (_, texts) => {
    const { episodes, different } = await prove(texts);
    expect(episodes).toBeGreaterThan(300);
    expect(different).toBe(0);
  });

  it.each(ALTERATIONS.map(([name], k) => [name, k + 1] as const))(
    'detects a wrong shader: %s',
    async (_, choice) => {
      const words = WORLD.words.slice();
      words[CHOICE] = choice;
      expect((await prove(ALTERABLE, words)).different).toBeGreaterThan(0);
    },
  );

  it('makes the backend refuse an inexact device without allowInexact', async () => {
    const backend = webGpuBackend(nodeGpuWith, { texts: EMPTY_SHADERS });
    await expect(backend.open(optionsFor(4))).rejects.toMatchObject({
      code: 'backend_unavailable',
      message: expect.stringMatching(/where \d+ of 384 differ.*allowInexact/s),
    });
    const batch = await backend.open(optionsFor(4, { device: { ...DEVICE, allowInexact: true } }));
    expect(batch.device).toMatchObject({ exact: false });
    batch.close();
  });
});

describeGpu("a wrong entry of the world's block of numbers", () => {
  // No shader reads the entry `graders`.
  const entries = BLOCK_LAYOUT.filter(({ name, word }) => word === 'f32' && name !== 'graders');

  it(`is detected, for each of ${entries.length} entries`, async () => {
    const program = await compile(await openDevice());
    const missed: string[] = [];
    for (const { name, offset } of entries) {
      const words = WORLD.words.slice();
      // The size of the change is chosen by hand.
      new Float32Array(words.buffer)[offset] += 0.0371;
      const open = (options: BatchOptions) =>
        openOnDevice(program, { ...options, world: { ...WORLD, words } });
      if ((await proveExact(open, WORLD)).different === 0) missed.push(name);
    }
    expect(missed).toEqual([]);
  });
});

describe('the exactness proof of a fake batch', () => {
  it('detects a batch that does nothing', async () => {
    // A batch of the proof has 128 environments.
    const idle = async () =>
      ({
        ...{ reset() {}, submit: () => null, run: async () => null, read: async () => {}, close() {} },
        save: async () => new Uint32Array(128 * STATE_WORDS),
        stateHash: async () => new BigUint64Array(128),
        beliefTargets: async () => new Float32Array(128 * 3),
      }) as never;
    const { episodes, different } = await proveExact(idle, WORLD);
    expect(different).toBe(episodes);
  });
});

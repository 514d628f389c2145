/** The exactness proof: a device that differs from the reference in one rule or one number does not open. */
import { describe, expect, it } from 'vitest';
import type { AsyncBatchOptions } from '../../../../src/engine/backends/async-backend.js';
import { proveExact } from '../../../../src/engine/backends/webgpu/exactness-proof.js';
import type { ShaderTexts } from '../../../../src/engine/backends/webgpu/shaders.js';
import { webGpuBackend } from '../../../../src/engine/backends/webgpu/webgpu-backend.js';
import { BLOCK_LAYOUT } from '../../../../src/world/block.js';
import { STATE_WORDS } from '../../../../src/world/fields.js';
import {
  compile,
  DEVICE,
  nodeGpuWith,
  openDevice,
  openOnDevice,
  optionsFor,
  withReplacedText,
} from '../../../support/gpu.js';
import { describeGpu } from '../../../support/gpu-suite.js';
import { WORLD } from '../../../support/open-batch.js';

describeGpu('the exactness proof', () => {
  const prove = async (texts?: ShaderTexts) => {
    const program = await compile(await openDevice(), texts);
    return proveExact((options) => openOnDevice(program, options), WORLD);
  };

  it('finds no difference in a few hundred episodes of a correct device', async () => {
    const { episodes, different } = await prove();
    expect(episodes).toBeGreaterThan(300);
    expect(different).toBe(0);
  });

  const wrongComparison = withReplacedText(
    'rules.wgsl',
    'm.s < profile.stress_threshold',
    'm.s > profile.stress_threshold',
  );
  const alterations: [string, ShaderTexts][] = [
    [
      'an exclusive or with 1 instead of 0',
      withReplacedText('numbers.wgsl', 'bitcast<u32>(x) ^ zero', 'bitcast<u32>(x) ^ (zero + 1u)'),
    ],
    ['a comparison', wrongComparison],
    ['a rotation', withReplacedText('threefry.wgsl', 'vec4(17u, 29u, 16u, 24u)', 'vec4(17u, 29u, 16u, 23u)')],
    [
      'the order of a sum',
      withReplacedText(
        'rules.wgsl',
        'add(add(add(add(term.v, term.c), term.p), term.s), term.n)',
        'add(add(add(add(term.n, term.c), term.p), term.s), term.v)',
      ),
    ],
    [
      'the bound of the first half',
      withReplacedText('rules.wgsl', 't < COUNT_STEPS / 2u', 't <= COUNT_STEPS / 2u'),
    ],
    ['a comparison of the sort', withReplacedText('profile.wgsl', 'vec2(5, 6),\n', 'vec2(5, 7),\n')],
    [
      'a small belief that becomes 1 instead of 0',
      withReplacedText(
        'grade.wgsl',
        'return select(bounded, 0.0, bounded',
        'return select(bounded, 1.0, bounded',
      ),
    ],
    ['an observed field', withReplacedText('outputs.wgsl', 'f32(t / COUNT_SLOTS)', 'f32(t % COUNT_SLOTS)')],
  ];
  it.each(alterations)('detects a wrong shader: %s', async (_, texts) => {
    expect((await prove(texts)).different).toBeGreaterThan(0);
  });

  it('refuses an inexact device without allowInexact', async () => {
    const backend = webGpuBackend(nodeGpuWith, { texts: wrongComparison });
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
  /**
   * Entries that the proof does not use: graders come with the reset, no factor of a belief target uses the first span, and
   * no belief of the proof is between 0 and the changed `smallestBelief`.
   */
  const UNREAD = ['graders', 'traitInverseSpan', 'smallestBelief'];
  const entries = BLOCK_LAYOUT.filter(({ name, word }) => word === 'f32' && !UNREAD.includes(name));

  it(`is detected, for each of ${entries.length} entries`, async () => {
    const program = await compile(await openDevice());
    const missed: string[] = [];
    for (const { name, offset } of entries) {
      const words = WORLD.words.slice();
      new Float32Array(words.buffer)[offset] += 0.0371;
      const open = (options: AsyncBatchOptions) =>
        openOnDevice(program, { ...options, world: { ...WORLD, words } });
      if ((await proveExact(open, WORLD)).different === 0) missed.push(name);
    }
    expect(missed).toEqual([]);
  });
});

describe('the exactness proof of a fake batch', () => {
  it('detects a batch that does nothing', async () => {
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

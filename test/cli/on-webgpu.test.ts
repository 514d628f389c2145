/** Commands on WebGPU write the same bytes as on the processor's backends. */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { nativeBackend } from '../../src/engine/backends/native.js';
import { ACTION_NAMES } from '../../src/world/fields.js';
import { runCli, temporaryDirectory } from '../support/cli.js';
import { describeGpu } from '../support/gpu-suite.js';

const pathOf = temporaryDirectory();
const BACKENDS = ['reference', ...(nativeBackend.availability().available ? ['native'] : []), 'webgpu'];
const EPISODES = 150;

/** Runs a command on backends, by default all. Expects one digest of the files that it writes. */
async function expectOneDigest(
  written: string,
  args: (directory: string) => string[],
  backends = BACKENDS,
): Promise<void> {
  const digests = new Set<string>();
  for (const backend of backends) {
    const { code, stderr } = await runCli([...args(pathOf(backend)), '--backend', backend]);
    expect(code, stderr).toBe(0);
    digests.add(
      createHash('sha256')
        .update(readFileSync(`${pathOf(backend)}/${written}`))
        .digest('hex'),
    );
  }
  expect(digests.size).toBe(1);
}

describeGpu('on WebGPU', () => {
  it('replay scores the same', async () => {
    const rows = Array.from({ length: EPISODES }, (_, seed) => ({
      ...{ seed, profile: seed % 2 ? 'discrete' : 'sampled', grader: seed % 3 ? 'v3' : 'v1' },
      actions: Array.from({ length: 28 - (seed % 5) }, (_, t) => ACTION_NAMES[(seed * 3 + t * 7) % 10]),
      beliefs: Array.from({ length: 28 - (seed % 5) }, (_, t) => (t % 4 ? [0.2, t / 28, 1.5] : null)),
    }));
    writeFileSync(pathOf('rows.jsonl'), rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
    await expectOneDigest('scored.jsonl', (directory) => [
      ...['replay', '--input', pathOf('rows.jsonl'), '--output', `${directory}/scored.jsonl`],
    ]);
  });

  it('teach plays the same episodes', () =>
    expectOneDigest('taught.jsonl', (directory) => [
      ...['teach', '--policy', 'heuristic+inference', '--seeds', `100-${100 + EPISODES - 1}`],
      ...['--output', `${directory}/taught.jsonl`],
    ]));

  it('teach plans the same', () =>
    expectOneDigest(
      'planner.jsonl',
      (directory) => [
        ...['teach', '--policy', 'planner-prior', '--seeds', '100-100'],
        ...['--output', `${directory}/planner.jsonl`],
      ],
      // Planning takes a minute on the reference.
      BACKENDS.slice(-2),
    ));

  it('dataset grpo has the same rows', () =>
    expectOneDigest('grpo.jsonl', (directory) => [
      ...['dataset', 'grpo', '--rows', String(EPISODES), '--output', `${directory}/grpo.jsonl`],
    ]));
});

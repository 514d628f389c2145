/** `rhythm-vec info` and `rhythm-vec world`, `--version`, and what help and errors say of the command that ran. */
import { readFileSync, writeFileSync } from 'node:fs';
import { Command } from 'commander';
import { expect, it, vi } from 'vitest';
import { renderInfo } from '../../src/cli/info.js';
import { BACKENDS } from '../../src/engine/backends/node.js';
import { processorName } from '../../src/evaluation/run-info.js';
import { createVecEnv, createWorld, layoutDigest, RHYTHM } from '../../src/index.js';
import { SCHEMAS } from '../../src/shared/schemas.js';
import { runChild } from '../support/child.js';
import { runCli, temporaryDirectory } from '../support/cli.js';
import { DeferredBackend } from '../support/deferred.js';

const pathOf = temporaryDirectory();

it('info shows version, digests, backends and kernels, and why a backend is not available', async () => {
  const { code, stdout } = await runCli(['info']);
  expect(code).toBe(0);
  using env = createVecEnv({ numEnvs: 1, backend: 'reference' });
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  for (const text of [version, env.world.digest, layoutDigest()]) expect(stdout).toContain(text);
  for (const backend of BACKENDS) {
    expect(stdout).toContain(`backend ${backend.name} `);
    for (const { name } of backend.kernels()) expect(stdout).toContain(`kernel ${name} `);
  }
  expect(await runCli(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
  // As on a machine without a compiler.
  const without = await runCli(['info'], '', { RHYTHM_ADDON: '/nowhere/rhythm.node', RHYTHM_KERNEL: '' });
  expect(without.stdout).toMatch(/backend native +not available: Expected the native addon at \/nowhere/);
  expect(without.stdout).toMatch(/backend wasm +available/);
});

it('a processor that Node does not know has the numbers of Linux, or else the architecture', () => {
  const unread = () => expect.unreachable('read /proc/cpuinfo');
  expect(processorName(' AMD EPYC 7763 ', unread)).toBe('AMD EPYC 7763');
  const core = 'CPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x3\nCPU part\t: 0xd0c\n';
  const cpuInfo = `processor\t: 0\nBogoMIPS\t: 50.00\n${core}CPU revision\t: 1\n\nprocessor\t: 1\n${core}`;
  for (const model of ['', 'unknown']) {
    expect(processorName(model, () => cpuInfo)).toBe(
      `${process.arch} processor (implementer 0x41, part 0xd0c)`,
    );
    expect(processorName(model, () => '')).toBe(`${process.arch} processor`);
  }
});

it('a processor whose name may not be read, as in Deno without --allow-sys, is named by the architecture', () => {
  const { output, stderr } = runChild(`
    import os from 'node:os';
    import { syncBuiltinESMExports } from 'node:module';
    os.cpus = () => { throw new Error('NotCapable'); };
    syncBuiltinESMExports();
    const { describeMachine } = await import('./dist/evaluation/run-info.js');
    print(describeMachine().cpu);
  `);
  expect(output, stderr).toMatch(new RegExp(`^${process.arch} processor`));
});

it('info marks backends that only asynchronous environments can use, and shows whether they are available', async () => {
  const backend = new DeferredBackend();
  expect(await renderInfo(backend.platform)).toMatch(
    /\nbackend deferred +available \(by createAsyncVecEnv and commands\)\nbackend reference +available\n$/,
  );
  backend.reason = 'It is gone. Call again later.';
  expect(await renderInfo(backend.platform)).toMatch(
    /deferred +not available: It is gone. Call again later.\n/,
  );
});

it('world writes the numbers of the published world, and the file of a changed world, which is no file of numbers', async () => {
  expect(JSON.parse((await runCli(['world'])).stdout)).toEqual(RHYTHM);
  const spec = structuredClone(RHYTHM);
  spec.constants.crashThreshold *= 2;
  spec.name = 'fragile';
  const [numbers, output] = ['numbers.json', 'new/world.json'].map(pathOf);
  writeFileSync(numbers, JSON.stringify(spec));
  expect(await runCli(['world', '--numbers', numbers, '--output', output])).toMatchObject({ code: 0 });
  const world = createWorld(spec);
  expect(JSON.parse(readFileSync(output, 'utf8'))).toMatchObject({
    schema: SCHEMAS.world,
    name: 'fragile',
    world_digest: world.digest,
    layout_digest: layoutDigest(),
    // The world's numbers as 32-bit words (block.ts).
    words: [...world.words],
    magnitudes: { reward: expect.any(Number), anomalies: expect.any(Number) },
  });
  const again = await runCli(['world', '--numbers', output]);
  expect(again).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining('the file of a world'),
  });
});

it('the help marks exactly the required options', async () => {
  const { stdout } = await runCli(['teach', '--help']);
  const required = stdout.split(/\n(?= {2}--)/).filter((option) => /\(required\)/.test(option));
  expect(required.map((option) => option.trim().split(' ')[0])).toEqual(['--seeds', '--output']);
});

it.each([
  ['eval', ['eval', '--grader', 'v9']],
  ['queue submit teach', ['queue', 'submit', 'teach', '--seeds', '100-101', '--policy', 'eval']],
])(
  'the help that an error names is that of the command that ran, %s, not of the value of a leading option',
  async (name, args) => {
    // No option of the program itself takes a value at present.
    const { exitOverride } = Command.prototype;
    const spy = vi.spyOn(Command.prototype, 'exitOverride').mockImplementation(function (this: Command) {
      return exitOverride.call(this).option('--leading <value>');
    });
    const { code, stderr } = await runCli(['--leading', 'world', ...args]).finally(() => spy.mockRestore());
    expect([code, stderr.split('\n').at(-2)]).toEqual([2, `See rhythm-vec ${name} --help.`]);
  },
);

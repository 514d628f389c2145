/** Tests `rhythm-vec info`, `--help` and `--version`. */
import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { describe, expect, it, vi } from 'vitest';
import { renderInfo } from '../../src/cli/info/command.js';
import { BACKENDS } from '../../src/engine/backends/node.js';
import { createVecEnv, layoutDigest } from '../../src/index.js';
import { runCli } from '../support/cli.js';
import { DeferredBackend } from '../support/deferred.js';

/** Environment variables that hide the addon, as on a machine without a compiler. */
const WITHOUT_ADDON = { RHYTHM_ADDON: '/nowhere/rhythm.node', RHYTHM_KERNEL: '' };

describe('info', () => {
  it('shows version, digests, backends and kernels', async () => {
    const { code, stdout } = await runCli(['info']);
    expect(code).toBe(0);
    using env = createVecEnv({ numEnvs: 1, backend: 'reference' });
    expect(stdout).toMatch(/^version +\d+\.\d+\.\d+/);
    expect(stdout).toContain(env.world.digest);
    expect(stdout).toContain(layoutDigest());
    for (const backend of BACKENDS) {
      expect(stdout).toContain(`backend ${backend.name} `);
      for (const { name } of backend.kernels()) expect(stdout).toContain(`kernel ${name} `);
    }
  });

  it('shows why a backend is not available', async () => {
    const { code, stdout } = await runCli(['info'], '', WITHOUT_ADDON);
    expect(code).toBe(0);
    expect(stdout).toMatch(/backend native +not available: Expected the native addon at \/nowhere/);
    expect(stdout).toMatch(/backend reference +available/);
  });

  it('marks backends that only asynchronous environments can use, and shows whether they are available', async () => {
    const backend = new DeferredBackend();
    expect(await renderInfo(backend.platform)).toMatch(
      /\nbackend deferred +available \(by createAsyncVecEnv and commands\)\nbackend reference +available\n$/,
    );
    backend.reason = 'It is gone. Call again later.';
    expect(await renderInfo(backend.platform)).toMatch(
      /\nbackend deferred +not available: It is gone. Call again later.\n/,
    );
  });
});

describe('help', () => {
  it.each([['eval'], ['replay'], ['regrade'], ['world'], ['info']])(
    'of %s has an example',
    async (command) => {
      const { code, stdout } = await runCli([command, '--help']);
      expect(code).toBe(0);
      expect(stdout).toMatch(new RegExp(`Examples?:\n( {2}.*\n)*? {2}rhythm-vec ${command}`));
    },
  );

  it('lists commands', async () => {
    const { code, stdout } = await runCli(['--help']);
    expect(code).toBe(0);
    for (const command of ['eval', 'replay', 'regrade', 'audit', 'world', 'info'])
      expect(stdout).toContain(`  ${command}`);
  });

  it.each([
    ['eval', ['eval', '--grader', 'v9']],
    ['queue submit teach', ['queue', 'submit', 'teach', '--seeds', '100-101', '--policy', 'eval']],
  ])(
    'that an error names is that of the command that ran, %s, not of the value of a leading option',
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
});

it('--version prints the version to the standard output', async () => {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  expect(await runCli(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
});

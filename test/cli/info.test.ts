/** Tests `rhythm-vec info`, `--help` and `--version`. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
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
});

it('--version prints the version to the standard output', async () => {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  expect(await runCli(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
});

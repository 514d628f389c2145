/** Without the optional packages, commands that need none work. The errors of other commands name the packages to install. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { toCompact } from '../../src/rollouts/trajectories/compact-episode.js';
import { BarePackage, manifest } from '../support/bare-package.js';
import { compressed, tableOf } from '../support/parquet.js';
import { episodeStarts, recordEpisodes } from '../support/trajectories.js';

let bare: BarePackage;
beforeAll(() => {
  bare = new BarePackage();
  writeFileSync(join(bare.folder, 'x.txt'), 'x');
});
afterAll(() => bare.remove());

const run = (...args: string[]): string =>
  execFileSync(process.execPath, ['lib/cli.js', ...args], {
    cwd: bare.folder,
    encoding: 'utf8',
    env: { ...process.env, HF_TOKEN: 'hf_x', HF_ENDPOINT: 'http://127.0.0.1:1', OPENAI_API_KEY: 'sk-x' },
    stdio: 'pipe',
  });

it('upload is refused, and the error names the command that installs its package', () => {
  expect(() => run('upload', '--repo', 'newcomer/episodes', 'x.txt')).toThrow(
    /error: Expected @huggingface\/hub, which uploads need, got: Cannot find package '@huggingface\/hub'.* Run "npm install @huggingface\/hub@2"\./,
  );
});

it('upload --dry-run lists the files without its package', () => {
  expect(run('upload', '--dry-run', '--repo', 'newcomer/episodes', 'x.txt')).toContain('unknown  1 B  x.txt');
});

it.each([
  ['teach', ['--policy', 'llm:m', '--seeds', '100-100', '--output', 'episodes.jsonl']],
  ['eval', ['--policies', 'llm:m', '--episodes', '1']],
])(
  '%s with a language model is refused, and the error names the command that installs its packages',
  (command, args) => {
    expect(() => run(command, ...args)).toThrow(
      /error: Expected openai and fs-native-extensions, which (language models|locks of files) need, got: Cannot find package '[a-z-]+'.* Run "npm install openai@6 fs-native-extensions@1"\./,
    );
  },
);

it.each([
  ['serve', 'servers', 'hono@4 @hono/node-server@2 ws@8 prom-client@15', ['serve']],
  [
    'dataset grpo with Parquet',
    'Parquet files',
    'hyparquet@1 hyparquet-writer@0.17',
    ['dataset', 'grpo', '--rows', '1', '--output', 'rows.parquet'],
  ],
])(
  '%s is refused, and the error names one command that installs all packages for %s',
  (_, what, packages, args) => {
    expect(() => run(...args)).toThrow(
      new RegExp(`error: Expected .*, which ${what} need, .* "npm install ${packages}"`),
    );
  },
);

it.each(['dataset grpo', 'info', 'replay --help', 'eval'])(
  'an install without the optional packages runs %s',
  (command) => {
    const args = {
      'dataset grpo': ['dataset', 'grpo', '--rows', '1', '--output', 'rows.jsonl'],
      info: ['info'],
      'replay --help': ['replay', '--help'],
      eval: ['eval', '--policies', 'heuristic', '--episodes', '1'],
    }[command]!;
    expect(() => run(...args)).not.toThrow();
  },
);

it('reeval refuses a Parquet file with ZSTD, and the error names the command that installs its package', async () => {
  const [episode] = recordEpisodes(episodeStarts([100]));
  const bytes = await compressed(await tableOf([toCompact(episode)]), 'ZSTD');
  writeFileSync(join(bare.folder, 'zstd.parquet'), bytes);
  bare.install(['hyparquet']);
  expect(() => run('reeval', '--jsonl', 'zstd.parquet')).toThrow(
    /error: Expected hyparquet-compressors, which Parquet files with the compression ZSTD need, got: .* "npm install hyparquet-compressors@1"/,
  );
  bare.uninstall(['hyparquet']);
});

it('upload checks its arguments and prints its help without its package', () => {
  expect(() => run('upload', '--repo', 'newcomer/episodes', 'y.txt')).toThrow(
    /does not exist\. Check the path/,
  );
  expect(run('upload', '--help')).toContain('Usage: rhythm-vec upload');
});

it('each peer dependency is optional, and also a development dependency', () => {
  expect(Object.keys(manifest.peerDependencies)).not.toEqual([]);
  for (const name of Object.keys(manifest.peerDependencies)) {
    expect(manifest.peerDependenciesMeta[name]).toEqual({ optional: true });
    expect(manifest.dependencies).not.toHaveProperty(name);
    expect(manifest.devDependencies).toHaveProperty(name);
  }
});

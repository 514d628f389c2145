/** Without the optional packages, what needs none works. Other errors name the packages, and one command that installs them. */
import { execFileSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { toCompact } from '../../src/rollouts/trajectories/compact-episode.js';
import { BarePackage, manifest } from '../support/bare-package.js';
import { compressed, tableOf } from '../support/parquet.js';
import { episodeStarts, recordEpisodes } from '../support/trajectories.js';

const VEGA = ['vega', 'vega-lite'];
const CANVAS = '@napi-rs/canvas';
const FONT = '@expo-google-fonts/inter';

let bare: BarePackage;
beforeAll(() => {
  bare = new BarePackage();
  writeFileSync(join(bare.folder, 'x.txt'), 'x');
});
afterEach(() => bare.uninstall([...VEGA, CANVAS, FONT, 'hono', 'hyparquet']));
afterAll(() => bare.remove());

const node = (...args: string[]): string =>
  execFileSync(process.execPath, args, {
    cwd: bare.folder,
    encoding: 'utf8',
    env: { ...process.env, HF_TOKEN: 'hf_x', HF_ENDPOINT: 'http://127.0.0.1:1', OPENAI_API_KEY: 'sk-x' },
    stdio: 'pipe',
  });
const run = (command: string): string => node('lib/cli.js', ...command.split(' '));

it.each([
  ['upload --repo newcomer/episodes x.txt', '@huggingface/hub, which uploads', '@huggingface/hub@2'],
  [
    'teach --policy llm:m --seeds 100-100 --output episodes.jsonl',
    'openai and fs-native-extensions, which (language models|locks of files)',
    'openai@6 fs-native-extensions@1',
  ],
  ['serve', '.*, which servers', 'hono@4 @hono/node-server@2 ws@8 prom-client@15'],
  [
    'dataset grpo --rows 1 --output rows.parquet',
    '.*, which Parquet files',
    'hyparquet@1 hyparquet-writer@0.17',
  ],
  [
    'audit --output report',
    `vega, vega-lite, ${CANVAS} and ${FONT}, which SVG figures and PNG figures`,
    `vega@6 vega-lite@6.4 ${CANVAS}@1 ${FONT}@0.4`,
  ],
  [
    'report package.json --output report',
    `vega, vega-lite, ${CANVAS} and ${FONT}, which SVG figures and PNG figures`,
    `vega@6 vega-lite@6.4 ${CANVAS}@1 ${FONT}@0.4`,
  ],
])('%s is refused: it needs %s', (command, needed, packages) => {
  expect(() => run(command)).toThrow(
    new RegExp(`error: Expected ${needed} need, got: Cannot find [^\\n]* Run "npm install ${packages}"\\.\n`),
  );
  expect(existsSync(join(bare.folder, 'report'))).toBe(false);
});

it("info names the command that installs webgpu, also where Yarn's Plug'n'Play says that the package is missing", () => {
  const MISSING = /backend webgpu +not available: In Node .* Run npm install webgpu\.\n/;
  expect(run('info')).toMatch(MISSING);
  const error = `Object.assign(new Error('ambiguous\\n'), { code: 'MODULE_NOT_FOUND', pnpCode: 'MISSING_PEER_DEPENDENCY' })`;
  const hooks = `export const resolve = (name, context, next) => { if (name === 'webgpu') throw ${error}; return next(name); };`;
  const toUrl = (code: string) => `data:text/javascript,${encodeURIComponent(code)}`;
  const register = `import { register } from 'node:module'; register(${JSON.stringify(toUrl(hooks))});`;
  expect(node('--import', toUrl(register), 'lib/cli.js', 'info')).toMatch(MISSING);
});

it('an install without the optional packages evaluates, writes rows, and lists the files of an upload', () => {
  run('eval --policies heuristic --episodes 1');
  run('dataset grpo --rows 1 --output rows.jsonl');
  expect(run('upload --dry-run --repo newcomer/episodes x.txt')).toContain('unknown  1 B  x.txt');
});

it('reeval refuses a Parquet file with ZSTD, and the error names the command that installs its package', async () => {
  const [episode] = recordEpisodes(episodeStarts([100]));
  const bytes = await compressed(await tableOf([toCompact(episode)]), 'ZSTD');
  writeFileSync(join(bare.folder, 'zstd.parquet'), bytes);
  bare.install(['hyparquet']);
  expect(() => run('reeval --jsonl zstd.parquet')).toThrow(
    /error: Expected hyparquet-compressors, which Parquet files with the compression ZSTD need, got: .* "npm install hyparquet-compressors@1"/,
  );
});

const DRAW = `
  import { createVecEnv } from './dist/index.js';
  import { pngOf } from './dist/figures/png.js';
  import { svgOf } from './dist/figures/svg.js';
  import { drawActionSequences } from './dist/figures/action-sequences.js';
  const fields = ({ name, code, message }) => ({ name, code, message });
  const env = createVecEnv({ numEnvs: 1, backend: 'reference' });
  env.reset({ seed: 1 });
  const { actions } = env.run('heuristic', { trajectory: true }).trajectory;
  const drawing = drawActionSequences({ rows: [{ name: 'heuristic', actions }] });
  const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="2" height="2"/>';
  console.log(JSON.stringify({
    svg: await svgOf(drawing).then((svg) => svg.slice(0, 4), fields),
    png: await pngOf(svg).then((png) => png.length > 0, fields),
  }));
`;
const draw = () => JSON.parse(node('--input-type=module', '--eval', DRAW));
const refusal = (mention: string, packages: string) => ({
  name: 'LibraryError',
  code: 'library_missing',
  message: expect.stringMatching(new RegExp(`^Expected .*${mention}.*npm install ${packages}"`)) as string,
});

it('SVG and PNG are refused without drawing packages, also without one of two, and drawn with all', () => {
  expect(draw()).toEqual({
    svg: refusal("vega and vega-lite, which SVG figures need, got: Cannot find package 'vega'", 'vega.*'),
    png: refusal(`${CANVAS} and ${FONT}, which PNG figures need, got: Cannot find`, `${CANVAS}.*`),
  });
  bare.install(['vega', CANVAS]);
  expect(draw()).toEqual({
    svg: refusal("Cannot find package 'vega-lite'", 'vega@6 vega-lite@6.4'),
    png: refusal(`Cannot find module '${FONT}/`, `${CANVAS}@1 ${FONT}@0.4`),
  });
  bare.install(['vega-lite', FONT]);
  expect(draw()).toEqual({ svg: '<svg', png: true });
});

it('each peer dependency is optional, and also a development dependency', () => {
  expect(Object.keys(manifest.peerDependencies)).not.toEqual([]);
  for (const name of Object.keys(manifest.peerDependencies)) {
    expect(manifest.peerDependenciesMeta[name]).toEqual({ optional: true });
    expect(manifest.dependencies).not.toHaveProperty(name);
    expect(manifest.devDependencies).toHaveProperty(name);
  }
});

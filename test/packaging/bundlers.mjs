/**
 * `node bundlers.mjs FOLDER`, in a folder where the package is installed: bundles bundled.mjs for Node with this checkout's
 * esbuild, and with the rollup and webpack that are installed in FOLDER. Each bundle must run on the native backend while the
 * package is installed. Without the package they play in WebAssembly. Without the package but beside
 * a copy of `prebuilds` it must run on the native backend again.
 */
import { strict as assert } from 'node:assert';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';

const [folder] = process.argv.slice(2);
const ENTRY = resolve('bundled.mjs');
const OUT = resolve('bundles');
const PACKAGES = resolve('node_modules');
const BUNDLES = ['esbuild', 'rollup', 'webpack'].flatMap((name) => [`${name}.mjs`, `${name}.cjs`]);

const tools = createRequire(join(resolve(folder), 'index.js'));

async function byEsbuild() {
  const common = { entryPoints: [ENTRY], bundle: true, platform: 'node', logLevel: 'silent' };
  for (const format of ['esm', 'cjs']) {
    const outfile = join(OUT, `esbuild.${format === 'esm' ? 'mjs' : 'cjs'}`);
    const { warnings } = await build({ ...common, format, outfile });
    assert.deepEqual(warnings, []);
  }
}

async function byRollup() {
  const { rollup } = tools('rollup');
  const { default: nodeResolve } = tools('@rollup/plugin-node-resolve');
  const warnings = [];
  const bundle = await rollup({
    input: ENTRY,
    external: /^node:/,
    plugins: [nodeResolve({ exportConditions: ['node'] })],
    onwarn: ({ message }) => warnings.push(message),
  });
  for (const format of ['es', 'cjs']) {
    const file = join(OUT, `rollup.${format === 'es' ? 'mjs' : 'cjs'}`);
    await bundle.write({ file, format, inlineDynamicImports: true });
  }
  assert.deepEqual(warnings, []);
}

async function byWebpack() {
  const webpack = tools('webpack');
  const common = { target: 'node', mode: 'production', entry: ENTRY };
  for (const module of [true, false]) {
    const output = { path: OUT, filename: `webpack.${module ? 'mjs' : 'cjs'}`, module };
    const stats = await new Promise((done, fail) =>
      // Minified in one format, which takes as long as the rest.
      webpack(
        { ...common, output, optimization: { minimize: module }, experiments: { outputModule: module } },
        (error, result) => (error ? fail(error) : done(result)),
      ),
    );
    assert.equal(stats.toString({ all: false, errors: true, warnings: true }), '');
  }
}

/** Runs a program. @returns its output; if it failed, the last 4000 characters of its standard error. */
function run(path) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [path], { encoding: 'utf8' });
  return status === 0 ? stdout + stderr : stderr.slice(-4000);
}

mkdirSync(OUT, { recursive: true });
await byEsbuild();
await byRollup();
await byWebpack();

const expected = run(ENTRY);
assert.match(expected, /^native 0\.\d+,0\.\d+\n$/);
for (const name of BUNDLES) assert.equal(run(join(OUT, name)), expected, name);

// webpack stores the path of the package, so the package is moved away.
const alone = mkdtempSync(join(tmpdir(), 'rhythm-bundles-'));
renameSync(PACKAGES, `${PACKAGES}.away`);
try {
  // Also copies the chunks that webpack writes beside its bundles.
  cpSync(OUT, alone, { recursive: true });
  for (const name of BUNDLES) {
    assert.equal(run(join(alone, name)), expected.replace('native', 'wasm'), name);
  }
  cpSync(join(`${PACKAGES}.away`, 'rhythm-vec/prebuilds'), join(alone, 'prebuilds'), { recursive: true });
  for (const name of BUNDLES) assert.equal(run(join(alone, name)), expected, name);
} finally {
  renameSync(`${PACKAGES}.away`, PACKAGES);
  rmSync(alone, { recursive: true });
}
console.log(`${BUNDLES.join(', ')}: ${expected.trim()}`);

/**
 * Compiles native/ to WebAssembly, and writes src/engine/backends/wasm/generated/binary.ts: the binary, and the digest of all that
 * determines its bytes. The compiler is clang as a WebAssembly program, so every machine makes the same bytes.
 * With --check, fails if the sources have changed since. With --compare, compiles again and fails if a byte differs.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

const ROOT = new URL('../../', import.meta.url);
const OUTPUT = new URL('src/engine/backends/wasm/generated/binary.ts', ROOT);
const read = (path) => readFileSync(new URL(path, ROOT), 'utf8');

const gyp = read('binding.gyp');
/** Sources of the addon that need Node, glibc or threads, or choose among kernels. */
const LEFT_OUT = [
  'addon',
  'glibc',
  'kernels',
  'kernel_scalar',
  'kernel_avx2',
  'kernel_avx512',
  'thread_pool',
];
const sources = ['wasm', ...Array.from(gyp.matchAll(/"native\/(\w+)\.cc"/g), ([, name]) => name)]
  .filter((name) => !LEFT_OUT.includes(name))
  .map((name) => `native/${name}.cc`);
const rounding = JSON.parse(/"rounding": (\[.*?\])/s.exec(gyp)[1]).filter((flag) => flag !== '-O3');
const FLAGS = [
  '--target=wasm32-wasip1',
  '-mexec-model=reactor',
  '-msimd128',
  ...rounding,
  '-O2',
  '-fno-exceptions',
  '-fno-rtti',
  '-Inative',
  // The memory comes from outside, and its size is the batch's. Rows of a replay need most of the stack.
  ...['--import-memory', '-z', 'stack-size=262144', '--strip-all'].map((flag) => `-Wl,${flag}`),
];
/** All files that the sources include. */
const files = readdirSync(new URL('native', ROOT), { recursive: true })
  .filter((file) => /\.(h|inl|cc)$/.test(file))
  .map((file) => `native/${file}`)
  .sort();
const lock = JSON.parse(readFileSync(new URL('package-lock.json', import.meta.url), 'utf8'));
const compiler = lock.packages['node_modules/@yowasp/clang'].integrity;
const hash = createHash('sha256').update(JSON.stringify([compiler, FLAGS, sources]));
const digest = files.reduce((sum, file) => sum.update(file).update(read(file)), hash).digest('hex');

async function compile() {
  const { runClang } = await import('@yowasp/clang');
  const tree = {};
  for (const file of files) {
    const [name, ...folders] = file.split('/').reverse();
    folders.reverse().reduce((folder, key) => (folder[key] ??= {}), tree)[name] = read(file);
  }
  const { 'rhythm.wasm': binary } = await runClang(
    ['clang++', ...FLAGS, ...sources, '-o', 'rhythm.wasm'],
    tree,
  );
  return Buffer.from(binary);
}

const moduleOf = (binary) => `/** Written by \`npm run build:wasm\`. Do not edit. */

/** SHA-256 of the compiler, the options and the sources. */
export const SOURCES_DIGEST = '${digest}';

/** The WebAssembly binary of native/, in base64. */
export const BINARY: string =
  '${binary.toString('base64')}';
`;

const { values } = parseArgs({ options: { check: { type: 'boolean' }, compare: { type: 'boolean' } } });
const fail = (problem) => {
  console.error(`${problem} Run \`npm run build:wasm\`.`);
  process.exit(1);
};
if (values.check) {
  if (!readFileSync(OUTPUT, 'utf8').includes(`'${digest}'`)) fail('The sources have changed.');
} else {
  const text = moduleOf(await compile());
  if (!values.compare) writeFileSync(OUTPUT, text);
  else if (text !== readFileSync(OUTPUT, 'utf8')) fail('The compiler makes another binary.');
}

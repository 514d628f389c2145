/**
 * Measures the share of mutations of native/ that the engine's tests detect: draws small mutations with a seed, compiles
 * an addon with each and runs the tests on it. A mutant is killed if a test fails or hangs; otherwise it survives. Prints the
 * survivors and the share of killed mutants. Mutates a copy, never the sources.
 */
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import seedrandom from 'seedrandom';
import { nativeBackend } from '../src/engine/backends/native.js';

const USAGE = `Usage: npm run mutate:native -- [--mutants 60] [--seed 1] [--from 0] [--only TEXT]

--mutants  number of tested mutants; those that do not compile are not counted
--seed     chooses the mutants and their order
--from     leaves out this many mutants at the beginning of the order, to continue a run
--only     mutates only lines whose "file:line", such as batch.cc:12, contains this text

Needs g++ (or CXX) and the headers of Node. Takes about half a minute of processor time per mutant.`;

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const FOLDER = join(ROOT, 'build-mutate');
const COPY = join(FOLDER, 'native');

/** The tests that run on each mutant, by their paths in test/. */
const TESTS = [
  'engine/golden',
  'engine/one-step',
  'engine/one-seed',
  'engine/metamorphic',
  'engine/changed-world',
  'engine/backends/gather',
  'engine/backends/save-load',
  'engine/backends/batch-masks',
  'engine/backends/replay',
  'engine/backends/addon-overlap',
  'engine/backends/addon-fuzz',
  'engine/vec-env/run',
  'engine/vec-env/assign',
  'engine/vec-env/runs',
  'engine/vec-env/starts',
  'engine/vec-env/fork',
  'engine/vec-env/autoreset-sequences',
  'rollouts/replay',
];
/**
 * The time limit of a mutant's tests, in milliseconds. Chosen by hand: a lower limit counts slow mutants as killed, a higher
 * one waits longer for tests that hang.
 */
const TEST_LIMIT = 240_000;

/** Files that are not mutated: generated constants, what only prebuilds have, the list of kernels, macros. */
const LEFT_OUT = /generated|glibc\.cc|kernels\.cc|inline\.h/;
/** Lines that are not mutated: code that changes only the speed, and compile-time checks. */
const NOT_MUTATED =
  /prefetch|kEnvsInCache|kMinTiles|kStepBytes|AdjustExternalMemory|reserve\(|alignas|static_assert/;

/** The flags for the instruction set of each kernel, as in binding.gyp. */
const KERNEL_FLAGS: Readonly<Record<string, readonly string[]>> = {
  avx512: ['-mavx512f', '-mavx512bw', '-mavx512dq', '-mavx512vl', '-mprefer-vector-width=512'],
  avx2: ['-mavx2'],
  portable: [],
  scalar: [],
};

interface Mutant {
  /** The name of the file in native/. */
  readonly file: string;
  readonly line: number;
  readonly before: string;
  readonly after: string;
}

/** Operators and their replacements. The spaces distinguish them from brackets of templates, pointers and signs. */
const OPERATORS: readonly (readonly [string, string])[] = [
  [' < ', ' <= '],
  [' <= ', ' < '],
  [' > ', ' >= '],
  [' >= ', ' > '],
  [' == ', ' != '],
  [' != ', ' == '],
  [' && ', ' || '],
  [' || ', ' && '],
  [' + ', ' - '],
  [' - ', ' + '],
  [' * ', ' + '],
  [' & ', ' | '],
  [' | ', ' & '],
  [' ^ ', ' | '],
  [' >> ', ' << '],
  [' << ', ' >> '],
];
/** An integer that is not part of a name or of a number with a point. */
const INTEGER = /(?<![\w.])\d+(?=u?\b(?!\.))/g;
/** A name, a number, an element of an array, or a call with at most one argument. */
const SIMPLE = String.raw`[\w.:>[\]-]+(?:\([\w.]*\))?`;
/** Two arguments of a call, which a mutation swaps. */
const ARGUMENTS = new RegExp(String.raw`(?<=[\w>]\(|, )(${SIMPLE}), (${SIMPLE})(?=[,)])`, 'g');
/** Mutations remove one-line statements, except jumps (`return`, `break`, ...) and declarations. */
const STATEMENT = /^\s+(?!return|using|namespace|struct|case|break|continue|template)[^\s{}].*[)\w\]];$/;
const DECLARATION = /^\s+(?:const |constexpr |static |auto )|^\s+[\w:<>]+[*&]? \w+(?:\[.*\])*(?: = |;|\(|,)/;

const replaceAt = (text: string, at: number, length: number, by: string): string =>
  text.slice(0, at) + by + text.slice(at + length);

/** Returns all mutations of one line. */
function mutationsOf(line: string): string[] {
  const code = line.replace(/\s*\/\/.*$/, '');
  if (/^\s*#|"/.test(code) || NOT_MUTATED.test(code)) return [];
  const operators = OPERATORS.flatMap(([from, to]) =>
    [...code.matchAll(new RegExp(from.replace(/[*+|^]/g, '\\$&'), 'g'))].map(({ index }) =>
      replaceAt(code, index, from.length, to),
    ),
  );
  const constants = [...code.matchAll(INTEGER)].flatMap(({ index, 0: digits }) =>
    [1, -1].map((step) => replaceAt(code, index, digits.length, `${Number(digits) + step}`)),
  );
  const swaps = [...code.matchAll(ARGUMENTS)].map(({ index, 0: both, 1: one, 2: other }) =>
    replaceAt(code, index, both.length, `${other}, ${one}`),
  );
  const isStatement = STATEMENT.test(code) && !DECLARATION.test(code);
  const dropped = isStatement ? [code.replace(/\S.*/, ';')] : [];
  return [...operators, ...constants, ...swaps, ...dropped].filter((after) => after !== code);
}

/** Returns all mutants, in the order of files and lines. */
function allMutants(): Mutant[] {
  const files = readdirSync(join(ROOT, 'native')).filter((file) => /\.(cc|h|inl)$/.test(file));
  return files
    .filter((file) => !LEFT_OUT.test(file) && usable(file))
    .sort()
    .flatMap((file) =>
      readFileSync(join(ROOT, 'native', file), 'utf8')
        .split('\n')
        .flatMap((before, k) => mutationsOf(before).map((after) => ({ file, line: k + 1, before, after }))),
    );
}

const KERNELS = nativeBackend
  .kernels()
  .filter(({ available }) => available)
  .map(({ name }) => name);
/** Returns the kernel of a file such as lanes_avx2.h; undefined for a file that all kernels share. */
const kernelOf = (file: string): string | undefined => /^(?:lanes|kernel)_(\w+)\./.exec(file)?.[1];
/** Returns whether this machine can run the code of a file. */
const usable = (file: string): boolean => KERNELS.includes(kernelOf(file) ?? KERNELS[0]);

function shuffled<T>(entries: readonly T[], seed: string): T[] {
  const random = seedrandom(seed);
  const order = [...entries];
  for (let i = order.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [order[i], order[j]] = [order[j], order[i]];
  }
  return order;
}

/** The sources that every addon contains, besides its kernel and the list of kernels. */
const UNITS = ['addon', 'batch', 'neutral', 'replay', 'tables', 'thread_pool'];
const sourceOf = (unit: string): string => join(COPY, `${unit}.cc`);
const objectOf = (unit: string, folder = 'unmutated'): string => join(FOLDER, folder, `${unit}.o`);

const HEADERS = [join(dirname(process.execPath), '../include/node'), '/usr/include/node'].find((path) =>
  existsSync(join(path, 'node_api.h')),
);
const NODE_ADDON_API = dirname(createRequire(import.meta.url).resolve('node-addon-api'));
/** As in binding.gyp, but with -O1, which compiles faster, and without warnings. */
const FLAGS = [
  ...['-std=c++17', '-O1', '-fPIC', '-ffp-contract=off', '-fno-fast-math', '-fvisibility=hidden', '-w'],
  ...['-DNAPI_VERSION=8', '-DNODE_ADDON_API_DISABLE_DEPRECATED', '-DNODE_ADDON_API_DISABLE_CPP_EXCEPTIONS'],
  ...(process.arch === 'x64' ? ['-DRHYTHM_X64'] : []),
  ...[`-I${COPY}`, `-I${NODE_ADDON_API}`, `-I${HEADERS}`],
];

/** Runs the C++ compiler. Returns its output if it succeeds, else null. */
function runCompiler(...args: string[]): string | null {
  const { status, stdout } = spawnSync(process.env.CXX ?? 'g++', args, { encoding: 'utf8' });
  return status === 0 ? stdout : null;
}

const flagsOf = (unit: string): string[] => [...FLAGS, ...(KERNEL_FLAGS[kernelOf(`${unit}.cc`) ?? ''] ?? [])];
const compile = (unit: string, to: string): boolean =>
  runCompiler(...flagsOf(unit), '-c', sourceOf(unit), '-o', to) !== null;

/** Returns whether a unit includes a file. */
const isAffected = (unit: string, file: string): boolean => dependencies(unit).includes(file);
const includedFiles = new Map<string, string[]>();
function dependencies(unit: string): string[] {
  const found =
    includedFiles.get(unit) ??
    (runCompiler(...flagsOf(unit), '-MM', sourceOf(unit)) ?? '').split(/\s+/).map((path) => basename(path));
  includedFiles.set(unit, found);
  return found;
}

/** Links an addon that has only this kernel. Returns its path; null if linking fails. */
function link(name: string, kernel: string, objects: readonly string[]): string | null {
  const to = join(FOLDER, name);
  const linked =
    runCompiler('-shared', '-pthread', ...objects, objectOf(`kernels-${kernel}`), '-o', to) !== null;
  return linked ? to : null;
}

/** Compiles everything without mutations, and for each kernel a list that contains only this kernel. */
function prepare(): void {
  rmSync(FOLDER, { recursive: true, force: true });
  mkdirSync(join(FOLDER, 'unmutated'), { recursive: true });
  mkdirSync(join(FOLDER, 'mutated'));
  cpSync(join(ROOT, 'native'), COPY, { recursive: true });
  const list = readFileSync(sourceOf('kernels'), 'utf8');
  for (const kernel of KERNELS) {
    const only = list.replace(/^ *\{&(\w+)::kernel, \w+\},\n/gm, (row, name) => (name === kernel ? row : ''));
    writeFileSync(sourceOf(`kernels-${kernel}`), only);
  }
  const units = [...UNITS, ...KERNELS.flatMap((kernel) => [`kernel_${kernel}`, `kernels-${kernel}`])];
  for (const unit of units) {
    if (!compile(unit, objectOf(unit)))
      throw new Error(`Expected ${unit}.cc to compile, got a compiler error.`);
  }
}

/** Returns whether the tests pass on an addon, within the time limit. */
function passes(addon: string): Promise<boolean> {
  const files = TESTS.map((name) => `test/${name}`);
  const args = [
    'vitest',
    'run',
    '--project',
    'unit',
    '--bail=1',
    '--maxWorkers=1',
    '--reporter=dot',
    ...files,
  ];
  const env = { ...process.env, RHYTHM_ADDON: addon, RHYTHM_SKIP: 'webgpu', RHYTHM_REQUIRE: 'native' };
  const tests = spawn('npx', args, { cwd: ROOT, env, stdio: 'ignore', detached: true });
  // The workers of Vitest are in the process group of the child. A worker that hangs in native code ignores other signals.
  const limit = setTimeout(() => process.kill(-tests.pid!, 'SIGKILL'), TEST_LIMIT);
  return new Promise((resolve) => {
    tests.once('exit', (status) => {
      clearTimeout(limit);
      resolve(status === 0);
    });
  });
}

type Outcome = 'killed' | 'survived' | 'does not compile';

/** Compiles a mutant, and runs the tests on it with a kernel. */
async function tryMutant({ file, line, after }: Mutant, kernel: string): Promise<Outcome> {
  const path = join(COPY, file);
  const text = readFileSync(path, 'utf8');
  const lines = text.split('\n');
  lines[line - 1] = after;
  writeFileSync(path, lines.join('\n'));
  try {
    const units = [...UNITS, `kernel_${kernel}`];
    const affected = units.filter((unit) => isAffected(unit, file));
    if (!affected.every((unit) => compile(unit, objectOf(unit, 'mutated')))) return 'does not compile';
    const objects = units.map((unit) => objectOf(unit, affected.includes(unit) ? 'mutated' : 'unmutated'));
    const addon = link('mutated.node', kernel, objects);
    if (addon === null) return 'does not compile';
    return (await passes(addon)) ? 'survived' : 'killed';
  } finally {
    writeFileSync(path, text);
  }
}

const { values } = parseArgs({
  options: {
    mutants: { type: 'string', default: '60' },
    seed: { type: 'string', default: '1' },
    from: { type: 'string', default: '0' },
    only: { type: 'string', default: '' },
    help: { type: 'boolean', short: 'h', default: false },
  },
});
if (values.help) {
  console.log(USAGE);
  process.exit();
}

prepare();
const unmutated = link(
  'unmutated.node',
  KERNELS[0],
  [...UNITS, `kernel_${KERNELS[0]}`].map((unit) => objectOf(unit)),
);
if (unmutated === null || !(await passes(unmutated)))
  throw new Error(
    'Expected the tests to pass without a mutation, got a failure. Run them on the unchanged sources first.',
  );
const order = shuffled(
  allMutants().filter(({ file, line }) => `${file}:${line}`.includes(values.only)),
  values.seed,
);
const survivors: string[] = [];
let tested = 0;
for (let k = Number(values.from); k < order.length && tested < Number(values.mutants); k++) {
  const mutant = order[k];
  // A mutant of a shared file runs on one kernel; the kernels take turns.
  const kernel = kernelOf(mutant.file) ?? KERNELS[k % KERNELS.length];
  const outcome = await tryMutant(mutant, kernel);
  if (outcome === 'does not compile') continue;
  tested++;
  const change = `${mutant.file}:${mutant.line} (${kernel})\n    - ${mutant.before.trim()}\n    + ${mutant.after.trim()}`;
  console.log(`${k} ${outcome}: ${change}`);
  if (outcome === 'survived') survivors.push(change);
}
const killed = tested - survivors.length;
console.log(`\nSurvivors:\n${survivors.join('\n') || 'none'}`);
console.log(`\n${killed} of ${tested} mutants killed: ${((100 * killed) / tested).toFixed(1)} %`);

/** Compiles the addon with node-gyp. */
import { cpSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { BackendError } from '../../shared/errors.js';
import { describeFailure } from './describe-failure.js';
import { findNodeGyp } from './find-node-gyp.js';
import { runProcess } from './run-process.js';

export interface CompileOptions {
  /** Ends the compilation. */
  readonly signal?: AbortSignal;
  /** Called when the compilation of a file begins. @param done the number of files that began before it. */
  readonly onFile?: (done: number, total: number, name: string) => void;
  /** Further options of node-gyp, which set variables of `binding.gyp`: `--name=value`. */
  readonly options?: readonly string[];
}

/**
 * Compiles the `binding.gyp` of a folder into its `build/Release`. If this fails, an addon that was compiled before stays.
 * @throws BackendError `addon_missing` with what is missing, or the compiler's first errors; the signal's reason.
 */
export async function compileAddon(
  root: string,
  { signal, onFile, options = [] }: CompileOptions = {},
): Promise<void> {
  signal?.throwIfAborted();
  const nodeGyp = findNodeGyp();
  if (nodeGyp === null) {
    throw new BackendError(
      'addon_missing',
      'Expected node-gyp on the PATH or in npm, found none. Install npm, or run "npm install --global node-gyp".',
    );
  }
  // Not `rebuild`, which begins by deleting the earlier build.
  const args = ['configure', 'build', '--jobs', 'max', ...headersOption(), ...options];
  const onLine = onFile === undefined ? () => {} : reportFiles(join(root, 'build'), onFile);
  const { succeeded, output } = await runProcess([...nodeGyp, ...args], root, onLine, signal);
  signal?.throwIfAborted();
  if (!succeeded) throw new BackendError('addon_missing', describeFailure(output));
}

/** The folder of the copy that `compileCopy` compiles. */
const COPY = 'build-addon';

/**
 * Compiles a copy of the package's sources, so that nothing else in the package changes. Deletes the copy afterwards.
 * @param use called with the path of the addon. @throws as `compileAddon`.
 */
export async function compileCopy(
  root: string,
  use: (addon: string) => void,
  options: CompileOptions = {},
): Promise<void> {
  // Below the package, so that node-addon-api is found.
  const copy = join(root, COPY);
  // An installed package has the file in lib: beside package.json, pnpm and Yarn would compile it during installation.
  const gyp = ['binding.gyp', 'lib/binding.gyp'].map((path) => join(root, path)).find(existsSync);
  rmSync(copy, { recursive: true, force: true });
  try {
    cpSync(join(root, 'native'), join(copy, 'native'), { recursive: true });
    cpSync(gyp ?? join(root, 'binding.gyp'), join(copy, 'binding.gyp'));
    await compileAddon(copy, options);
    use(join(copy, 'build/Release/rhythm.node'));
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

/** Returns the option that takes the headers beside Node, if they are there. Else node-gyp downloads them. */
function headersOption(): string[] {
  const prefix = join(dirname(process.execPath), '..');
  const isKnown = process.env.npm_config_nodedir || !existsSync(join(prefix, 'include/node/node_api.h'));
  return isKnown ? [] : [`--nodedir=${prefix}`];
}

/** Returns a function that reads the lines of make or MSBuild, and reports the files that they compile. */
function reportFiles(build: string, onFile: NonNullable<CompileOptions['onFile']>): (line: string) => void {
  const begun = new Set<string>();
  return (line) => {
    const [, name] = /^ *(?:CXX\(.*native\/)?(\w+)\.(?:o|cc)$/.exec(line) ?? [];
    if (name === undefined || begun.has(name)) return;
    const total = sourcesOf(build).size;
    onFile(begun.size, total, `native/${name}.cc`);
    begun.add(name);
  };
}

/** Returns the names of the sources in the files that gyp has written for make or MSBuild. */
function sourcesOf(build: string): Set<string> {
  const files = readdirSync(build).filter((name) => /\.(?:mk|vcxproj)$/.test(name));
  const texts = files.map((name) => readFileSync(join(build, name), 'utf8'));
  return new Set(texts.join('\n').match(/(?<=native[\\/])\w+(?=\.(?:o|cc)\b)/g));
}

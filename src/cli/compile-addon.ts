/** Compiles the addon with node-gyp: finds it, runs it, and says what is missing when it fails. */

import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { BackendError } from '../shared/errors.js';

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
  const jobs = process.env.JOBS || 'max';
  const args = ['configure', 'build', '--jobs', jobs, ...headersOption(), ...options];
  const onLine = onFile === undefined ? () => {} : reportFiles(join(root, 'build'), onFile);
  const { succeeded, output } = await runProcess([...nodeGyp, ...args], root, onLine, signal);
  signal?.throwIfAborted();
  if (!succeeded) throw new BackendError('addon_missing', describeFailure(output));
}

/**
 * Compiles a copy of the package's sources, so that nothing else in the package changes. Deletes the copy afterwards.
 * @param use called with the path of the addon. @throws as `compileAddon`.
 */
export async function compileCopy(
  root: string,
  use: (addon: string) => void,
  options: CompileOptions = {},
): Promise<void> {
  // An installed package has the file in lib: beside package.json, pnpm and Yarn would compile it during installation.
  const gyp = ['binding.gyp', 'lib/binding.gyp'].map((path) => join(root, path)).find(existsSync);
  // Below the package, so that node-addon-api is found. Another name for each build: two may run at the same time.
  const copy = explained(() => mkdtempSync(join(root, 'build-addon-')));
  try {
    explained(() => {
      cpSync(join(root, 'native'), join(copy, 'native'), { recursive: true });
      cpSync(gyp ?? join(root, 'binding.gyp'), join(copy, 'binding.gyp'));
    });
    await compileAddon(copy, options);
    use(join(copy, 'build/Release/rhythm.node'));
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

/** Calls a function. @throws BackendError `addon_missing`, which names what is missing, for its error. */
function explained<Result>(call: () => Result): Result {
  try {
    return call();
  } catch (cause) {
    throw new BackendError('addon_missing', describeFailure((cause as Error).message), { cause });
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

const IS_WINDOWS = process.platform === 'win32';
/** The program of node-gyp, relative to a folder with packages. */
const PROGRAM = 'node_modules/node-gyp/bin/node-gyp.js';

/**
 * Returns the command that runs node-gyp: the one that npm names in a variable, else the one of this Node's npm, else that of
 * the npm on the PATH, else the one on the PATH. The last is not the first, because Yarn puts a command of this name on the PATH
 * that needs node-gyp as a dependency. @returns null if there is none.
 */
export function findNodeGyp(env = process.env, node = process.execPath): readonly string[] | null {
  // Bun and Deno run this too.
  const { bun, deno } = process.versions;
  const program = bun === undefined && deno === undefined ? node : 'node';
  if (env.npm_config_node_gyp) return [program, env.npm_config_node_gyp];
  const installed = findOnPath('node-gyp', env);
  const folders = npmFolders(env, node);
  // On Windows a command on the PATH is a batch file beside node_modules, and needs a shell. The program needs none.
  if (installed !== null && IS_WINDOWS) folders.push(dirname(installed));
  const nodeGyp = folders.map((folder) => join(folder, PROGRAM)).find(existsSync);
  if (nodeGyp !== undefined) return [program, nodeGyp];
  return installed === null || IS_WINDOWS ? null : [installed];
}

/** Returns the folders where npm may be. */
function npmFolders(env: NodeJS.ProcessEnv, node: string): string[] {
  const npm = findOnPath('npm', env);
  const folder = dirname(realpathSync(node));
  const own = join(folder, IS_WINDOWS ? 'node_modules/npm' : '../lib/node_modules/npm');
  if (npm === null) return [own];
  return [own, IS_WINDOWS ? join(dirname(npm), 'node_modules/npm') : join(dirname(realpathSync(npm)), '..')];
}

function findOnPath(name: string, env: NodeJS.ProcessEnv): string | null {
  const folders = (env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  const file = IS_WINDOWS ? `${name}.cmd` : name;
  return folders.map((folder) => join(folder, file)).find(existsSync) ?? null;
}

/** The end of a process. */
export interface Ended {
  /** Whether its exit code was 0. */
  readonly succeeded: boolean;
  /** What it printed. */
  readonly output: string;
}

/**
 * Runs a command in a folder. Does not throw if it cannot be started: the output says so.
 * @param onLine called for each printed line. @param signal ends the process and its children.
 */
export async function runProcess(
  [command, ...args]: readonly string[],
  cwd: string,
  onLine: (line: string) => void,
  signal?: AbortSignal,
): Promise<Ended> {
  // Detached, so that it leads a group, which also has its children.
  const child = spawn(command, args, {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: !IS_WINDOWS,
    windowsHide: true,
  });
  const lines: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    createInterface(stream).on('line', (line) => {
      lines.push(line);
      onLine(line);
    });
  }
  const end = () => endGroup(child.pid);
  signal?.addEventListener('abort', end);
  const succeeded = await new Promise<boolean>((resolve) => {
    child.on('error', (error) => lines.push(error.message));
    child.on('close', (code) => resolve(code === 0));
  });
  signal?.removeEventListener('abort', end);
  return { succeeded, output: lines.join('\n') };
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  if (IS_WINDOWS) spawn('taskkill', ['/pid', `${pid}`, '/T', '/F'], { stdio: 'ignore' });
  else process.kill(-pid, 'SIGTERM');
}

/** A cause: a pattern of the output that shows it, whose group is what came; what was expected; the remedy. */
type Cause = readonly [pattern: RegExp, expected: string, remedy: string];

const COMPILER =
  'Install make and a C++17 compiler, such as build-essential of Debian, or set CXX to the compiler.';

/** The causes in the order in which node-gyp meets them. */
const CAUSES: readonly Cause[] = [
  [/((?:EACCES|EPERM|EROFS).*)/, 'a folder that can be written', 'Run this as the owner of the folder.'],
  [/(.*(?:ENOSPC|No space left).*)/, 'space on the disk', 'Delete other files.'],
  [/(Could not find any Python.*)/, 'Python 3', 'Install it, or set PYTHON to its path.'],
  [
    /http (GET \S+)[\s\S]*install got an error/,
    "an answer with Node's headers",
    'Allow node-gyp to download them, or set npm_config_nodedir to a folder that has include/node.',
  ],
  [/(Could not find any Visual Studio.*)/, 'Visual Studio', 'Install its build tools for C++, with Clang.'],
  [
    /(Cannot find module 'node-addon-api')/,
    'node-addon-api',
    'Install rhythm-vec again, with its dependencies.',
  ],
  [/(not found: make)/, 'make', COMPILER],
  [/(.*xcode-select.*|.*No Xcode.*)/, 'the command line tools of Xcode', 'Run "xcode-select --install".'],
  [/(.*\bKilled\b.*)/, 'enough memory', 'Close other programs, or set JOBS=1 to compile one file at a time.'],
  [
    /((?:make: .*|FileNotFoundError.*)No such file.*|.*: (?:command )?not found|.*cc1plus.*)/,
    'a C++17 compiler',
    COMPILER,
  ],
  [/(.*\berror\b.*)/i, 'a compiler that accepts the sources', 'Use a newer C++17 compiler, or report this.'],
];

/** Returns the message of a failed compilation. @param output what node-gyp printed. */
export function describeFailure(output: string): string {
  for (const [pattern, expected, remedy] of CAUSES) {
    const got = pattern.exec(output)?.[1];
    if (got !== undefined) return message(expected, got, remedy);
  }
  return message('node-gyp to succeed', output.slice(-400), 'Run node-gyp to see more.');
}

const message = (expected: string, got: string, remedy: string): string =>
  `Expected ${expected}, to compile the addon, got: ${got.trim().replace(/\.?$/, '.')} ${remedy}`;

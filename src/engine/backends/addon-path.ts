/** Finds the files that may be the C++ addon, and tells what may prevent loading them: another C library, missing permissions. */

import { closeSync, existsSync, openSync, readFileSync, readSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readVariable } from '../../shared/variables.js';

/** Returns whether the runtime may not read a file: Node with its permission model, or Deno. */
const isDenied = (error: unknown): boolean =>
  codeOf(error) === 'ERR_ACCESS_DENIED' || (error as Error).name === 'NotCapable';

/**
 * Returns the flags that allow to load an addon.
 * @param folder the folder to read. @returns null for an error of another kind.
 */
export function permissionRemedy(error: unknown, folder: string): string | null {
  if (codeOf(error) === 'ERR_DLOPEN_DISABLED')
    return 'Run node with --allow-addons, and without --no-addons.';
  if (!isDenied(error)) return null;
  return codeOf(error) === 'ERR_ACCESS_DENIED'
    ? `Run node with --allow-addons and --allow-fs-read=${folder}.`
    : 'Run deno with --allow-read and --allow-ffi, and with --allow-env if RHYTHM_ADDON is set.';
}

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;

const PACKAGE = 'rhythm-vec';
const FILE = 'rhythm.node';
/** The folder of this platform's prebuilds, relative to the package or bundle. */
const PREBUILDS = join('prebuilds', `${process.platform}-${process.arch}`);

/** The addon that was compiled here, relative to the package. */
export const COMPILED = join('build/Release', FILE);

/** Returns whether a file or folder exists. One that may not be read counts, so that loading it tells why it fails. */
function exists(path: string): boolean {
  try {
    return existsSync(path);
  } catch {
    return true;
  }
}

/**
 * Returns the folder of this module. In a bundle it is the bundle's folder. CommonJS bundles have no `import.meta.url`. In
 * bundles of webpack, `import.meta.url` is the path of this module on the machine that bundled. If neither it nor `__dirname`
 * gives an existing folder, returns the folder of the program's main file.
 */
function moduleFolder(): string {
  const { url } = import.meta as { url?: string };
  const folders = [
    ...(url === undefined ? [] : [dirname(fileURLToPath(url))]),
    ...(typeof __dirname === 'string' ? [__dirname] : []),
  ];
  return folders.find(exists) ?? dirname(resolve(process.argv[1] ?? ''));
}

const FOLDER = moduleFolder();

/** The package's folder, relative to this module's folder: from lib, and from src/engine/backends or dist/engine/backends. */
const ABOVE = ['..', '../../..'];

/** The package's folder; null in a bundle outside the package. */
export const PACKAGE_ROOT = ABOVE.map((path) => resolve(FOLDER, path)).find(isPackage) ?? null;

/** Returns whether a folder is the package's, also where the package may not be read. */
function isPackage(folder: string): boolean {
  try {
    return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).name === PACKAGE;
  } catch (error) {
    return isDenied(error);
  }
}

/** The command that compiles the addon. With Yarn's Plug'n'Play, npx would look for the package in npm's registry. */
const BUILD = `"${process.versions.pnp === undefined ? 'npx' : 'yarn'} ${PACKAGE} build"`;

/** The remedy in errors about the addon. A compiled addon also replaces a bad prebuild, since it takes precedence. */
export const BUILD_REMEDY =
  PACKAGE_ROOT === null
    ? `This program is bundled. Keep ${PACKAGE} out of the bundle (esbuild --external:${PACKAGE}; external: ['${PACKAGE}'] in ` +
      `rollup; externals in webpack) and install it where the bundle runs, or copy its folder prebuilds to ${FOLDER}, or ` +
      "set RHYTHM_ADDON to the addon's path. To do without it, pass backend: 'wasm'."
    : `Run ${BUILD}, which compiles it in ${PACKAGE_ROOT} (needs Python 3 and a C++17 compiler).`;

/** The remedy in errors about the addon that the variable names: while it is set, no other addon is loaded. */
const VARIABLE_REMEDY = `The variable RHYTHM_ADDON names it: unset it, or set it to another addon, such as one that ${BUILD} compiles.`;

/** The files that may be the addon. */
export interface AddonFiles {
  /** The paths, in the order in which to load them. */
  readonly paths: readonly string[];
  /** The folders that were searched. */
  readonly where: string;
  /** The remedy if no file loads. Default: `BUILD_REMEDY`. */
  readonly remedy?: string;
}

/** The files of the package or bundle. Opening a batch searches them several times. */
let cachedFiles: AddonFiles | undefined;

/**
 * Finds the files that may be the addon: the environment variable `RHYTHM_ADDON` alone if it is set, even if there is no such
 * file; else those of the package or bundle.
 */
export function findAddons(): AddonFiles {
  const path = readVariable('RHYTHM_ADDON');
  if (path) return { paths: [resolve(path)], where: 'at RHYTHM_ADDON', remedy: VARIABLE_REMEDY };
  cachedFiles ??= PACKAGE_ROOT === null ? addonsOfBundle(FOLDER) : addonsOfPackage(PACKAGE_ROOT);
  return cachedFiles;
}

/**
 * Finds the addon that was compiled here, and this platform's prebuild.
 * @param root the folder with `build` and `prebuilds`.
 */
export function addonsOfPackage(root: string = PACKAGE_ROOT ?? FOLDER, musl: boolean = isMusl()): AddonFiles {
  return {
    paths: [join(root, COMPILED), ...prebuildsIn(root, musl)].filter(exists),
    where: `in ${root} (build/Release, or ${describePrebuilds(musl)})`,
  };
}

/**
 * Finds the addons for a bundle: prebuilds that were copied beside it, then the addons of the installed package.
 * @param folder the bundle's folder.
 */
export function addonsOfBundle(folder: string, musl: boolean = isMusl()): AddonFiles {
  const root = installedPackage(folder);
  const installed = root === null ? [] : addonsOfPackage(root, musl).paths;
  return {
    paths: [...prebuildsIn(folder, musl).filter(exists), ...installed],
    where: `in ${folder} (${describePrebuilds(musl)}), or in a package ${PACKAGE} installed above it`,
  };
}

const isMusl = (): boolean => process.platform === 'linux' && runsOnMusl();

/** Returns the path of this platform's prebuild; none on musl, where a prebuild for glibc may crash. */
const prebuildsIn = (root: string, musl: boolean): string[] => (musl ? [] : [join(root, PREBUILDS, FILE)]);

const describePrebuilds = (musl: boolean): string =>
  musl ? `${PREBUILDS}, which needs glibc, but this system has musl` : PREBUILDS;

/** Returns the folder of the package that is installed in a folder or above it; null if there is none. */
function installedPackage(folder: string): string | null {
  try {
    // Bundlers would change the calls of an imported createRequire.
    const { createRequire } = process.getBuiltinModule('node:module');
    return dirname(createRequire(join(folder, 'bundle.js')).resolve(`${PACKAGE}/package.json`));
  } catch {
    return null;
  }
}

/** The first bytes of an executable, which include the path of its dynamic loader. */
const HEAD_BYTES = 4096;

/**
 * Returns whether this process runs on musl. Its executable names the dynamic loader of its C library. If it names none of
 * the two, or may not be read, the process's report decides, which takes milliseconds.
 */
export function runsOnMusl(executable: string = process.execPath): boolean {
  const [, libc] = /\/ld-(musl|linux)/.exec(headOf(executable)) ?? [];
  return libc === undefined ? !reportsGlibc() : libc === 'musl';
}

function headOf(path: string): string {
  try {
    const file = openSync(path, 'r');
    const head = Buffer.alloc(HEAD_BYTES);
    readSync(file, head);
    closeSync(file);
    return head.toString('latin1');
  } catch {
    return '';
  }
}

/** Returns whether the report names a version of glibc, also if there is no report: most systems have glibc. */
function reportsGlibc(): boolean {
  try {
    const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } };
    return header.glibcVersionRuntime !== undefined;
  } catch {
    return true;
  }
}

/** Finds the file of the C++ addon. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BackendError } from '../../shared/errors.js';

const PACKAGE = 'rhythm-vec';
const FILE = 'rhythm.node';
/** The folder of this platform's prebuilds, relative to the package or bundle. */
const PREBUILDS = join('prebuilds', `${process.platform}-${process.arch}`);

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
  return folders.find(existsSync) ?? dirname(resolve(process.argv[1] ?? ''));
}

const FOLDER = moduleFolder();

/** The package's folder, relative to this module's folder: from lib, and from src/engine/backends or dist/engine/backends. */
const ABOVE = ['..', '../../..'];

/** The package's folder; null in a bundle outside the package. */
const PACKAGE_ROOT = ABOVE.map((path) => resolve(FOLDER, path)).find(isPackage) ?? null;

function isPackage(folder: string): boolean {
  try {
    return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).name === PACKAGE;
  } catch {
    return false;
  }
}

/** The remedy in errors about the addon. A built addon also replaces a bad prebuild, since it takes precedence. */
export const BUILD_REMEDY =
  PACKAGE_ROOT === null
    ? `This program is bundled. Keep ${PACKAGE} out of the bundle (esbuild --external:${PACKAGE}; external: ['${PACKAGE}'] in ` +
      `rollup; externals in webpack) and install it where the bundle runs, or copy its folder prebuilds to ${FOLDER}, or ` +
      "set RHYTHM_ADDON to the addon's path. To do without it, pass backend: 'reference'."
    : `Run "npm run build:addon" in ${PACKAGE_ROOT} (needs Python 3 and a C++17 compiler).`;

/** The path of the addon that was found. Opening a batch calls `addonPath` several times. */
let cachedPath: string | undefined;

/**
 * Returns the path of the addon: the environment variable `RHYTHM_ADDON` if it is set, even if there is no such file; else the
 * addon of the package or bundle.
 * @throws BackendError `addon_missing`.
 */
export function addonPath(): string {
  if (process.env.RHYTHM_ADDON) return resolve(process.env.RHYTHM_ADDON);
  cachedPath ??= PACKAGE_ROOT === null ? bundleAddon(FOLDER) : packageAddon(PACKAGE_ROOT);
  return cachedPath;
}

/**
 * Returns the path of the addon that was compiled here, else the path of this platform's prebuild. A compiled addon takes
 * precedence even if it is stale, because a prebuild may be older still. Loading a stale addon fails with `addon_stale`.
 * @param root the folder with `build` and `prebuilds`.
 * @throws BackendError `addon_missing`.
 */
export function packageAddon(root: string = PACKAGE_ROOT ?? FOLDER): string {
  const path = [join(root, 'build/Release', FILE), ...prebuildsIn(root)].find(existsSync);
  if (path !== undefined) return path;
  throw missing(`in ${root} (build/Release, or ${PREBUILDS})`);
}

/**
 * Returns the path of the addon for a bundle: prebuilds that were copied beside it, else the addon of the installed
 * package.
 * @param folder the bundle's folder.
 * @throws BackendError `addon_missing`.
 */
export function bundleAddon(folder: string): string {
  const copy = prebuildsIn(folder).find(existsSync);
  if (copy !== undefined) return copy;
  const root = installedPackage(folder);
  if (root !== null) return packageAddon(root);
  throw missing(`in ${join(folder, PREBUILDS)}, or in a package ${PACKAGE} installed above it`);
}

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

/** Returns the paths that this platform's prebuild may have. Alpine's libc is musl. */
function prebuildsIn(root: string): string[] {
  const libc = existsSync('/etc/alpine-release') ? 'musl' : 'glibc';
  const names = process.platform === 'linux' ? [FILE.replace('.', `.${libc}.`), FILE] : [FILE];
  return names.map((name) => join(root, PREBUILDS, name));
}

const missing = (where: string): BackendError =>
  new BackendError('addon_missing', `Expected the native addon ${where}, found none. ${BUILD_REMEDY}`);

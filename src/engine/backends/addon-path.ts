/** Finds the file of the C++ addon. */
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BackendError } from '../../shared/errors.js';

/** The package's folder, which is at the same relative path from src/engine/backends and dist/engine/backends. */
const PACKAGE_ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** `node-gyp-build`, which has no types. */
const nodeGypBuild = createRequire(import.meta.url)('node-gyp-build') as { resolve(root: string): string };

/** The remedy in errors about the addon. It also works for a bad prebuild, since a built addon takes precedence. */
export const BUILD_REMEDY = `Run "npm run build:addon" in ${PACKAGE_ROOT} (needs Python 3 and a C++17 compiler).`;

/** The result of the first `addonPath`. Opening a batch calls it several times. */
let cachedPath: string | undefined;

/**
 * Returns the path of the addon: `RHYTHM_ADDON`, even if there is no such file, else the package's addon.
 * @throws BackendError `addon_missing`.
 */
export function addonPath(): string {
  if (process.env.RHYTHM_ADDON) return resolve(process.env.RHYTHM_ADDON);
  cachedPath ??= packageAddon();
  return cachedPath;
}

/**
 * Returns the path of the addon that was compiled here, else of the prebuild for this platform. A compiled addon takes
 * precedence even if it is stale, because a prebuild may be older still. Loading a stale addon fails with `addon_stale`.
 * @param root the folder with `build` and `prebuilds`.
 * @throws BackendError `addon_missing`.
 */
export function packageAddon(root: string = PACKAGE_ROOT): string {
  try {
    return nodeGypBuild.resolve(root);
  } catch (cause) {
    throw new BackendError(
      'addon_missing',
      `Expected the native addon in ${root} (build/Release, or prebuilds for ${process.platform}-${process.arch}), ` +
        `found none. ${BUILD_REMEDY}`,
      { cause },
    );
  }
}

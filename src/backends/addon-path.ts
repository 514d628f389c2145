/** Where the file of the C++ addon is, and what to do if there is none. */
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BackendError } from '../errors.js';

/** From src/backends and dist/backends alike. */
const PACKAGE_ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** It has no types of its own. */
const nodeGypBuild = createRequire(import.meta.url)('node-gyp-build') as { resolve(root: string): string };

/** What an error about the addon ends with. What it builds comes before a prebuild, so it cures a bad one too. */
export const BUILD_REMEDY = `Run "npm run build:addon" in ${PACKAGE_ROOT} (needs Python 3 and a C++17 compiler).`;

/** A found file is not looked for again: each opening asks several times. */
let found: string | undefined;

/**
 * The addon to load: what `RHYTHM_ADDON` names, there or not, else the package's own.
 * @throws BackendError `addon_missing`.
 */
export function addonPath(): string {
  if (process.env.RHYTHM_ADDON) return resolve(process.env.RHYTHM_ADDON);
  found ??= packageAddon();
  return found;
}

/**
 * The addon that was compiled here, else the prebuild for this platform. The compiled one comes first even where it is
 * stale and a prebuild would do: that is a checkout whose sources changed, and what is then wanted is a new build, not
 * a prebuild of unknown age. Whoever loads it learns so from `addon_stale`.
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

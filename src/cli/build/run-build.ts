/** Compiles the package's addon, and loads it. */
import { join } from 'node:path';
import { openAddon } from '../../engine/backends/addon.js';
import { BUILD_REMEDY, COMPILED, PACKAGE_ROOT } from '../../engine/backends/addon-path.js';
import { BackendError } from '../../shared/errors.js';
import { createProgress } from '../progress.js';
import { compileAddon } from './compile-addon.js';

/**
 * Compiles the addon, loads it and prints its path and kernels.
 * @throws BackendError `addon_missing` if it cannot be compiled or does not load; the signal's reason.
 */
export async function runBuild(signal: AbortSignal): Promise<void> {
  if (PACKAGE_ROOT === null)
    throw new BackendError('addon_missing', `Expected the package's folder, got a bundle. ${BUILD_REMEDY}`);
  const progress = createProgress('files');
  try {
    await compileAddon(PACKAGE_ROOT, { signal, onFile: progress.update });
  } finally {
    progress.stop();
  }
  const { addon, path } = openAddon({ paths: [join(PACKAGE_ROOT, COMPILED)], where: '' });
  const kernels = addon.kernels().filter(({ supported }) => supported);
  process.stdout.write(`Compiled ${path}: kernels ${kernels.map(({ name }) => name).join(', ')}.\n`);
}

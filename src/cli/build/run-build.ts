/** Compiles the package's addon, and loads it. */
import { existsSync, mkdirSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { openAddon } from '../../engine/backends/addon.js';
import { BUILD_REMEDY, COMPILED, PACKAGE_ROOT } from '../../engine/backends/addon-path.js';
import { BackendError } from '../../shared/errors.js';
import { createProgress } from '../progress.js';
import { type CompileOptions, compileAddon, compileCopy } from './compile-addon.js';

/**
 * Compiles the addon, loads it and prints its path and kernels.
 * @throws BackendError `addon_missing` if it cannot be compiled or does not load; the signal's reason.
 */
export async function runBuild(signal: AbortSignal): Promise<void> {
  if (PACKAGE_ROOT === null)
    throw new BackendError('addon_missing', `Expected the package's folder, got a bundle. ${BUILD_REMEDY}`);
  const path = join(PACKAGE_ROOT, COMPILED);
  const progress = createProgress('files');
  try {
    await compile(PACKAGE_ROOT, path, { signal, onFile: progress.update });
  } finally {
    progress.stop();
  }
  const kernels = openAddon({ paths: [path], where: '' }).addon.kernels();
  const usable = kernels.filter(({ supported }) => supported).map(({ name }) => name);
  process.stdout.write(`Compiled ${path}: kernels ${usable.join(', ')}.\n`);
}

/** In a checkout only files that changed are compiled again, so it keeps the compiled files. */
async function compile(root: string, path: string, options: CompileOptions): Promise<void> {
  if (existsSync(join(root, 'binding.gyp'))) return await compileAddon(root, options);
  const move = (addon: string) => {
    mkdirSync(dirname(path), { recursive: true });
    renameSync(addon, path);
  };
  await compileCopy(root, move, options);
}

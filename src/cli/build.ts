/** `rhythm-vec build`: compiles the native addon. */

import { existsSync, mkdirSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Command } from 'commander';
import { openAddon } from '../engine/backends/addon.js';
import { BUILD_REMEDY, COMPILED, PACKAGE_ROOT } from '../engine/backends/addon-path.js';
import { BackendError } from '../shared/errors.js';
import { type CompileOptions, compileAddon, compileCopy } from './compile-addon.js';
import type { Context } from './context.js';
import { createProgress } from './progress.js';

const HELP = `
The package has addons for common platforms, and needs this command only where none of them loads: "rhythm-vec info" says so.
Compilation takes a minute or two. It needs Python 3, and a C++17 compiler: GCC or Clang with make, or Visual Studio with Clang.
If it fails or is interrupted, an addon that was compiled before stays.

Example:
  rhythm-vec build
`;

export function defineBuild(command: Command, { signal }: Context): void {
  command.addHelpText('after', HELP).action(() => runBuild(signal));
}

/**
 * Compiles the addon, loads it and prints its path and kernels.
 * @throws BackendError `addon_missing` if it cannot be compiled or does not load; the signal's reason.
 */
async function runBuild(signal: AbortSignal): Promise<void> {
  if (PACKAGE_ROOT === null)
    throw new BackendError('addon_missing', `Expected the package's folder, got a bundle. ${BUILD_REMEDY}`);
  const path = join(PACKAGE_ROOT, COMPILED);
  using progress = createProgress('files');
  await compile(PACKAGE_ROOT, path, { signal, onFile: progress.update });
  progress.stop();
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

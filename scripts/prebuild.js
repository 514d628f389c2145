/**
 * Builds the addon for installations without a compiler: prebuilds/<platform>-<arch>/rhythm.node. The addon uses only Node-API,
 * so one file serves every Node version. It contains every kernel of its architecture, and runs the fastest that the processor
 * supports. On Linux it needs glibc 2.28 or later, and no libstdc++.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compileAddon } from '../dist/cli/build/compile-addon.js';
import { checkSymbolVersions } from './symbol-versions.js';

const root = fileURLToPath(new URL('..', import.meta.url));
// Builds a copy, so that build/ keeps its addon. Below the root, so that node-addon-api is found.
const copy = join(root, 'build-prebuild');
const folder = join(root, 'prebuilds', `${process.platform}-${process.arch}`);

rmSync(copy, { recursive: true, force: true });
try {
  for (const name of ['binding.gyp', 'native'])
    cpSync(join(root, name), join(copy, name), { recursive: true });
  await compileAddon(copy, { options: ['--rhythm_prebuild=yes'] });
  const addon = join(copy, 'build/Release/rhythm.node');
  if (process.platform === 'linux') checkSymbolVersions(addon);
  if (process.platform === 'darwin') execFileSync('strip', ['-Sx', addon]);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  cpSync(addon, join(folder, 'rhythm.node'));
} finally {
  rmSync(copy, { recursive: true, force: true });
}

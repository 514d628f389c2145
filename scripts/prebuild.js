/**
 * Builds the addon for installations without a compiler: prebuilds/<platform>-<arch>/rhythm.node. The addon uses only Node-API,
 * so one file serves every Node version. It contains every kernel of its architecture, and runs the fastest that the processor
 * supports. On Linux it needs glibc 2.28 or later, and no libstdc++.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { compileCopy } from '../dist/cli/compile-addon.js';
import { checkSymbolVersions } from './symbol-versions.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = `${root}prebuilds/${process.platform}-${process.arch}`;

function store(addon) {
  if (process.platform === 'linux') checkSymbolVersions(addon);
  if (process.platform === 'darwin') execFileSync('strip', ['-Sx', addon]);
  rmSync(folder, { recursive: true, force: true });
  cpSync(addon, `${folder}/rhythm.node`);
}

await compileCopy(root, store, { options: ['--rhythm_prebuild=yes'] });

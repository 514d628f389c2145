/**
 * Builds the addon for installations without a compiler: prebuilds/<platform>-<arch>/rhythm[.<libc>].node. The addon uses
 * only Node-API, so one file serves every Node version. It contains every kernel of its architecture, and runs the fastest
 * that the processor supports.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import prebuildify from 'prebuildify';

const root = fileURLToPath(new URL('..', import.meta.url));
// Builds a copy, because prebuildify deletes build/. Below the root, so that node-addon-api is found.
const buildFolder = join(root, 'build-prebuild');

rmSync(buildFolder, { recursive: true, force: true });
try {
  for (const name of ['binding.gyp', 'native'])
    cpSync(join(root, name), join(buildFolder, name), { recursive: true });
  await promisify(prebuildify)({
    cwd: buildFolder,
    out: root,
    name: 'rhythm',
    napi: true,
    // Uses the headers of this Node. By default prebuildify downloads those of the newest Node.
    targets: [process.versions.node],
    cache: join(root, 'node_modules/.cache/prebuildify'),
    strip: spawnSync('strip', ['--version']).error === undefined,
    tagLibc: process.platform === 'linux',
  });
} finally {
  rmSync(buildFolder, { recursive: true, force: true });
}

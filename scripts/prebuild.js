/**
 * Makes the addon that an installation uses without a compiler, prebuilds/<platform>-<arch>/rhythm[.<libc>].node. Only
 * Node-API is used, so one file serves every version of Node; every kernel is in it, and the processor decides.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import prebuildify from 'prebuildify';

const root = fileURLToPath(new URL('..', import.meta.url));
// Not in build/, which would be deleted and then lack the addon. Below the root, where node-addon-api is found.
const workshop = join(root, 'build-prebuild');

rmSync(workshop, { recursive: true, force: true });
try {
  for (const name of ['binding.gyp', 'native'])
    cpSync(join(root, name), join(workshop, name), { recursive: true });
  await promisify(prebuildify)({
    cwd: workshop,
    out: root,
    name: 'rhythm',
    napi: true,
    // This Node's headers are here or soon needed; prebuildify would take those of the newest Node that it knows.
    targets: [process.versions.node],
    cache: join(root, 'node_modules/.cache/prebuildify'),
    strip: spawnSync('strip', ['--version']).error === undefined,
    tagLibc: process.platform === 'linux',
  });
} finally {
  rmSync(workshop, { recursive: true, force: true });
}

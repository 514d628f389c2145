/**
 * Runs on installation, and compiles the addon where it is needed. If that fails, the installation still succeeds: the
 * reference backend then does all the work, and `rhythm-vec info` says so.
 *
 * An installed package is compiled only if its prebuild does not load, such as one for another libc. A checkout is always
 * compiled, because an addon of older sources may have the same layout.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
/** Whether this is a checkout. A package contains no src. */
const isCheckout = existsSync(new URL('../src', import.meta.url));

async function hasAddon() {
  const { loadAddon } = await import('../dist/engine/backends/addon.js');
  const { packageAddon } = await import('../dist/engine/backends/addon-path.js');
  try {
    loadAddon(packageAddon());
    return true;
  } catch {
    return false;
  }
}

function build() {
  const nodeGyp = createRequire(import.meta.url).resolve('node-gyp/bin/node-gyp.js');
  // Not `rebuild`, which begins by deleting the earlier build.
  return spawnSync(process.execPath, [nodeGyp, 'configure', 'build'], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    encoding: 'utf8',
  });
}

function warn({ stdout, stderr }) {
  const lines = `${stdout ?? ''}${stderr ?? ''}`.trim().split('\n');
  const errors = lines.filter((line) => /error|not found|could not/i.test(line));
  const tail = (errors.length > 0 ? errors : lines).slice(0, 8).join('\n  ');
  console.warn(
    'rhythm-vec: the native addon was not built. The reference backend does the work instead, about a hundred ' +
      `times slower.\n  ${tail}\n  To build it: install Python 3 and a C++17 compiler, then run "npm run build:addon" ` +
      `in ${root}.`,
  );
}

if (isCheckout || !(await hasAddon())) {
  const outcome = build();
  if (outcome.status !== 0) warn(outcome);
}

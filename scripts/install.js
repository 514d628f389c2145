/**
 * Sees on installation that there is an addon: the prebuild that the package came with, or one compiled here. Without
 * either the installation still succeeds: the reference backend then does all the work, and `rhythm-vec info` says so.
 *
 * In an installed package nothing is compiled if an addon is there that loads and is of the package's layout; a
 * prebuild for another libc or an older system is not such a one. A checkout is always compiled, prebuild or not: its
 * sources change, and a prebuild of yesterday's would go unnoticed as long as the layout stays.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
/** The package has no src: it comes compiled. */
const isCheckout = existsSync(new URL('../src', import.meta.url));

async function hasAddon() {
  const { loadAddon } = await import('../dist/backends/addon.js');
  const { packageAddon } = await import('../dist/backends/addon-path.js');
  try {
    loadAddon(packageAddon());
    return true;
  } catch {
    return false;
  }
}

function build() {
  const nodeGyp = createRequire(import.meta.url).resolve('node-gyp/bin/node-gyp.js');
  // Not rebuild, which begins by deleting what an earlier build has left.
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
    'rhythm-vec: the native addon was not built; without one the reference backend does the work, about a hundred ' +
      `times slower.\n  ${tail}\n  To build it: install Python 3 and a C++17 compiler, then run "npm run build:addon" ` +
      `in ${root}.`,
  );
}

if (isCheckout || !(await hasAddon())) {
  const outcome = build();
  if (outcome.status !== 0) warn(outcome);
}

/**
 * Runs on installation, and compiles the addon where it is needed. If compiling fails, it warns, and the installation still
 * succeeds.
 *
 * An installed package is compiled only if it has no addon that loads: its prebuild may be missing, or for another libc. A
 * checkout is always compiled, because an addon compiled from older sources may load too.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
/** Whether this is a checkout. A package contains no src. */
const isCheckout = existsSync(new URL('../src', import.meta.url));

async function hasAddon() {
  // Test the package's own addon, not one that RHYTHM_ADDON names.
  delete process.env.RHYTHM_ADDON;
  const { listBackends } = await import('../lib/env.js');
  return listBackends().some(({ name, available }) => name === 'native' && available);
}

/** Runs node-gyp. npm names its own in a variable; other package managers put it on the PATH. */
function build() {
  const nodeGyp = process.env.npm_config_node_gyp;
  const [command, ...first] = nodeGyp ? [process.execPath, nodeGyp] : ['node-gyp'];
  // Not `rebuild`, which begins by deleting the earlier build.
  return spawnSync(command, [...first, 'configure', 'build', '--jobs', 'max'], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    encoding: 'utf8',
  });
}

function warn({ stdout, stderr, error }) {
  const lines = `${stdout ?? ''}${stderr ?? ''}${error ? `could not start node-gyp: ${error.message}` : ''}`
    .trim()
    .split('\n');
  const errors = lines.filter((line) => /error|not found|could not/i.test(line));
  // At most eight lines, chosen by hand, so that the warning stays short.
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

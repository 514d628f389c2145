/**
 * Builds the addon on installation. Without a compiler the installation still succeeds: the reference backend then
 * does all the work, and `rhythm-vec info` says so.
 */
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';

function build() {
  const nodeGyp = createRequire(import.meta.url).resolve('node-gyp/bin/node-gyp.js');
  // Not rebuild, which begins by deleting what an earlier build has left.
  return spawnSync(process.execPath, [nodeGyp, 'configure', 'build'], {
    stdio: ['ignore', 'pipe', 'pipe'],
    encoding: 'utf8',
  });
}

const { status, stdout, stderr } = build();
if (status !== 0) {
  const lines = `${stdout ?? ''}${stderr ?? ''}`.trim().split('\n');
  const errors = lines.filter((line) => /error|not found|could not/i.test(line));
  const tail = (errors.length > 0 ? errors : lines).slice(0, 8).join('\n  ');
  console.warn(
    'rhythm-vec: the native addon was not built; the reference backend will be used, about a hundred times slower.\n' +
      `  ${tail}\n  To build it: install Python 3 and a C++17 compiler, then run "npm run build:addon".`,
  );
}

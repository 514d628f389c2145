/**
 * `node measure.mjs TARBALL`, in a folder where the tarball is installed: compares its size, the number of packages, their size
 * and the time of `import 'rhythm-vec'` with the limits below, and exits with 1 if one is exceeded. The optional packages must
 * not be installed.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

// The limits and STARTS are chosen by hand. An install with a prebuild has 11 packages and 12 MB (README.md).

const MAX_PACKAGES = 40;
/** The limit of the tarball, and of the installed packages with one prebuild. */
const MAX_MB = 12;
/** Milliseconds that the import may take in addition to the start of Node. */
const MAX_IMPORT_MS = 60;
/** How often Node starts with the import, and as often without it. */
const STARTS = 7;

const packed = statSync(process.argv[2]).size / 1e6;
const { packages } = JSON.parse(readFileSync('node_modules/.package-lock.json', 'utf8'));
const count = Object.keys(packages).length;
const files = readdirSync('node_modules', { recursive: true }).map((path) =>
  statSync(join('node_modules', path)),
);
const megabytes = files.reduce((sum, stat) => sum + (stat.isFile() ? stat.size : 0), 0) / 1e6;

/** Returns the milliseconds that Node takes to start and run a module. */
function timeOf(code) {
  const start = performance.now();
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', code]);
  if (status !== 0) throw new Error(String(stderr));
  return performance.now() - start;
}
const median = (times) => times.sort((a, b) => a - b)[Math.floor(times.length / 2)];

const bare = [];
const loaded = [];
for (let k = 0; k < STARTS; k++) {
  bare.push(timeOf(''));
  loaded.push(timeOf("import 'rhythm-vec'"));
}
const start = median(bare);
const importMs = median(loaded) - start;

console.log(`packages  ${count} (limit ${MAX_PACKAGES})`);
console.log(`tarball   ${packed.toFixed(1)} MB (limit ${MAX_MB})`);
console.log(`size      ${megabytes.toFixed(1)} MB (limit ${MAX_MB})`);
console.log(
  `import    ${importMs.toFixed(0)} ms (limit ${MAX_IMPORT_MS}) after a start of ${start.toFixed(0)} ms`,
);
// On a busy machine Node itself starts slowly, so the import fails only if it also takes more than twice as long as the start.
const slow = importMs > MAX_IMPORT_MS && importMs > 2 * start;
if (count > MAX_PACKAGES || Math.max(packed, megabytes) > MAX_MB || slow) process.exitCode = 1;

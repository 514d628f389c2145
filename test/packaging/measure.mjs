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
/** How often Node starts with the import, and as often without it: more often if a busy machine keeps it above the limit. */
const STARTS = 15;
const MOST_STARTS = 100;

const packed = statSync(process.argv[2]).size / 1e6;
const { packages } = JSON.parse(readFileSync('node_modules/.package-lock.json', 'utf8'));
const count = Object.keys(packages).length;
const files = readdirSync('node_modules', { recursive: true }).map((path) =>
  statSync(join('node_modules', path)),
);
const megabytes = files.reduce((sum, stat) => sum + (stat.isFile() ? stat.size : 0), 0) / 1e6;

/**
 * Returns the milliseconds that Node takes to start and run a module: the elapsed time, or the processor time of all threads if
 * that is less. Other processes lengthen only the first, and Node's own threads count only in the second.
 */
function timeOf(code) {
  const start = performance.now();
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [
      '--input-type=module',
      '--eval',
      `${code}; const { user, system } = process.cpuUsage(); console.log(user + system)`,
    ],
    { encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(stderr);
  return Math.min(performance.now() - start, Number(stdout) / 1e3);
}

// The lowest times: those of a moment when the machine did nothing else. On a slow machine Node itself starts slowly.
let [start, importMs] = [Infinity, Infinity];
const isSlow = () => importMs > Math.max(MAX_IMPORT_MS, start);
for (let k = 0, loaded = Infinity; k < STARTS || (k < MOST_STARTS && isSlow()); k++) {
  start = Math.min(start, timeOf(''));
  loaded = Math.min(loaded, timeOf("import 'rhythm-vec'"));
  importMs = loaded - start;
}

console.log(`packages  ${count} (limit ${MAX_PACKAGES})`);
console.log(`tarball   ${packed.toFixed(1)} MB (limit ${MAX_MB})`);
console.log(`size      ${megabytes.toFixed(1)} MB (limit ${MAX_MB})`);
console.log(
  `import    ${importMs.toFixed(0)} ms (limit ${MAX_IMPORT_MS}) after a start of ${start.toFixed(0)} ms`,
);
if (count > MAX_PACKAGES || Math.max(packed, megabytes) > MAX_MB || isSlow()) process.exitCode = 1;

/**
 * Compiles `dist` and `lib` if lib/cli.js is older than `src`. Where a test imports a module of `src`, Vitest loads the
 * compiled module of `dist` (see vitest.config.ts).
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const BUILT_FILE = `${ROOT}lib/cli.js`;

const changedAt = (path: string): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;

export default function compile(): void {
  const sources = readdirSync(`${ROOT}src`, { recursive: true, encoding: 'utf8' });
  const newest = Math.max(...sources.map((path) => changedAt(`${ROOT}src/${path}`)));
  if (newest > changedAt(BUILT_FILE))
    execFileSync('npm', ['run', '--silent', 'compile'], { cwd: ROOT, stdio: 'inherit' });
}

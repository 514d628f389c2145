/** Compiles `dist` before the tests if it is older than `src`: child processes of tests run `dist`. */
import { execFileSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const MARK = `${ROOT}dist/cli/main.js`;

const changedAt = (path: string): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;

export default function compile(): void {
  const sources = readdirSync(`${ROOT}src`, { recursive: true, encoding: 'utf8' });
  const newest = Math.max(...sources.map((path) => changedAt(`${ROOT}src/${path}`)));
  if (newest > changedAt(MARK))
    execFileSync('npm', ['run', '--silent', 'prepare'], { cwd: ROOT, stdio: 'inherit' });
}

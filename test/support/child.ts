/** Runs code in a child process, for code that a process runs only once or that may crash it. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export interface Outcome {
  readonly status: number | null;
  /** The printed JSON, parsed; null if nothing was printed. */
  readonly output: unknown;
  readonly stderr: string;
}

/**
 * Runs code of an ES module, which can import from `./dist`. The code calls `print(value)` to print JSON.
 * @param env variables added to this process's own; undefined removes one. @param flags of node.
 */
export function runChild(
  code: string,
  env: Record<string, string | undefined> = {},
  flags: readonly string[] = [],
): Outcome {
  const prelude = 'const print = (value) => console.log(JSON.stringify(value));\n';
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [...flags, '--input-type=module', '--eval', prelude + code],
    { cwd: ROOT, env: { ...process.env, ...env }, encoding: 'utf8' },
  );
  return { status, output: stdout.trim() === '' ? null : JSON.parse(stdout), stderr };
}

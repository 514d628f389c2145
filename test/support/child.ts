/** Running a snippet in a process of its own: for what a process decides once, and for what could end one. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export interface Outcome {
  readonly status: number | null;
  /** What it printed, parsed. */
  readonly said: unknown;
  readonly stderr: string;
}

/**
 * Runs ES module code that can import from `./src`; `say(value)` prints JSON.
 * @param env variables added to this process's own; undefined removes one. @param flags of node.
 */
export function runChild(
  code: string,
  env: Record<string, string | undefined> = {},
  flags: readonly string[] = [],
): Outcome {
  const prelude = 'const say = (value) => console.log(JSON.stringify(value));\n';
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [...flags, '--import', 'tsx', '--input-type=module', '--eval', prelude + code],
    { cwd: ROOT, env: { ...process.env, ...env }, encoding: 'utf8' },
  );
  return { status, said: stdout.trim() === '' ? null : JSON.parse(stdout), stderr };
}

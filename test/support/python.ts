/** Other people's libraries, asked in a Python process of their own. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { isRequired } from './required.js';

/** An interpreter that has the libraries to compare with: `RHYTHM_PYTHON`, else `python3`. */
const PYTHON = process.env.RHYTHM_PYTHON ?? 'python3';

/**
 * What a script of test/peers answers: JSON in, JSON out. It runs offline, as no comparison may depend on a network.
 * @throws Error with the last line of what it says when it fails.
 */
export function askPython<Answer>(script: string, question: unknown): Answer {
  const path = fileURLToPath(new URL(`../peers/${script}`, import.meta.url));
  const env = { ...process.env, HF_HUB_OFFLINE: '1' };
  const options = { input: JSON.stringify(question), env, encoding: 'utf8' } as const;
  const limits = { timeout: 100_000, maxBuffer: 2 ** 28 };
  const { error, status, stdout, stderr } = spawnSync(PYTHON, [path], { ...options, ...limits });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(stderr.trim().split('\n').pop());
  return JSON.parse(stdout) as Answer;
}

/**
 * Why a library cannot be asked here; null if it can.
 * @param question asked to find that out. @throws if `RHYTHM_REQUIRE` names the library and it cannot.
 */
export function whyAbsent(
  library: string,
  version: string,
  script: string,
  question: unknown,
): string | null {
  try {
    askPython(script, question);
    return null;
  } catch (error) {
    if (isRequired(library)) throw error;
    return `${(error as Error).message}; install ${library} ${version} for the Python that RHYTHM_PYTHON names`;
  }
}

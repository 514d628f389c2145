/** Runs Python scripts of this project and of test/peers. */
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { delimiter } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { isRequired } from './required.js';

/** The interpreter: `RHYTHM_PYTHON`, else `python3`. It must have the Python libraries with which tests compare results. */
const PYTHON = process.env.RHYTHM_PYTHON ?? 'python3';

/** The time in which `askPython` expects an answer. Then the script is killed. */
const LIMIT_MS = 100_000;

const pathOf = (script: string): string => fileURLToPath(new URL(`../peers/${script}`, import.meta.url));

/**
 * Starts a script of this project, named by its path from the root.
 * @param settings further environment variables.
 * @param launcher options of Python that come before the script, such as a module that launches it.
 */
export function startPython(
  script: string,
  args: readonly string[],
  settings: Readonly<Record<string, string>> = {},
  launcher: readonly string[] = [],
): ChildProcessWithoutNullStreams {
  const path = fileURLToPath(new URL(`../../${script}`, import.meta.url));
  return spawn(PYTHON, [...launcher, path, ...args], { env: { ...environment(), ...settings } });
}

/** Returns the environment variables of scripts: offline, and with this project's Python files on the path. */
function environment(): NodeJS.ProcessEnv {
  const own = fileURLToPath(new URL('../../python', import.meta.url));
  const path = [own, process.env.PYTHONPATH].filter(Boolean).join(delimiter);
  return { ...process.env, HF_HUB_OFFLINE: '1', PYTHONPATH: path, PYTHONDONTWRITEBYTECODE: '1' };
}

function answerOf<Answer>(status: number | null, stdout: string, stderr: string): Answer {
  if (status !== 0) throw new Error(stderr.trim().split('\n').pop());
  return JSON.parse(stdout) as Answer;
}

/**
 * Runs a script of test/peers with JSON on its standard input, and parses its output.
 * @throws Error with the last line of the script's standard error if it fails.
 */
export function askPython<Answer>(script: string, question: unknown): Answer {
  const options = { input: JSON.stringify(question), env: environment(), encoding: 'utf8' } as const;
  const limits = { timeout: LIMIT_MS, maxBuffer: 2 ** 28 };
  const { error, status, stdout, stderr } = spawnSync(PYTHON, [pathOf(script)], { ...options, ...limits });
  if (error !== undefined) throw error;
  return answerOf(status, stdout, stderr);
}

/** Does the same as `askPython` without blocking, for scripts that call a server of this process. */
export async function askPythonAsync<Answer>(script: string, question: unknown): Promise<Answer> {
  const child = spawn(PYTHON, [pathOf(script)], { env: environment(), timeout: LIMIT_MS });
  child.stdin.end(JSON.stringify(question));
  const [[status], stdout, stderr] = await Promise.all([
    once(child, 'close') as Promise<[number | null]>,
    text(child.stdout),
    text(child.stderr),
  ]);
  return answerOf(status, stdout, stderr);
}

/** The answer of a script, or the reason why its library cannot be used here. */
export type AnswerOrReason<Answer> =
  | { readonly absent: null; readonly answer: Answer }
  | { readonly absent: string; readonly answer: null };

/**
 * Runs a script that needs a library, as `askPython` does.
 * @throws Error, instead of returning the reason, if `RHYTHM_REQUIRE` names the library.
 */
export function tryPython<Answer>(
  library: string,
  version: string,
  script: string,
  question: unknown,
): AnswerOrReason<Answer> {
  try {
    return { absent: null, answer: askPython<Answer>(script, question) };
  } catch (error) {
    if (isRequired(library)) throw error;
    const remedy = `install ${library} ${version} for the Python that RHYTHM_PYTHON names`;
    return { absent: `${(error as Error).message}; ${remedy}`, answer: null };
  }
}

/**
 * Returns the reason why a library cannot be used here, or null if a trial run of a script succeeds.
 * @param question the input of the trial run.
 * @throws Error, instead of returning the reason, if `RHYTHM_REQUIRE` names the library.
 */
export const whyAbsent = (
  library: string,
  version: string,
  script: string,
  question: unknown,
): string | null => tryPython(library, version, script, question).absent;

/** Runs Python scripts of this project. */
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { delimiter } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';
import { forkCommand, startForkServer } from './fork-server.js';
import { isRequired } from './required.js';

/** The interpreter: `RHYTHM_PYTHON`, else `python3`. */
const PYTHON = process.env.RHYTHM_PYTHON ?? 'python3';

/** The time in which a script must answer `askPython` or `askPythonAsync`. Then it is killed. Chosen by hand. */
const LIMIT_MS = 100_000;

/** One thread, so that every run adds numbers in the same order. TRL's libraries read this when they are imported. */
const ONE_THREAD = { OMP_NUM_THREADS: '1', MKL_NUM_THREADS: '1' };

const RHYTHM_VEC = [
  'remote',
  'replay',
  'rewards',
  'rollouts',
  'scores',
  'serving',
  'student',
  'texts',
  'vec_env',
];

/** The modules that are imported before most scripts are forked. */
const COMMON = ['numpy', 'gymnasium', ...RHYTHM_VEC.map((name) => `rhythm_vec.${name}`)];
/** The modules that are imported before scripts with TRL are forked: also those that the recipe imports. */
export const TRL = [
  ...['grpo_trainer', 'rloo_trainer', 'sft_trainer'].map((name) => `trl.trainer.${name}`),
  ...['gymnasium', 'rhythm_vec', 'transformers.models.llama.modeling_llama'],
];
/** The modules that are imported before scripts with PyArrow are forked. */
export const PYARROW = ['pyarrow.parquet'];

/** Returns the path of a file of this project. */
export const pathOf = (file: string): string => fileURLToPath(new URL(`../../${file}`, import.meta.url));

/** Starts a command, such as the words of `forkOf` and the path of a script. */
export const start = (
  [command, ...args]: readonly string[],
  timeout?: number,
): ChildProcessWithoutNullStreams => spawn(command, args, { env: environment(), timeout });

/**
 * Starts a script of this project, named by its path from the root, in a process of its own.
 * @param settings further environment variables.
 */
export function startPython(
  script: string,
  args: readonly string[],
  settings: Readonly<Record<string, string>> = {},
): ChildProcessWithoutNullStreams {
  return spawn(PYTHON, [pathOf(script), ...args], { env: { ...environment(), ...settings } });
}

/**
 * Returns the first words of a command; Python's arguments follow. The command runs in a fork of a process that has imported
 * `modules`, if `setup` started such a process; else in a new interpreter.
 */
export const forkOf = (modules: readonly string[]): readonly string[] => forkCommand(PYTHON, modules);

/** Global setup of the projects with many scripts: starts the processes that scripts are forked from, for all workers. */
export default function setup(project: TestProject): void {
  // Forking a process with Apple's libraries is not safe, and Windows has no fork.
  if (process.platform !== 'linux') return;
  const servers = [COMMON, TRL, PYARROW].map((modules) => [
    modules.join(),
    startForkServer(PYTHON, modules, environment()),
  ]);
  project.provide('forkServers', Object.fromEntries(servers));
}

/** Returns the environment variables of scripts: offline, and with this project's Python files on the path. */
function environment(): NodeJS.ProcessEnv {
  const own = pathOf('python');
  const path = [own, process.env.PYTHONPATH].filter(Boolean).join(delimiter);
  return {
    ...process.env,
    HF_HUB_OFFLINE: '1',
    PYTHONPATH: path,
    ...ONE_THREAD,
    // Without a folder for its bytecode, Python would write it beside the sources.
    PYTHONDONTWRITEBYTECODE: process.env.PYTHONPYCACHEPREFIX ? '' : '1',
  };
}

function answerOf<Answer>(status: number | null, stdout: string, stderr: string): Answer {
  if (status !== 0) throw new Error(stderr.trim().split('\n').pop());
  return JSON.parse(stdout) as Answer;
}

/**
 * Runs a script of test/peers with JSON on its standard input, and parses its output.
 * @param modules the modules that are imported before the script is forked.
 * @throws Error with the last line of the script's standard error if it fails.
 */
export function askPython<Answer>(script: string, question: unknown, modules = COMMON): Answer {
  const options = { input: JSON.stringify(question), env: environment(), encoding: 'utf8' } as const;
  const limits = { timeout: LIMIT_MS, maxBuffer: 2 ** 28 };
  const [python, ...args] = [...forkOf(modules), pathOf(`test/peers/${script}`)];
  const { error, status, stdout, stderr } = spawnSync(python, args, { ...options, ...limits });
  if (error !== undefined) throw error;
  return answerOf(status, stdout, stderr);
}

/** Does the same as `askPython` without blocking, for scripts that call a server of this process. */
export async function askPythonAsync<Answer>(
  script: string,
  question: unknown,
  modules = COMMON,
): Promise<Answer> {
  const child = start([...forkOf(modules), pathOf(`test/peers/${script}`)], LIMIT_MS);
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
  modules = COMMON,
): AnswerOrReason<Answer> {
  try {
    return { absent: null, answer: askPython<Answer>(script, question, modules) };
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
  modules = COMMON,
): string | null => tryPython(library, version, script, question, modules).absent;

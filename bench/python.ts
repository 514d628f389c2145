/** `--python`: measures the steps per second of `VecEnv` in Python and in TypeScript, in alternating samples. */
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createVecEnv, type VecEnv } from '../dist/index.js';
import { NUM_ACTIONS, NUM_STEPS } from '../dist/world/fields.js';
import { LineProcess, PYTHON } from './child.js';
import { now } from './clock.js';
import type { OnProgress } from './measure.js';
import { digits, table } from './report.js';
import { median } from './rows.js';
import { Mismatch } from './verify.js';

export interface PythonPlan {
  /** The numbers of environments. */
  readonly sizes: readonly number[];
  /** Samples for each size, in Python and in TypeScript. */
  readonly rounds: number;
  /** The minimum number of steps of a sample, of all environments together. */
  readonly minSteps: number;
}
/** Chosen by hand: more samples and longer samples give steadier medians, and take longer. */
export const FULL_PYTHON: PythonPlan = {
  sizes: [16, 256, 4096, 65_536],
  rounds: 21,
  minSteps: 4_000_000,
};
export const SMALL_PYTHON: PythonPlan = { sizes: [16, 256], rounds: 1, minSteps: 1 };

/** Medians over the rounds, on one thread. */
export interface PythonRow {
  readonly numEnvs: number;
  readonly pythonStepsPerSecond: number;
  readonly typescriptStepsPerSecond: number;
  /** The steps per second of Python divided by those of TypeScript, in samples that follow each other. */
  readonly ratio: number;
}

/** The measured rows, or the reason why nothing was measured. */
export type PythonResult = { readonly rows: readonly PythonRow[] } | { readonly missing: string };

const THREADS = 1;

/** `seconds` has one entry per play; `score` is the sum of the final scores of the last play. */
interface Answer {
  readonly seconds: readonly number[];
  readonly score: number;
}

/** Returns the environment variables of Python. It uses the package of this repository if compiled, else the installed one. */
function environment(): NodeJS.ProcessEnv {
  const folder = fileURLToPath(new URL('../python', import.meta.url));
  const isCompiled = readdirSync(`${folder}/rhythm_vec`).some((name) => /^_native.*\.so$/.test(name));
  return isCompiled ? { ...process.env, PYTHONPATH: folder } : process.env;
}

/** Plays `plays` episodes in every environment of python-child.py. @returns null if the program cannot start or has ended. */
async function playInPython(child: LineProcess, numEnvs: number, plays: number): Promise<Answer | null> {
  const line = await child.ask(JSON.stringify([numEnvs, plays, THREADS]));
  return line === null ? null : (JSON.parse(line) as Answer);
}

/** Measures every size. @throws Mismatch if Python and TypeScript differ in the sum of the final scores. */
export async function measurePython(plan: PythonPlan, onProgress: OnProgress): Promise<PythonResult> {
  const script = fileURLToPath(new URL('python-child.py', import.meta.url));
  const child = new LineProcess(PYTHON, [script], environment());
  try {
    const rows: PythonRow[] = [];
    for (const numEnvs of plan.sizes) {
      onProgress(`python, ${numEnvs} environments`);
      const row = await measureSize(child, numEnvs, plan);
      if (row === null) return { missing: child.error };
      rows.push(row);
    }
    return { rows };
  } finally {
    await child.close();
  }
}

async function measureSize(child: LineProcess, numEnvs: number, plan: PythonPlan): Promise<PythonRow | null> {
  using env = createVecEnv({ numEnvs, threads: THREADS });
  // A view, which the plays update.
  const { finalScores } = env.reset({ seed: 0 });
  const plays = Math.max(1, Math.ceil(plan.minSteps / (numEnvs * NUM_STEPS)));
  // The actions that python-child.py plays too.
  const actions = Array.from({ length: NUM_STEPS }, (_, step) =>
    Uint8Array.from({ length: numEnvs }, (_, i) => (step * 7 + i * 3) % NUM_ACTIONS),
  );
  const warm = await playInPython(child, numEnvs, 1);
  if (warm === null) return null;
  playInTypeScript(env, actions);
  checkScore(warm.score, finalScores);
  const samples = [];
  for (let round = 0; round < plan.rounds; round++) {
    const answer = await playInPython(child, numEnvs, plays);
    if (answer === null) return null;
    const seconds = Array.from({ length: plays }, () => playInTypeScript(env, actions));
    samples.push({ python: median(answer.seconds), typescript: median(seconds) });
  }
  const steps = numEnvs * NUM_STEPS;
  return {
    numEnvs,
    pythonStepsPerSecond: steps / median(samples.map(({ python }) => python)),
    typescriptStepsPerSecond: steps / median(samples.map(({ typescript }) => typescript)),
    ratio: median(samples.map(({ python, typescript }) => typescript / python)),
  };
}

/** Steps an episode in every environment. @returns seconds. */
function playInTypeScript(env: VecEnv, actions: readonly Uint8Array[]): number {
  env.reset({ seed: 0 });
  const start = now();
  for (const each of actions) env.step(each);
  return (now() - start) / 1e9;
}

/** Compares sums of final scores, which are equal up to the order of adding. */
function checkScore(score: number, finalScores: Float32Array): void {
  const expected = finalScores.reduce((sum, value) => sum + value, 0);
  if (Math.abs(score - expected) < 1e-9 * finalScores.length) return;
  throw new Mismatch(
    `python, ${finalScores.length} environments: Expected final scores with the sum ${expected}, got ${score}.`,
  );
}

export function renderPython(result: PythonResult): string {
  if ('missing' in result)
    return `Python was not measured: ${result.missing}. Install the package: pip install ./python`;
  const head = ['environments', 'Python M steps/s', 'TypeScript M steps/s', 'ratio'];
  const lines = result.rows.map(({ numEnvs, pythonStepsPerSecond, typescriptStepsPerSecond, ratio }) => [
    numEnvs,
    digits(pythonStepsPerSecond / 1e6, 3),
    digits(typescriptStepsPerSecond / 1e6, 3),
    digits(ratio, 2),
  ]);
  return table(head, lines);
}

/** Runs python/recipe/train.py with its smallest preset, and reads the files that it writes. */
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fromLines } from './cli.js';
import * as python from './python.js';

const SCRIPT = 'python/recipe/train.py';
/** A script of test/peers that calls functions of the recipe one by one. */
export const PARTS = 'recipe/parts.py';
const COMMAND = 'node lib/cli.js';

/** One thread, so that every run adds numbers in the same order. */
const ONE_THREAD = { OMP_NUM_THREADS: '1', MKL_NUM_THREADS: '1' };

/** A line of a log, one line per step. */
export type Line = Readonly<Record<string, number>>;

export interface RecipeResult {
  readonly code: number | null;
  readonly stderr: string;
  /** Reads the run.json of a stage. */
  // biome-ignore lint/suspicious/noExplicitAny: JSON, inspected by tests.
  readonly record: (stage: 'sft' | 'grpo') => any;
  /** Reads the lines of watch.jsonl. */
  readonly watched: () => readonly Line[];
}

/** The options of Python that start two processes of the recipe, with a rendezvous at a free port. */
const TORCHRUN = ['-m', 'torch.distributed.run', '--standalone', '--nproc_per_node', '2'];

const start = (launcher: readonly string[], output: string, [stage, ...args]: readonly string[]) => {
  const options = ['--preset', 'tiny', '--cpu', '--output', output, '--rhythm-vec', COMMAND];
  const child = python.startPython(SCRIPT, [stage, ...options, ...args], ONE_THREAD, launcher);
  child.stdin.end();
  return child;
};

/** Starts a stage of the recipe. @param args the stage, `sft` or `grpo`, and its options. */
export const startRecipe = (output: string, ...args: string[]): ChildProcessWithoutNullStreams =>
  start([], output, args);

/** Waits until a started stage ends. */
export async function waitForRecipe(
  child: ChildProcessWithoutNullStreams,
  output: string,
): Promise<RecipeResult> {
  child.stdout.resume();
  const [[code], stderr] = await Promise.all([
    once(child, 'close') as Promise<[number | null]>,
    text(child.stderr),
  ]);
  const read = (path: string) => readFileSync(join(output, path), 'utf8');
  return {
    code,
    stderr,
    record: (stage) => JSON.parse(read(`${stage}/run.json`)),
    watched: () => fromLines(read('grpo/watch.jsonl')),
  };
}

/** Runs a stage of the recipe. @param args as in `startRecipe`. */
export const runRecipe = (output: string, ...args: string[]): Promise<RecipeResult> =>
  waitForRecipe(startRecipe(output, ...args), output);

/** Runs a stage in two processes, as torchrun starts them. @param args as in `startRecipe`. */
export const runTwoRanks = (output: string, ...args: string[]): Promise<RecipeResult> =>
  waitForRecipe(start(TORCHRUN, output, args), output);

/** Runs python/recipe/train.py with its smallest preset, and reads the files that it writes. */
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fromLines } from './cli.js';
import * as python from './python.js';

const SCRIPT = python.pathOf('python/recipe/train.py');
/** A script of test/peers that calls functions of the recipe one by one. */
export const PARTS = 'recipe/parts.py';
const COMMAND = 'node lib/cli.js';

/** A line of watch.jsonl, which has a line for each step of the training. */
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

/** The options of torchrun that start two processes of a command, with a rendezvous at a free port. */
const TWO_RANKS = ['--standalone', '--nproc_per_node', '2', '--no-python'];

const start = (output: string, [stage, ...args]: readonly string[], ranks: 1 | 2) => {
  const options = ['--preset', 'tiny', '--cpu', '--output', output, '--rhythm-vec', COMMAND];
  const fork = python.forkOf(python.TRL);
  const command = [...fork, SCRIPT, stage, ...options, ...args];
  const torchrun = [...fork, '-m', 'torch.distributed.run', ...TWO_RANKS];
  const child = python.start(ranks === 1 ? command : [...torchrun, ...command]);
  child.stdin.end();
  return child;
};

/** Starts a stage of the recipe. @param args the stage, `sft` or `grpo`, and its options. */
export const startRecipe = (output: string, ...args: string[]): ChildProcessWithoutNullStreams =>
  start(output, args, 1);

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
  waitForRecipe(start(output, args, 2), output);

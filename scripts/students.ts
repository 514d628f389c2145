/**
 * Trains the students of the package from nothing, one after the other, and writes their modules. An interrupted run continues.
 * Minutes of a core.
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { runTrain, type TrainCommandOptions } from '../src/cli/train/run-train.js';

const FOLDER = fileURLToPath(new URL('../python/rhythm_vec/students/', import.meta.url));
const CLONE = { episodes: 1500, rounds: 1, roundEpisodes: 300, epochs: 20 };

/** By name, in order: a refined student needs its clone. */
const TRAININGS: Readonly<Record<string, Omit<TrainCommandOptions, 'output'>>> = {
  'student-v2-clone': { ...CLONE, grader: 'v2' },
  'student-v3-clone': { ...CLONE, grader: 'v3' },
};

for (const [name, options] of Object.entries(TRAININGS)) {
  const output = `${FOLDER}${name}.safetensors`;
  const resume = existsSync(`${output}.partial`) ? true : undefined;
  process.stderr.write(`${name}\n`);
  await runTrain({ ...options, seed: 0, output, resume }, new AbortController().signal);
}
await import('./generate.js');

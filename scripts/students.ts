/**
 * Trains the students of the package from scratch, one after the other, and writes their files and modules. After an
 * interruption the next run trains the finished students again, and continues the training that was interrupted.
 * Takes about ten minutes of one core.
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { runTrain, type TrainCommandOptions } from '../src/cli/train/run-train.js';
import { CLONE, cloneOf, GRADERS, REFINEMENT } from './student-trainings.js';

const FOLDER = fileURLToPath(new URL('../python/rhythm_vec/students/', import.meta.url));
const fileOf = (name: string): string => `${FOLDER}${name}.safetensors`;

for (const grader of GRADERS) {
  const clone = cloneOf(grader);
  await train(clone, { ...CLONE, grader });
  await train(`student-${grader}`, { ...REFINEMENT, from: fileOf(clone) });
}
await import('./generate.js');

async function train(name: string, options: Omit<TrainCommandOptions, 'output'>): Promise<void> {
  const output = fileOf(name);
  const resume = existsSync(`${output}.partial`) ? true : undefined;
  process.stderr.write(`${name}\n`);
  await runTrain({ ...options, seed: 0, output, resume }, new AbortController().signal);
}

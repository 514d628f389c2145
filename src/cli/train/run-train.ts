/** Runs `rhythm-vec train`: trains a student, evaluates it and writes its file. */
import { readFile, rm } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import { loadVega, svgOf } from '../../figures/svg.js';
import { packageVersion } from '../../shared/version.js';
import { evalSeedsIn, rangeText } from '../../training/datasets/state-sampler.js';
import { type Checkpoint, decodeCheckpoint, encodeCheckpoint } from '../../training/student/checkpoint.js';
import type { TrainHooks } from '../../training/student/train.js';
import {
  type TrainOptions,
  type TrainRequest,
  toJson,
  toTrainRequest,
} from '../../training/student/train-options.js';
import { type EvaluationRecord, loadTraining, studentFile } from '../../training/student/train-student.js';
import { createWorld } from '../../world/world.js';
import { UsageError } from '../command-errors.js';
import { checkOutputs } from '../files/check-outputs.js';
import { readGrader } from '../files/grader-file.js';
import { type OutputFile, writeFilesAtomically } from '../files/output-file.js';
import { partialOf, stat } from '../files/paths.js';
import { readAnyStudent } from '../files/policy-file.js';
import { createProgress } from '../progress.js';
import { checkEngineOptions, type EngineOptions } from '../shared-options.js';
import { readStored } from './stored-episodes.js';
import { trainingPicture } from './training-picture.js';

export interface TrainCommandOptions extends Omit<TrainOptions, 'grader' | 'from' | 'stored'>, EngineOptions {
  readonly grader?: string;
  readonly from?: string;
  readonly jsonl?: readonly string[];
  readonly output: string;
  readonly curves?: string;
  readonly resume?: true;
}

/**
 * Trains and evaluates a student, and writes its file and the picture of --curves.
 * @param onCheckpoint called with each state of the training before the state is written.
 */
export async function runTrain(
  options: TrainCommandOptions,
  signal: AbortSignal,
  onCheckpoint: TrainHooks['onCheckpoint'] = async () => {},
): Promise<void> {
  const { output, curves, resume, jsonl, backend, kernel, threads, ...given } = options;
  checkEngineOptions(options);
  if (output === '-')
    throw new UsageError('Expected --output to name a file, got -, the standard output. Name a file.');
  const partial = partialOf(output);
  const picture = curves === undefined ? [] : [{ option: '--curves', path: curves }];
  checkOutputs([{ option: '--output', path: output, workFiles: [partial] }, ...picture], given.grader);
  if (curves !== undefined) await loadVega();
  const engine = { backend, kernel, threads };
  const request = toTrainRequest({
    ...given,
    from: given.from === undefined ? undefined : await readAnyStudent(given.from),
    stored: jsonl === undefined ? undefined : await readStored(jsonl, engine, signal),
    grader: given.grader === undefined ? undefined : await readGrader(given.grader),
  });
  const { runTraining } = await loadTraining();
  noteEvalSeeds(request);
  const settings = JSON.stringify({
    version: packageVersion(),
    world: createWorld().digest,
    ...toJson(request),
  });
  const from = resume ? await readCheckpoint(partial, settings) : null;
  const progress = createProgress('parts');
  try {
    const trained = await runTraining(request, from, {
      engine,
      signal,
      onCheckpoint: async (state) => {
        await onCheckpoint(state);
        await writeFilesAtomically([{ path: partial, data: encodeCheckpoint(state, settings) }]);
      },
      onProgress: ({ done, total, stage, note }) =>
        progress.update(done, total, note === null ? stage : `${stage}; ${note}`),
    });
    const { bytes, evaluation } = await studentFile(request, trained, { engine, signal });
    const files: OutputFile[] = [{ path: output, data: bytes }];
    if (curves !== undefined) {
      const drawing = trainingPicture(basename(output, extname(output)), trained);
      files.push({ path: curves, data: await svgOf(drawing) });
    }
    await writeFilesAtomically(files);
    await rm(partial, { force: true });
    process.stderr.write(`${textOf(evaluation, request.grader.name)}Student in ${output}.\n`);
  } finally {
    progress.stop();
  }
}

/** Returns the state of the training in a file; if the file does not exist, prints a note and returns null. */
async function readCheckpoint(path: string, settings: string): Promise<Checkpoint | null> {
  if (stat(path) === null) {
    process.stderr.write(`note: ${path} does not exist, so the training begins anew.\n`);
    return null;
  }
  return decodeCheckpoint(new Uint8Array(await readFile(path)), settings);
}

function noteEvalSeeds({ seeds }: TrainRequest): void {
  const evalSeeds = evalSeedsIn(seeds).map(rangeText);
  if (evalSeeds.length === 0) return;
  process.stderr.write(
    `note: seeds ${evalSeeds.join(' and ')} are kept for evaluation: a student that was trained on them must not be evaluated on them.\n`,
  );
}

const textOf = (evaluation: EvaluationRecord, grader: string): string =>
  Object.entries(evaluation)
    .map(
      ([condition, { episodes, finalScore, beliefMae }]) =>
        `${condition}, ${episodes} episodes: final score under ${grader} ${finalScore.toFixed(3)}, belief MAE ${beliefMae.toFixed(3)}\n`,
    )
    .join('');

/** `rhythm-vec train`: trains a student. */

import { readFile, rm } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import type { Command } from 'commander';
import type { Drawing } from '../figures/figure.js';
import { loadVega, svgOf } from '../figures/svg.js';
import { type Curve, drawTrainingCurves } from '../figures/training-curves.js';
import type { TrajectoryEpisode } from '../rollouts/trajectories/trajectory-episode.js';
import { BadEpisode } from '../rollouts/trajectories/trajectory-lines.js';
import { packageVersion } from '../shared/version.js';
import { type Checkpoint, decodeCheckpoint, encodeCheckpoint } from '../training/student/checkpoint.js';
import type { Played } from '../training/student/episodes.js';
import type { Trained, TrainHooks } from '../training/student/train.js';
import {
  DEFAULTS,
  TEACHER_NAMES,
  type TrainOptions,
  toJson,
  toTrainRequest,
} from '../training/student/train-options.js';
import { type EvaluationRecord, loadTraining, studentFile } from '../training/student/train-student.js';
import { ACTION_NAMES } from '../world/fields.js';
import { createWorld } from '../world/world.js';
import { UsageError } from './command-errors.js';
import type { Context } from './context.js';
import { checkOutputs } from './files/check-outputs.js';
import { readGrader } from './files/grader-file.js';
import { type OutputFile, writeFilesAtomically } from './files/output-file.js';
import { partialOf, stat } from './files/paths.js';
import { readAnyStudent } from './files/policy-file.js';
import { checkTrajectories, readTrajectories } from './files/trajectory-files.js';
import { createProgress } from './progress.js';
import {
  addEngineOptions,
  checkEngineOptions,
  type EngineOptions,
  noteEvalSeeds,
  parseInteger,
  parseSeeds,
} from './shared-options.js';

const HELP = `
A student is a small network that plays from observations. First it clones its teacher: the teacher plays --episodes, and the
student learns to choose the same actions. Then come --rounds of DAgger: the student plays --round-episodes, the teacher says
what it would have done, and the student learns from all episodes. The student learns beliefs from the true targets of
further episodes, which repeat the actions with other profiles.
Finally, with --refine-episodes, the student plays new episodes, and copies of them that take another action at one step:
the student learns how much each action gains. --from refines a finished student.
The teachers are ${TEACHER_NAMES.join(', ')}.
eval, reeval --baselines, audit and teach take the --output file as a policy. While the training runs, FILE.partial has its
state. After an interruption, the same command with --resume continues the training, and writes the same file as without
the interruption.
Training needs the package @jax-js/jax.

Examples:
  rhythm-vec train --episodes 20 --rounds 1 --round-episodes 10 --epochs 5 --output student.safetensors
  rhythm-vec eval --policies student.safetensors,open-loop+inference --conditions ood
  rhythm-vec train --from student.safetensors --refine-episodes 64 --refine-batch 32 --output refined.safetensors
`;

export function defineTrain(command: Command, { signal }: Context): void {
  command
    .requiredOption('--output <file>', "the student's file, safetensors; replaces the file")
    .option('--from <name|file>', 'refine this student, instead of a clone of the teacher')
    .option('--teacher <name>', `a policy that sees observations only (default: ${DEFAULTS.teacher})`)
    .option(
      '--grader <name|file>',
      `the grader to play for: v1, v2, v3 or a grader file (default: that of --from, or ${DEFAULTS.grader})`,
    )
    .option(
      '--seeds <A-B>',
      'seeds of the episodes; the refinement plays the profiles of these seeds with imagined noise and events (default: 100-9999)',
      parseSeeds,
    )
    .option('--episodes <n>', `episodes that the teacher plays (default: ${DEFAULTS.episodes})`, parseInteger)
    .option(
      '--jsonl <files...>',
      'clone stored episodes, JSON lines or Parquet, instead of episodes that the teacher plays',
    )
    .option('--rounds <n>', `rounds of DAgger (default: ${DEFAULTS.rounds})`, parseInteger)
    .option(
      '--round-episodes <n>',
      `episodes of each round (default: ${DEFAULTS.roundEpisodes})`,
      parseInteger,
    )
    .option(
      '--epochs <n>',
      `passes over all episodes, in the first training and in each round (default: ${DEFAULTS.epochs})`,
      parseInteger,
    )
    .option(
      '--refine-episodes <n>',
      'episodes of the refinement, rounded up to whole batches',
      parseInteger,
      DEFAULTS.refineEpisodes,
    )
    .option(
      '--refine-batch <n>',
      'episodes of each batch of the refinement',
      parseInteger,
      DEFAULTS.refineBatch,
    )
    .option('--seed <n>', 'seed of the training', parseInteger, DEFAULTS.seed)
    .option('--curves <file>', 'also draw the curves of the training, as SVG')
    .option('--resume', 'continue from FILE.partial');
  addEngineOptions(command)
    .addHelpText('after', HELP)
    .action((options: TrainCommandOptions) => runTrain(options, signal));
}

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
  noteEvalSeeds(request.seeds, 'a student that was trained on them must not be evaluated on them');
  const settings = JSON.stringify({
    version: packageVersion(),
    world: createWorld().digest,
    ...toJson(request),
  });
  const from = resume ? await readCheckpoint(partial, settings) : null;
  using progress = createProgress('parts');
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
}

/** Returns the state of the training in a file; if the file does not exist, prints a note and returns null. */
async function readCheckpoint(path: string, settings: string): Promise<Checkpoint | null> {
  if (stat(path) === null) {
    process.stderr.write(`note: ${path} does not exist, so the training begins anew.\n`);
    return null;
  }
  return decodeCheckpoint(new Uint8Array(await readFile(path)), settings);
}

const textOf = (evaluation: EvaluationRecord, grader: string): string =>
  Object.entries(evaluation)
    .map(
      ([condition, { episodes, finalScore, beliefMae }]) =>
        `${condition}, ${episodes} episodes: final score under ${grader} ${finalScore.toFixed(3)}, belief MAE ${beliefMae.toFixed(3)}\n`,
    )
    .join('');

/**
 * Returns the episodes of --jsonl in order.
 * @throws UsageError for invalid files and lines, and for refused episodes; the signal's reason.
 */
async function readStored(
  paths: readonly string[],
  engine: EngineOptions,
  signal: AbortSignal,
): Promise<Played> {
  checkTrajectories('--jsonl', paths);
  const [seeds, actions]: [number[], number[]] = [[], []];
  for await (const { place, episode } of readTrajectories(paths, { signal, engine })) {
    if (episode instanceof BadEpisode) refuse(place, 'a valid episode', episode.message);
    checkEpisode(place, episode);
    seeds.push(episode.seed);
    actions.push(...episode.steps.map(({ action }) => ACTION_NAMES.indexOf(action)));
  }
  return { seeds: Uint32Array.from(seeds), actions: Uint8Array.from(actions) };
}

/** Refuses episodes of oracles, and episodes without a sampled profile. @throws UsageError. */
function checkEpisode(place: string, { oracle, profile_mode: mode }: TrajectoryEpisode): void {
  if (oracle) refuse(place, 'an episode of a policy that sees only observations', 'one of an oracle');
  if (mode !== 'sampled') refuse(place, 'an episode with a sampled profile', `profile_mode ${mode}`);
}

function refuse(place: string, expected: string, got: string): never {
  throw new UsageError(
    `Expected ${place} to be ${expected}, got ${got.replace(/\.$/, '')}. Leave the line out.`,
  );
}

/** Draws the curves of cloning by epochs and of the refinement (docs/students.md) by episodes. @param name the student's name. */
function trainingPicture(
  name: string,
  { figures: epochs, refinement }: Pick<Trained, 'figures' | 'refinement'>,
): Drawing {
  const cloning = (title: string, key: 'actionLoss' | 'agreement' | 'beliefMae'): Curve => ({
    name: title,
    unit: 'epochs',
    points: epochs.map((figures, k) => ({ x: k + 1, y: figures[key] })),
  });
  const refining = (title: string, key: 'finalScore' | 'beliefMae'): Curve => ({
    name: title,
    unit: 'episodes of the refinement',
    points: refinement.map((figures) => ({ x: figures.episodes, y: figures[key] })),
  });
  const curves = [
    cloning('Loss of the actions', 'actionLoss'),
    cloning('Agreement with the teacher', 'agreement'),
    cloning('Belief MAE, held-out episodes', 'beliefMae'),
    refining('Final score in the refinement', 'finalScore'),
    refining('Belief MAE in the refinement', 'beliefMae'),
  ];
  return drawTrainingCurves({
    title: `Training of ${name}`,
    curves: curves.filter(({ points }) => points.length > 0),
  });
}

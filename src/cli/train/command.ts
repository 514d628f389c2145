/** `rhythm-vec train`: trains a student. */
import type { Command } from 'commander';
import { DEFAULTS, TEACHER_NAMES } from '../../training/student/train-options.js';
import type { Context } from '../context.js';
import { addEngineOptions, parseInteger, parseSeeds } from '../shared-options.js';
import type { TrainCommandOptions } from './run-train.js';

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

export function addTrainCommand(program: Command, { signal }: Context): void {
  const command = program
    .command('train')
    .description(
      'Train a student: a small network that imitates a policy, and plays a hundred times as fast as a planner.',
    )
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
    .action(async (options: TrainCommandOptions) => {
      const { runTrain } = await import('./run-train.js');
      await runTrain(options, signal);
    });
}

/** Lists the commands, parses a command line and runs its command. */
import { Command, Help } from 'commander';
import { InputError } from '../shared/errors.js';
import { packageVersion } from '../shared/version.js';
import { exitCodeOf, isUsage, messageOf } from './command-errors.js';
import type { CommandTable, Context } from './context.js';
import { QUEUE } from './queue/commands.js';

/** The commands, in the order of the help. */
const COMMANDS: CommandTable = {
  eval: {
    description: 'Evaluate policies: final scores with 95 % intervals, beside the published scores.',
    load: async () => (await import('./eval/command.js')).defineEval,
  },
  replay: {
    description: 'Replay stored episodes from seeds and actions, and write every step and the grade.',
    load: async () => (await import('./replay.js')).defineReplay,
  },
  regrade: {
    description:
      'Grade stored trajectories under another grader: scores, ranking, and the stability of the ranking.',
    load: async () => (await import('./regrade.js')).defineRegrade,
  },
  teach: {
    description: 'Play episodes with a teacher that states its reasons, and write them as trajectories.',
    load: async () => (await import('./teach.js')).defineTeach,
  },
  train: {
    description:
      'Train a student: a small network that imitates a policy, and plays a hundred times as fast as a planner.',
    load: async () => (await import('./train.js')).defineTrain,
  },
  reeval: {
    description: 'Replay stored trajectories, check them bit for bit, and grade them beside baselines.',
    load: async () => (await import('./reeval.js')).defineReeval,
  },
  audit: {
    description:
      'Measure what a grader rewards, before training: the gains of exploits, and of knowing the profile.',
    load: async () => (await import('./audit.js')).defineAudit,
  },
  report: {
    description:
      'Make a page of results: scores, beliefs, actions, episodes, what graders reward, and cost, as figures and tables.',
    load: async () => (await import('./report.js')).defineReport,
  },
  dataset: {
    description: 'Write rows to train on: see "dataset grpo", "dataset sft" and "dataset dpo".',
    help: '\nExample:\n  rhythm-vec dataset grpo --help\n',
    commands: {
      grpo: {
        description:
          'Write rows for GRPO: prompts of diverse states with their seeds and actions, as JSON lines or Parquet.',
        load: async () => (await import('./dataset/grpo.js')).defineGrpo,
      },
      sft: {
        description: "Write rows for SFT: a teacher's answers in chat format, as JSON lines or Parquet.",
        load: async () => (await import('./dataset/sft.js')).defineSft,
      },
      dpo: {
        description:
          'Write rows for DPO: a better and a worse answer to the same state, as JSON lines or Parquet.',
        load: async () => (await import('./dataset/dpo.js')).defineDpo,
      },
    },
  },
  merge: {
    description: 'Merge the shards of a job into the file that the whole job writes.',
    load: async () => (await import('./merge/command.js')).defineMerge,
  },
  upload: {
    description: 'Upload files to a repository of the Hugging Face Hub, as one commit.',
    load: async () => (await import('./upload.js')).defineUpload,
  },
  serve: {
    description: 'Serve the environment over HTTP and WebSockets: OpenEnv, and batches for trainers.',
    load: async () => (await import('./serve.js')).defineServe,
  },
  queue: QUEUE,
  world: {
    description: 'Write the numbers of the published world, or the file of a changed world for Python.',
    load: async () => (await import('./world.js')).defineWorld,
  },
  info: {
    description: 'Show the version, the digests, and which backends and kernels can run here.',
    load: async () => (await import('./info.js')).defineInfo,
  },
  build: {
    description: 'Compile the native addon for this machine, where the package has none that loads.',
    load: async () => (await import('./build.js')).defineBuild,
  },
};

/**
 * Runs a command. Prints errors to the standard error.
 * @param args the arguments after `rhythm-vec` on the command line.
 * @returns the exit code; 0 without an error, even if the command set `process.exitCode`.
 */
export async function runCommand(args: readonly string[], signal: AbortSignal): Promise<number> {
  const program = await createProgram(args, { signal });
  let called = program;
  program.hook('preAction', (_, command) => {
    called = command;
  });
  try {
    await program.parseAsync(args, { from: 'user' });
    return 0;
  } catch (thrown) {
    // After an abort, streams fail with errors of their own.
    const error = signal.aborted ? signal.reason : thrown;
    const text = messageOf(error);
    const message = error instanceof InputError ? withOptionNames(text, called) : text;
    if (message !== '') process.stderr.write(`${message}\n${isUsage(error) ? hint(called) : ''}`);
    return exitCodeOf(error);
  }
}

/** Runs a command in a worker of the queue. @param args as of `runCommand`. @throws the command's error. */
export async function execute(args: readonly string[], context: Context): Promise<void> {
  const program = await createProgram(args, context);
  await program.configureOutput({ writeErr() {} }).parseAsync(args, { from: 'user' });
}

/** The columns of help that is not written to a terminal. */
const HELP_WIDTH = 125;

/** Creates the program. */
async function createProgram(args: readonly string[], context: Context): Promise<Command> {
  const program = new Command('rhythm-vec')
    .description('A batched simulation engine of the Rhythm life simulator.')
    .version(packageVersion())
    .exitOverride()
    .configureOutput({ getOutHelpWidth: () => process.stdout.columns ?? HELP_WIDTH })
    .configureHelp({
      showGlobalOptions: true,
      subcommandTerm: (command) => command.name(),
      visibleGlobalOptions(command) {
        const options = Help.prototype.visibleGlobalOptions.call(this, command);
        return options.filter(({ long }) => long !== '--version');
      },
      optionDescription(option) {
        const text = Help.prototype.optionDescription.call(this, option);
        return option.mandatory ? `${text} (required)` : text;
      },
    })
    .showHelpAfterError('Add --help for a list.')
    .showSuggestionAfterError()
    .option('--quiet', 'show no progress')
    .hook('preAction', async (program) =>
      (await import('./progress.js')).setQuiet(program.opts().quiet === true),
    );
  await addCommands(program, COMMANDS, args, context);
  return program;
}

/**
 * Adds commands with their descriptions. Loads only those that the arguments name, which saves time. An option's value may be
 * the name of a command too.
 */
async function addCommands(
  parent: Command,
  table: CommandTable,
  args: readonly string[],
  context: Context,
): Promise<void> {
  for (const [name, { description, help = '', load, commands = {} }] of Object.entries(table)) {
    const command = parent.command(name).description(description).addHelpText('after', help);
    const isNamed = args.includes(name);
    if (isNamed && load !== undefined) (await load())(command, context);
    await addCommands(command, commands, isNamed ? args : [], context);
  }
}

/**
 * Replaces the names of properties in an error by options of the command, such as `plannerEpisodes` by `--planner-episodes`.
 */
const withOptionNames = (message: string, { options }: Command): string =>
  options
    .filter((option) => /[A-Z]/.test(option.attributeName()))
    .reduce(
      (text, option) => text.replaceAll(new RegExp(`\\b${option.attributeName()}\\b`, 'g'), `${option.long}`),
      message,
    );

/** Returns a hint that names the help of a command. */
function hint(command: Command): string {
  const names: string[] = [];
  for (let at: Command | null = command; at !== null; at = at.parent) names.unshift(at.name());
  return `See ${names.join(' ')} --help.\n`;
}

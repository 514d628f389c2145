/** Lists the commands, parses a command line and runs its command. */
import { Command, Help } from 'commander';
import { InputError } from '../shared/errors.js';
import { packageVersion } from '../shared/version.js';
import { exitCodeOf, isUsage, messageOf } from './command-errors.js';
import type { Context } from './context.js';
import { setQuiet } from './progress.js';

type AddCommand = (program: Command, context: Context) => void;

/** Loads each command, in the order of the help. Only the commands that the arguments name are loaded, which saves time. */
const COMMANDS: Readonly<Record<string, () => Promise<AddCommand>>> = {
  eval: async () => (await import('./eval/command.js')).addEvalCommand,
  replay: async () => (await import('./replay.js')).addReplayCommand,
  regrade: async () => (await import('./regrade.js')).addRegradeCommand,
  teach: async () => (await import('./teach.js')).addTeachCommand,
  train: async () => (await import('./train.js')).addTrainCommand,
  reeval: async () => (await import('./reeval.js')).addReevalCommand,
  audit: async () => (await import('./audit.js')).addAuditCommand,
  report: async () => (await import('./report.js')).addReportCommand,
  dataset: async () => (await import('./dataset/command.js')).addDatasetCommand,
  merge: async () => (await import('./merge/command.js')).addMergeCommand,
  upload: async () => (await import('./upload.js')).addUploadCommand,
  serve: async () => (await import('./serve.js')).addServeCommand,
  queue: async () => (await import('./queue/command.js')).addQueueCommand,
  world: async () => (await import('./world.js')).addWorldCommand,
  info: async () => (await import('./info.js')).addInfoCommand,
  build: async () => (await import('./build.js')).addBuildCommand,
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

/** Creates the program with the commands that the arguments name, or else with all commands. */
async function createProgram(args: readonly string[], context: Context): Promise<Command> {
  const program = new Command('rhythm-vec')
    .description('A batched simulation engine of the Rhythm life simulator.')
    .version(packageVersion())
    .exitOverride()
    .configureOutput({ getOutHelpWidth: () => process.stdout.columns ?? HELP_WIDTH })
    .configureHelp({
      showGlobalOptions: true,
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
    .hook('preAction', (program) => setQuiet(program.opts().quiet === true));
  // An option's value may be the name of a command too.
  const named = Object.keys(COMMANDS).filter((name) => args.includes(name));
  for (const name of named.length > 0 ? named : Object.keys(COMMANDS))
    (await COMMANDS[name]())(program, context);
  return program;
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

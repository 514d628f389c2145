/** Lists the commands, parses a command line and runs its command. */
import { Command, Help } from 'commander';
import { InputError } from '../shared/errors.js';
import { packageVersion } from '../shared/version.js';
import { addAuditCommand } from './audit/command.js';
import { addBuildCommand } from './build/command.js';
import { exitCodeOf, isUsage, messageOf } from './command-errors.js';
import type { Context } from './context.js';
import { addDatasetCommand } from './dataset/command.js';
import { addEvalCommand } from './eval/command.js';
import { addInfoCommand } from './info/command.js';
import { addMergeCommand } from './merge/command.js';
import { addQueueCommand } from './queue/command.js';
import { setQuiet } from './quiet.js';
import { addReevalCommand } from './reeval/command.js';
import { addRegradeCommand } from './regrade/command.js';
import { addReplayCommand } from './replay/command.js';
import { addReportCommand } from './report/command.js';
import { addServeCommand } from './serve/command.js';
import { addTeachCommand } from './teach/command.js';
import { addTrainCommand } from './train/command.js';
import { addUploadCommand } from './upload/command.js';
import { addWorldCommand } from './world/command.js';

const COMMANDS: readonly ((program: Command, context: Context) => void)[] = [
  addEvalCommand,
  addReplayCommand,
  addRegradeCommand,
  addTeachCommand,
  addTrainCommand,
  addReevalCommand,
  addAuditCommand,
  addReportCommand,
  addDatasetCommand,
  addMergeCommand,
  addUploadCommand,
  addServeCommand,
  addQueueCommand,
  addWorldCommand,
  addInfoCommand,
  addBuildCommand,
];

/**
 * Runs a command. Prints errors to the standard error.
 * @param args the arguments after `rhythm-vec` on the command line.
 * @returns the exit code; 0 without an error, even if the command set `process.exitCode`.
 */
export async function runCommand(args: readonly string[], signal: AbortSignal): Promise<number> {
  const program = createProgram({ signal });
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
  await createProgram(context)
    .configureOutput({ writeErr() {} })
    .parseAsync(args, { from: 'user' });
}

function createProgram(context: Context): Command {
  const program = new Command('rhythm-vec')
    .description('A batched simulation engine of the Rhythm life simulator.')
    .version(packageVersion())
    .exitOverride()
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
  for (const add of COMMANDS) add(program, context);
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

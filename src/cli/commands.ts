/** Parses a command line and runs its command. Read this file first: it has the table of commands. */
import { Command, Help } from 'commander';
import { renamed } from '../shared/former-names.js';
import { camelCase, snakeCase } from '../shared/letter-case.js';
import { packageVersion } from '../shared/version.js';
import { addAuditCommand } from './audit/command.js';
import type { Context } from './context.js';
import { addDatasetCommand } from './dataset/command.js';
import { addEvalCommand } from './eval/command.js';
import { exitCodeOf, isUsage, messageOf } from './failure.js';
import { addInfoCommand } from './info/command.js';
import { addReevalCommand } from './reeval/command.js';
import { addRegradeCommand } from './regrade/command.js';
import { addReplayCommand } from './replay/command.js';
import { addReportCommand } from './report/command.js';
import { addServeCommand } from './serve/command.js';
import { addTeachCommand } from './teach/command.js';
import { addUploadCommand } from './upload/command.js';

const COMMANDS: readonly ((program: Command, context: Context) => void)[] = [
  addEvalCommand,
  addReplayCommand,
  addRegradeCommand,
  addTeachCommand,
  addReevalCommand,
  addAuditCommand,
  addReportCommand,
  addDatasetCommand,
  addUploadCommand,
  addServeCommand,
  addInfoCommand,
];

/**
 * Runs the command that `words` name, and returns the exit code. Errors go to the standard error.
 * @param words the arguments after `rhythm-vec` on the command line.
 */
export async function runCommand(words: readonly string[], signal: AbortSignal): Promise<number> {
  const program = createProgram({ signal });
  try {
    await program.parseAsync(words, { from: 'user' });
    return 0;
  } catch (thrown) {
    // After an abort, streams fail with errors of their own.
    const error = signal.aborted ? signal.reason : thrown;
    const message = messageOf(error);
    if (message !== '') process.stderr.write(`${message}\n${isUsage(error) ? hint(program, words) : ''}`);
    return exitCodeOf(error);
  }
}

function createProgram(context: Context): Command {
  const program = new Command('rhythm-vec')
    .description('A batched simulation engine of the Rhythm life simulator.')
    .version(packageVersion())
    .exitOverride()
    .configureHelp({
      optionDescription(option) {
        const text = Help.prototype.optionDescription.call(this, option);
        return option.mandatory ? `${text} (required)` : text;
      },
    })
    .configureOutput({ outputError: (text, write) => write(withNewName(text)) })
    .showHelpAfterError('Add --help for a list.')
    .showSuggestionAfterError();
  for (const add of COMMANDS) add(program, context);
  return program;
}

/** Adds the new name of an option to commander's error about its former name. */
function withNewName(text: string): string {
  const [, option] = /unknown option '--([a-z-]+)'/.exec(text) ?? [];
  const newName = option && renamed(camelCase(option.replaceAll('-', '_')));
  return newName
    ? text.replace('\n', `. Use --${snakeCase(newName).replaceAll('_', '-')}, its new name.\n`)
    : text;
}

/** Returns a hint to the help of the command that was called. */
function hint(program: Command, words: readonly string[]): string {
  let command = program;
  const called = ['rhythm-vec'];
  for (const word of words) {
    const next = command.commands.find((each) => each.name() === word);
    if (next === undefined) break;
    command = next;
    called.push(word);
  }
  return `See ${called.join(' ')} --help.\n`;
}

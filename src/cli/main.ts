#!/usr/bin/env node
/** The command line: a table of commands, and what becomes of their errors. */
import { Command, Help } from 'commander';
import { packageVersion } from '../version.js';
import { addAuditCommand } from './audit.js';
import type { Context } from './context.js';
import { addDatasetCommand } from './dataset.js';
import { addEvalCommand } from './eval.js';
import { EXIT, exitCodeOf, Interruption, isUsage, messageOf } from './failure.js';
import { discardOpenOutputs } from './files/output-file.js';
import { addInfoCommand } from './info.js';
import { addReevalCommand } from './reeval.js';
import { addRegradeCommand } from './regrade.js';
import { addReplayCommand } from './replay.js';
import { addReportCommand } from './report.js';
import { addServeCommand } from './serve.js';
import { addTeachCommand } from './teach.js';
import { addUploadCommand } from './upload.js';

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

const SIGNALS = { SIGHUP: EXIT.hungUp, SIGINT: EXIT.interrupted, SIGTERM: EXIT.terminated } as const;
/** How long a command may take to stop by itself. What blocks in the system, such as opening a pipe, never would. */
const GRACE_MS = 2000;

async function main(argv: readonly string[]): Promise<number> {
  const abort = new AbortController();
  for (const [name, exitCode] of Object.entries(SIGNALS)) {
    // Once: a second signal ends a process that does not heed the first.
    process.once(name, () => {
      abort.abort(new Interruption(exitCode));
      setTimeout(() => {
        discardOpenOutputs();
        // By the signal, now that nobody handles it: an orderly exit would wait for what blocks.
        process.kill(process.pid, name);
      }, GRACE_MS).unref();
    });
  }
  const program = createProgram({ signal: abort.signal });
  try {
    await program.parseAsync(argv);
    return 0;
  } catch (thrown) {
    // Streams cut off by the signal fail in their own words.
    const error = abort.signal.aborted ? abort.signal.reason : thrown;
    const message = messageOf(error);
    if (message !== '')
      process.stderr.write(`${message}\n${isUsage(error) ? hint(program, argv.slice(2)) : ''}`);
    return exitCodeOf(error);
  }
}

function createProgram(context: Context): Command {
  const program = new Command('rhythm-vec')
    .description('The Rhythm life simulator, thousands of episodes at a time, exact to the bit.')
    .version(packageVersion())
    .exitOverride()
    .configureHelp({
      optionDescription(option) {
        const text = Help.prototype.optionDescription.call(this, option);
        return option.mandatory ? `${text} (required)` : text;
      },
    })
    .showHelpAfterError('Add --help for what there is.')
    .showSuggestionAfterError();
  for (const add of COMMANDS) add(program, context);
  return program;
}

/** Which help to read: of the command that was called, whatever it was called with. */
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

// A reader that has seen enough, such as head, is no failure, and what goes to files still gets there.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') return;
  process.stderr.write(`error: Expected to write to the standard output, got ${error.message}.\n`);
  discardOpenOutputs();
  process.exit(EXIT.failure);
});
// Nobody listens to what would be said.
process.stderr.on('error', () => {});

const exitCode = await main(process.argv);
process.exitCode ||= exitCode;

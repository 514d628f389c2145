#!/usr/bin/env node
/** Starts the command line: handles signals and closed streams, and sets the exit code. */
import { EXIT, Interruption } from './command-errors.js';
import { runCommand } from './commands.js';
import { discardOpenOutputs } from './files/paths.js';

/** The signals that end a command, and the exit code after each. */
const SIGNALS = { SIGHUP: EXIT.hungUp, SIGINT: EXIT.interrupted, SIGTERM: EXIT.terminated } as const;
const abort = new AbortController();
for (const [name, exitCode] of Object.entries(SIGNALS)) {
  // `once` handles only the first signal of a name. A second one has no handler, and ends the process immediately.
  process.once(name, () => {
    const interruption = new Interruption(exitCode);
    // A command that needs more time raises `graceMs` of the interruption.
    abort.abort(interruption);
    setTimeout(() => {
      discardOpenOutputs();
      // The signal now has no handler and ends the process. `process.exit` would wait for a system call that blocks.
      process.kill(process.pid, name);
    }, interruption.graceMs).unref();
  });
}

// If the reader closed the pipe, as head does, the command continues and completes its files.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') return;
  process.stderr.write(`error: Expected to write to the standard output, got ${error.message}.\n`);
  discardOpenOutputs();
  process.exit(EXIT.failure);
});
// Without this handler, a closed standard error would end the process.
process.stderr.on('error', () => {});

const exitCode = await runCommand(process.argv.slice(2), abort.signal);
process.exitCode ||= exitCode;

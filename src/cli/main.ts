#!/usr/bin/env node
import { runCommand } from './commands.js';
/** The process of the command line: its signals, streams and exit code. */
import { EXIT, Interruption } from './failure.js';
import { discardOpenOutputs } from './files/output-file.js';

const SIGNALS = { SIGHUP: EXIT.hungUp, SIGINT: EXIT.interrupted, SIGTERM: EXIT.terminated } as const;
/** The time in milliseconds that a command has to stop. A blocking system call, such as opening a pipe, may never return. */
const GRACE_MS = 2000;

const abort = new AbortController();
for (const [name, exitCode] of Object.entries(SIGNALS)) {
  // `once`, so that a second signal ends the process at once.
  process.once(name, () => {
    abort.abort(new Interruption(exitCode));
    setTimeout(() => {
      discardOpenOutputs();
      // The signal has no handler any more, so it ends the process. `process.exit` would wait for the blocking call.
      process.kill(process.pid, name);
    }, GRACE_MS).unref();
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

/** `rhythm-vec serve`: serves the environment over HTTP and WebSockets. */
import { readFileSync } from 'node:fs';
import { finished } from 'node:stream/promises';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { BACKENDS } from '../engine/backends/node.js';
import type { RunningServer } from '../server/server.js';
import { DEFAULTS, type ServeOptions } from '../server/server-options.js';
import { EXIT, Interruption, UsageError } from './command-errors.js';
import type { Context } from './context.js';
import { addEngineOptions, checkEngineOptions, type EngineOptions, parseInteger } from './shared-options.js';

interface Options extends EngineOptions {
  readonly host: string;
  readonly port: number;
  readonly tokenFile?: string;
  readonly insecure?: boolean;
  readonly workers: number;
  readonly grace: number;
  readonly stopOnEof?: boolean;
}

/** Bytes of a MiB. */
const MIB = 2 ** 20;
/** Milliseconds of a second. */
const SECOND = 1000;
/** The default of --grace in seconds: less than the 30 seconds that Kubernetes waits by default before it kills a process. */
const GRACE_S = 25;
/** The environment variable with the token. No option takes the token, because other users can read command lines. */
const TOKEN_VARIABLE = 'RHYTHM_TOKEN';

const HELP = `
Serves OpenEnv (/ws, /reset, /step, /state, /health, /metadata, /schema, /openapi.json, /mcp), batches (/v1/score,
/v1/rollout, /v1/prompts, /v1/parse, /v1/vec), /ready and /metrics. To listen on addresses that other machines can reach,
pass a token in --token-file or ${TOKEN_VARIABLE}, or --insecure. Without either, the Host header must name this machine,
such as localhost. --workers serves on several processor cores. SIGTERM, SIGINT and SIGHUP end the server after the requests
that wait or are in progress, or after the time of --grace; the same signal again ends it at once.

Examples:
  rhythm-vec serve
  rhythm-vec serve --workers 2
  openssl rand -hex 32 > token.txt
  rhythm-vec serve --host 0.0.0.0 --token-file token.txt
`;

/** The options for numbers: flags, description, name in ServeOptions, and how much of it the option's unit is. */
const NUMBERS = [
  ['--capacity <n>', 'maximum number of sessions at a time', 'capacity', 1],
  ['--body-limit <MiB>', 'maximum size of a request body', 'bodyLimit', MIB],
  [
    '--frame-limit <MiB>',
    "maximum size of a session's frame, and of a body of /reset, /step and /mcp",
    'frameLimit',
    MIB,
  ],
  ['--vec-envs <n>', 'maximum number of environments in all vector environments together', 'vecEnvs', 1],
  ['--batch-requests <n>', 'maximum number of /v1 requests at a time', 'batchRequests', 1],
  ['--batch-queue <n>', 'maximum number of /v1 requests that wait', 'batchQueue', 1],
  [
    '--batch-wait <seconds>',
    'time that a /v1 request may wait before it gets status 503',
    'batchWaitMs',
    SECOND,
  ],
  ['--ping <seconds>', 'interval of pings to each socket', 'pingMs', SECOND],
  ['--idle <seconds>', 'close a session after this time without a message', 'idleMs', SECOND],
] as const;

export function defineServe(command: Command, context: Context): void {
  command
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--port <n>', 'port to listen on; 0 chooses a free one', parseInteger, DEFAULTS.port)
    .option(
      '--token-file <file>',
      `file with the bearer token of clients (default: the token in ${TOKEN_VARIABLE})`,
    )
    .option(
      '--insecure',
      'without a token, listen on addresses that other machines can reach, and accept any Host',
    )
    .option(
      '--workers <n>',
      'number of processes that serve, at most one for each processor core',
      parseInteger,
      1,
    );
  for (const [flags, description, name, unit] of NUMBERS)
    command.option(flags, description, unit === 1 ? parseInteger : parseNumber, DEFAULTS[name] / unit);
  command
    .option(
      '--grace <seconds>',
      'time that requests have to end after SIGTERM, SIGINT or SIGHUP',
      parseNumber,
      GRACE_S,
    )
    .option('--stop-on-eof', 'stop when the standard input ends, as it does when the parent process ends');
  addEngineOptions(command, BACKENDS)
    .addHelpText('after', HELP)
    .action(async (options: Options) => {
      checkEngineOptions(options);
      const { openServer, openCluster } = await import('../server/open-server.js');
      const serveOptions = toServeOptions(options);
      const graceMs = Math.round(options.grace * SECOND);
      const { workers } = options;
      const server = await (workers === 1 ? openServer(serveOptions) : openCluster(serveOptions, workers));
      process.stdout.write(`Listening on ${server.url}\n`);
      await waitForStop(options, context.signal, graceMs);
      await shutDown(server, graceMs);
    });
}

function toServeOptions(options: Options): ServeOptions {
  const { host, port, tokenFile, insecure, backend, kernel, threads } = options;
  const token = tokenFile === undefined ? process.env[TOKEN_VARIABLE] || undefined : readToken(tokenFile);
  const numbers = NUMBERS.map(([flags, , name, unit]) => {
    const key = new Option(flags).attributeName();
    return [name, Math.round(options[key as never] * unit)];
  });
  return { host, port, token, insecure, backend, kernel, threads, ...Object.fromEntries(numbers) };
}

function readToken(path: string): string {
  const token = readFileSync(path, 'utf8').trim();
  if (token !== '') return token;
  throw new UsageError(
    `Expected a token in --token-file ${path}, got an empty file. Make one with: openssl rand -hex 32`,
  );
}

async function shutDown(server: RunningServer, graceMs: number): Promise<void> {
  process.stdout.write('Finishing the requests in progress.\n');
  const cut = await server.close(graceMs);
  if (cut === 0) return;
  process.stderr.write(
    `error: Expected all requests to end within --grace ${graceMs / SECOND}, but ${cut} connections were cut off. Raise --grace.\n`,
  );
  process.exitCode = EXIT.failure;
}

/** Waits for a signal or, with --stop-on-eof, the end of the standard input. */
async function waitForStop({ stopOnEof }: Options, signal: AbortSignal, graceMs: number): Promise<void> {
  if (!stopOnEof) return aborted(signal, graceMs);
  const end = finished(process.stdin.resume()).catch(() => {});
  await Promise.race([aborted(signal, graceMs), end]);
  // An open input would keep the process running.
  process.stdin.destroy();
}

/**
 * If the process still runs this many milliseconds after the grace time, it is ended. More than END_MS of cluster.ts, after
 * which workers that still run are killed.
 */
const EXTRA_MS = 5000;

/** Waits for a signal. The process then has the grace time and EXTRA_MS to end. */
const aborted = (signal: AbortSignal, graceMs: number): Promise<void> =>
  new Promise((resolve) => {
    const stop = (): void => {
      if (signal.reason instanceof Interruption) signal.reason.graceMs = graceMs + EXTRA_MS;
      resolve();
    };
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });

function parseNumber(text: string): number {
  if (/^\d{1,9}(\.\d{1,6})?$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Expected a number, such as 64 or 0.5.');
}

/** `rhythm-vec serve`: the environment over HTTP and WebSockets, as OpenEnv has it, and in batches. */
import { readFileSync } from 'node:fs';
import { type Command, InvalidArgumentError } from 'commander';
import { DEFAULTS, type ServeOptions } from '../server/options.js';
import type { RunningServer } from '../server/server.js';
import type { Context } from './context.js';
import { UsageError } from './failure.js';
import { addEngineOptions, checkEngineOptions, type EngineOptions, parseInteger } from './options.js';

interface Options extends EngineOptions {
  readonly host: string;
  readonly port: number;
  readonly tokenFile?: string;
  readonly insecure?: boolean;
  readonly capacity: number;
  readonly bodyLimit: number;
  readonly frameLimit: number;
  readonly vecSlots: number;
  readonly batchRequests: number;
  readonly ping: number;
  readonly idle: number;
}

const MIB = 2 ** 20;
const SECOND = 1000;
/** The token, where no file has it: a command line is everybody's to read. */
const VARIABLE = 'RHYTHM_TOKEN';

const HELP = `
Serves OpenEnv (/ws, /reset, /step, /state, /health, /metadata, /schema, /openapi.json, /mcp), batches (/v1/score,
/v1/rollout, /v1/prompts, /v1/vec) and /metrics. Other addresses than this machine's own need a token, in --token-file
or ${VARIABLE}, or --insecure. SIGTERM and SIGINT finish what was asked and end it.

Examples:
  rhythm-vec serve
  openssl rand -hex 32 > token.txt
  rhythm-vec serve --host 0.0.0.0 --token-file token.txt
`;

export function addServeCommand(program: Command, context: Context): void {
  const command = program
    .command('serve')
    .description('Serve the environment over HTTP and WebSockets: OpenEnv, and batches for trainers.')
    .option('--host <address>', 'where to listen', '127.0.0.1')
    .option('--port <n>', '0 takes one that is free', parseInteger, DEFAULTS.port)
    .option('--token-file <file>', `holds what clients must send as a bearer token (default: ${VARIABLE})`)
    .option('--insecure', 'listen where others reach it without a token')
    .option('--capacity <n>', 'sessions at a time', parseInteger, DEFAULTS.capacity)
    .option('--body-limit <MiB>', 'of a request', parseNumber, DEFAULTS.bodyLimit / MIB)
    .option('--frame-limit <MiB>', "of a session's frame", parseNumber, DEFAULTS.frameLimit / MIB)
    .option('--vec-slots <n>', 'of all vector environments together', parseInteger, DEFAULTS.vecSlots)
    .option('--batch-requests <n>', 'of /v1 at a time', parseInteger, DEFAULTS.batchRequests)
    .option('--ping <seconds>', 'between two pings', parseNumber, DEFAULTS.pingMs / SECOND)
    .option('--idle <seconds>', 'without a frame close a socket', parseNumber, DEFAULTS.idleMs / SECOND);
  addEngineOptions(command)
    .addHelpText('after', HELP)
    .action(async (options: Options) => {
      checkEngineOptions(options);
      // What serves is loaded when somebody serves.
      const { openServer } = await import('../server/server.js');
      const server = await openServer(toServeOptions(options));
      process.stdout.write(`Listening on ${server.url}\n`);
      await aborted(context.signal);
      await shutDown(server);
    });
}

function toServeOptions(options: Options): ServeOptions {
  const { tokenFile, bodyLimit, frameLimit, ping, idle, ...rest } = options;
  return {
    ...rest,
    token: tokenFile === undefined ? process.env[VARIABLE] || undefined : readToken(tokenFile),
    bodyLimit: Math.round(bodyLimit * MIB),
    frameLimit: Math.round(frameLimit * MIB),
    pingMs: Math.round(ping * SECOND),
    idleMs: Math.round(idle * SECOND),
  };
}

function readToken(path: string): string {
  const token = readFileSync(path, 'utf8').trim();
  if (token !== '') return token;
  throw new UsageError(
    `Expected a token in --token-file ${path}, got an empty file. Make one with: openssl rand -hex 32`,
  );
}

async function shutDown(server: RunningServer): Promise<void> {
  process.stdout.write('Finishing what was asked.\n');
  await server.close();
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });

function parseNumber(text: string): number {
  if (/^\d{1,9}(\.\d{1,6})?$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Expected a number, such as 64 or 0.5.');
}

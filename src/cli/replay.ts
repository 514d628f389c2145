/** `rhythm-vec replay`: stored episodes, scored again. */
import { createReadStream } from 'node:fs';
import { addAbortSignal, type Readable } from 'node:stream';
import type { Command } from 'commander';
import { SCHEMAS } from '../schemas.js';
import type { Context } from './context.js';
import { EXIT, UsageError } from './failure.js';
import { addEngineOptions, checkEngineOptions, type EngineOptions } from './options.js';
import { checkOutput, openOutput, stat } from './output-file.js';
import { type ReplayCounts, replayStream } from './replay-stream.js';

interface Options extends EngineOptions {
  readonly input: string;
  readonly output: string;
  readonly skipBad: boolean;
}

const HELP = `
A row in, one JSON object a line; profile, beliefs and grader may be left out:
  {"seed":0,"profile":"sampled","actions":["sleep","deep_work"],"beliefs":[null,[0.5,0.5,0.5]],"grader":"v2"}
  actions are 1 to 28 names, profile is sampled, discrete or a name, grader is v1, v2 or six weights that sum to 1.
  A row may say where it comes from, and is bad if that is elsewhere: "world_digest", as \`rhythm-vec info\` shows it,
  and "schema":${JSON.stringify(SCHEMAS.episode)}.
A row out, in the same order:
  {"seed":0,"profile":"sampled","belief_target":[...],"steps":[{"action":"sleep","event":null,...},...],"final":null}
  final holds the grade of an episode of 28 actions.
Bad rows are reported by line; good rows are written all the same. The exit code is 1 if a row was bad.

Examples:
  rhythm-vec replay --input episodes.jsonl --output scored.jsonl
  zcat episodes.jsonl.gz | rhythm-vec replay --input - --output - --skip-bad | gzip > scored.jsonl.gz
`;

export function addReplayCommand(program: Command, { signal }: Context): void {
  const command = program
    .command('replay')
    .description('Re-score stored episodes: seeds and actions in, every step and the grade out.')
    .requiredOption('--input <file>', 'episodes, one JSON object a line; - is the standard input')
    .requiredOption('--output <file>', 'where the scores go, whole or not at all; - is the standard output')
    .option('--skip-bad', 'let bad rows not make the exit code 1', false);
  addEngineOptions(command)
    .addHelpText('after', HELP)
    .action(async (options: Options) => {
      const { bad } = await runReplay(options, signal);
      if (bad > 0 && !options.skipBad) process.exitCode = EXIT.failure;
    });
}

async function runReplay(options: Options, signal: AbortSignal): Promise<ReplayCounts> {
  checkEngineOptions(options);
  checkFiles(options);
  const input = openInput(options.input, signal);
  const output = await openOutput(options.output);
  const name = options.input === '-' ? 'standard input' : options.input;
  try {
    const counts = await replayStream({
      input,
      write: (text) => output.write(text),
      report: (line, reason) => process.stderr.write(`${name}:${line}: ${printable(reason)}\n`),
      engine: options,
      signal,
    });
    await output.commit();
    process.stderr.write(`${summary(counts)}\n`);
    return counts;
  } finally {
    input.destroy();
    await output.discard();
  }
}

function checkFiles({ input, output }: Options): void {
  const from = input === '-' ? null : stat(input);
  if (input !== '-' && (from === null || from.isDirectory())) {
    const what = from === null ? 'there is none' : 'it is a directory';
    throw new UsageError(`Expected --input to name a file, got ${input}; ${what}. Check the path.`);
  }
  checkOutput('--output', output);
  const to = output === '-' ? null : stat(output);
  if (from?.isFile() && to !== null && from.dev === to.dev && from.ino === to.ino) {
    throw new UsageError(
      `Expected --output to be another file than --input, got ${output}, which is the same. Name another.`,
    );
  }
}

const openInput = (path: string, signal: AbortSignal): Readable =>
  addAbortSignal(signal, path === '-' ? process.stdin : createReadStream(path));

/** More of a reason than this helps nobody. */
const MAX_REASON = 400;

/** Reasons quote the input, which may hold anything: a terminal is not to obey it. */
function printable(text: string): string {
  const short = text.length > MAX_REASON ? `${text.slice(0, MAX_REASON)}...` : text;
  return short.replace(/\p{Cc}/gu, '\uFFFD');
}

function summary({ good, bad }: ReplayCounts): string {
  const rows = (count: number) => `${count} ${count === 1 ? 'row' : 'rows'}`;
  return bad === 0 ? `${rows(good)} replayed.` : `${rows(good)} replayed, ${rows(bad)} bad and left out.`;
}

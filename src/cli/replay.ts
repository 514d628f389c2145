/** `rhythm-vec replay`: stored episodes, scored again. */

import type { Command } from 'commander';
import { counted } from '../evaluate/figures.js';
import { type Grader, graderWeights } from '../graders/grader.js';
import { SCHEMAS } from '../schemas.js';
import type { Context } from './context.js';
import { EXIT } from './failure.js';
import { checkNotGrader, readGrader } from './files/grader-file.js';
import { checkInput, checkOther, inputName, openInput } from './files/input-file.js';
import { printable } from './files/lines.js';
import { checkOutput, openOutput } from './files/output-file.js';
import { addEngineOptions, checkEngineOptions, type EngineOptions } from './options.js';
import { type ReplayCounts, replayStream } from './replay/stream.js';

interface Options extends EngineOptions {
  readonly input: string;
  readonly output: string;
  readonly grader?: string;
  readonly skipBad: boolean;
}

const HELP = `
A row in, one JSON object a line; profile, beliefs and grader may be left out:
  {"seed":0,"profile":"sampled","actions":["sleep","deep_work"],"beliefs":[null,[0.5,0.5,0.5]],"grader":"v2"}
  actions are 1 to 28 names, profile is sampled, discrete or a name, grader is v1, v2, six weights that sum to 1,
  or {"name":...,"weights":{...}} as a grader file has it; --grader replaces it in every row.
  A row may say where it comes from, and is bad if that is elsewhere: "world_digest", as \`rhythm-vec info\` shows it,
  and "schema":${JSON.stringify(SCHEMAS.episode)}.
A row out, in the same order:
  {"seed":0,"profile":"sampled","belief_target":[...],"steps":[{"action":"sleep","event":null,...},...],"final":null}
  final holds the grade of an episode of 28 actions.
Bad rows are reported by line; good rows are written all the same. The exit code is 1 if a row was bad.

Examples:
  echo '{"seed":0,"actions":["sleep","deep_work"]}' > episodes.jsonl
  rhythm-vec replay --input episodes.jsonl --output scored.jsonl
  rhythm-vec replay --input episodes.jsonl --output scored.jsonl --grader v1
  gzip episodes.jsonl
  zcat episodes.jsonl.gz | rhythm-vec replay --input - --output - --skip-bad | gzip > scored.jsonl.gz
`;

export function addReplayCommand(program: Command, { signal }: Context): void {
  const command = program
    .command('replay')
    .description('Re-score stored episodes: seeds and actions in, every step and the grade out.')
    .requiredOption('--input <file>', 'episodes, one JSON object a line; - is the standard input')
    .requiredOption('--output <file>', 'where the scores go, whole or not at all; - is the standard output')
    .option('--grader <name|file>', 'v1, v2 or a grader file: grades every row, whatever grader it names')
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
  checkInput('--input', options.input);
  checkOutput('--output', options.output);
  checkOther('--output', options.output, '--input', options.input);
  checkNotGrader('--output', options.output, options.grader);
  const grader = options.grader === undefined ? null : await readGrader(options.grader);
  const input = openInput(options.input, signal);
  const output = await openOutput(options.output);
  const name = inputName(options.input);
  try {
    const counts = await replayStream({
      input,
      write: (text) => output.write(text),
      report: (line, reason) => process.stderr.write(`${name}:${line}: ${printable(reason)}\n`),
      engine: options,
      grader: grader && graderWeights(grader),
      signal,
    });
    await output.commit();
    process.stderr.write(`${summary(counts, grader)}\n`);
    return counts;
  } finally {
    input.destroy();
    await output.discard();
  }
}

function summary({ good, bad }: ReplayCounts, grader: Grader | null): string {
  const replayed = `${counted(good, 'row')} replayed${grader === null ? '' : ` under grader ${grader.name}`}`;
  return bad === 0 ? `${replayed}.` : `${replayed}, ${counted(bad, 'row')} bad and left out.`;
}

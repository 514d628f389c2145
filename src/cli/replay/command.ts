/** `rhythm-vec replay`: scores stored episodes again. */

import type { Command } from 'commander';
import { type Grader, graderWeights } from '../../engine/graders/grader.js';
import { counted } from '../../evaluation/format-results.js';
import { SCHEMAS } from '../../shared/schemas.js';
import { EXIT } from '../command-errors.js';
import type { Context } from '../context.js';
import { checkOutput } from '../files/check-outputs.js';
import { checkedStream, checkKind, KINDS } from '../files/file-kind.js';
import { checkNotGrader, readGrader } from '../files/grader-file.js';
import { checkDifferentFile, checkInput, inputName, openInput, withProgress } from '../files/input-file.js';
import { printable } from '../files/lines.js';
import { openOutput } from '../files/output-file.js';
import { addEngineOptions, checkEngineOptions, type EngineOptions } from '../shared-options.js';
import { type ReplayCounts, replayStream } from './replay-stream.js';

interface Options extends EngineOptions {
  readonly input: string;
  readonly output: string;
  readonly grader?: string;
  readonly skipBad: boolean;
}

const HELP = `
Each input line is one JSON object; profile, beliefs and grader are optional:
  {"seed":0,"profile":"sampled","actions":["sleep","deep_work"],"beliefs":[null,[0.5,0.5,0.5]],"grader":"v2"}
  actions are 1 to 28 names; profile is sampled, discrete or a name; grader is v1, v2, v3, eight weights that sum to 1
  or {"name":...,"weights":{...}} as in a grader file. --grader replaces the grader of every row.
  A row may state its world and schema: "world_digest", as \`rhythm-vec info\` prints it, and
  "schema":${JSON.stringify(SCHEMAS.episode)}. A row of another world or schema is invalid.
Output lines are in the same order:
  {"seed":0,"profile":"sampled","belief_target":[...],"steps":[{"action":"sleep","event":null,...},...],"final":null}
  final holds the grade of an episode of 28 actions, and is null for fewer actions.
Invalid rows are reported with their line and left out. The exit code is then 1, or 0 with --skip-bad.

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
    .description('Replay stored episodes from seeds and actions, and write every step and the grade.')
    .requiredOption('--input <file>', 'episodes, one JSON object per line; - is the standard input')
    .requiredOption('--output <file>', 'the file to write; - is the standard output')
    .option('--grader <name|file>', 'v1, v2, v3 or a grader file; replaces the grader of every row')
    .option('--skip-bad', 'exit with 0 even if rows were invalid', false);
  addEngineOptions(command)
    .addHelpText('after', HELP)
    .action(async (options: Options) => {
      const { invalid } = await runReplay(options, signal);
      if (invalid > 0 && !options.skipBad) process.exitCode = EXIT.failure;
    });
}

async function runReplay(options: Options, signal: AbortSignal): Promise<ReplayCounts> {
  checkEngineOptions(options);
  const accepted = { option: '--input', kinds: [KINDS.episodes] };
  checkInput('--input', options.input);
  checkKind('--input', options.input, accepted.kinds);
  checkOutput('--output', options.output);
  checkDifferentFile('--output', options.output, '--input', options.input);
  checkNotGrader('--output', options.output, options.grader);
  const grader = options.grader === undefined ? null : await readGrader(options.grader);
  const input = openInput(options.input, signal);
  const output = await openOutput(options.output);
  const name = inputName(options.input);
  try {
    const counts = await replayStream({
      input: checkedStream(withProgress(options.input, input), { ...accepted, name }),
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

function summary({ valid, invalid }: ReplayCounts, grader: Grader | null): string {
  const replayed = `${counted(valid, 'row')} replayed${grader === null ? '' : ` under grader ${grader.name}`}`;
  return invalid === 0 ? `${replayed}.` : `${replayed}, ${counted(invalid, 'row')} invalid and left out.`;
}

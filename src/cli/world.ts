/** `rhythm-vec world`: writes the numbers of the published world, or the file of a changed world for Python. */
import type { Command } from 'commander';
import { largestMagnitudes } from '../engine/observe/bounds.js';
import { SCHEMAS } from '../shared/schemas.js';
import { packageVersion } from '../shared/version.js';
import { layoutDigest } from '../world/block.js';
import { RHYTHM, type WorldSpec } from '../world/numbers.js';
import { createWorld, type World } from '../world/world.js';
import type { Context } from './context.js';
import { checkOutput } from './files/check-outputs.js';
import { checkKind, KINDS } from './files/file-kind.js';
import { checkDifferentFile, checkInput, readJson } from './files/input-file.js';
import { writeJson } from './files/output-file.js';

/** The maximum size of a file of numbers in bytes: hundreds of times the usual size. */
const MAX_BYTES = 4 * 2 ** 20;

interface Options {
  readonly numbers?: string;
  readonly output: string;
}

const HELP = `
Without --numbers the command writes the numbers of the published world, as JSON. Change them, and pass the file as --numbers:
the command checks the numbers and writes the world's file, which rhythm_vec.VecEnv of the Python package reads.

Examples:
  rhythm-vec world --output numbers.json
  sed 's/"crashThreshold": 0.1/"crashThreshold": 0.2/' numbers.json > changed.json
  rhythm-vec world --numbers changed.json --output world.json
`;

export function defineWorld(command: Command, { signal }: Context): void {
  command
    .option('--numbers <file>', 'write the world of these numbers; - is the standard input')
    .option('--output <file>', 'write here; - is the standard output', '-')
    .addHelpText('after', HELP)
    .action((options: Options) => runWorld(options, signal));
}

async function runWorld({ numbers, output }: Options, signal: AbortSignal): Promise<void> {
  checkOutput('--output', output);
  if (numbers === undefined) return await writeJson(output, RHYTHM);
  checkInput('--numbers', numbers);
  checkKind('--numbers', numbers, [KINDS.numbers]);
  if (output !== '-') checkDifferentFile('--output', output, '--numbers', numbers);
  const remedy = 'Pass a file that rhythm-vec world wrote.';
  const file = { option: '--numbers', path: numbers, max: MAX_BYTES, remedy };
  const world = await readJson(file, (value) => createWorld(value as WorldSpec), signal);
  await writeJson(output, toFile(world));
}

/** Returns the contents of a world's file. `words` are the numbers as kernels read them; `magnitudes` scale observations. */
const toFile = ({ spec, words, params, digest }: World): unknown => ({
  schema: SCHEMAS.world,
  version: packageVersion(),
  name: spec.name,
  world_digest: digest,
  layout_digest: layoutDigest(),
  words: [...words],
  magnitudes: largestMagnitudes(params),
});

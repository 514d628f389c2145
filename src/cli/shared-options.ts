/** Options that commands share, and their parsers. */

import { type Command, InvalidArgumentError, Option } from 'commander';
import { ASYNC_BACKENDS } from '../engine/backends/node.js';
import { takesKernel } from '../engine/backends/open-batch.js';
import { didYouMean } from '../shared/names.js';
import { FORMAT_NAMES } from '../shared/row-files/file-formats.js';
import { evalSeedsIn, rangeText, type SeedRange } from '../world/conditions.js';
import { MAX_U32 } from '../world/fields.js';
import { UsageError } from './command-errors.js';
import type { Shard } from './shards/shard.js';

const option = (flags: string, description: string): Option => new Option(flags, description);

/** Options that mean the same in several commands. */
export const OPTIONS = {
  jsonl: option(
    '--jsonl <files...>',
    'trajectories, JSON lines or Parquet; - is the standard input',
  ).makeOptionMandatory(),
  json: option('--json <file>', 'also write the results as JSON; - is the standard output'),
  grader: option('--grader <name|file>', 'v1, v2, v3 or a grader file').default('v2'),
  conditions: option(
    '--conditions <names>',
    'only these conditions, comma-separated (default: all)',
  ).argParser((text) => parseNames(text)),
  seeds: option('--seeds <A-B>', 'seeds of the episodes (default: 100-9999)').argParser((text) =>
    parseSeeds(text),
  ),
  allowEvalSeeds: option('--allow-eval-seeds', 'admit seeds kept for evaluation; the card notes this option'),
  details: option('--details', 'also print components, shares, halves and each named profile'),
  bracket: option('--bracket <audit.json>', 'also show shares by the anchors of this audit'),
  skipBad: option('--skip-bad', 'exit with 0 even if lines were left out').default(false),
  shard: option('--shard <i/n>', 'part i of n, from 0; or auto/n in Kubernetes, Slurm').argParser((text) =>
    parseShard(text),
  ),
} as const;

/** Options that select the backend, its kernel and its threads. */
export interface EngineOptions {
  readonly backend?: string;
  readonly kernel?: string;
  readonly threads?: number;
}

/**
 * Adds `--backend`, `--kernel` and `--threads`.
 * @param backends the backends that the command can use. @param defaults what the help says about the command's defaults.
 */
export function addEngineOptions(
  command: Command,
  backends: readonly { readonly name: string }[] = ASYNC_BACKENDS,
  defaults = { backend: 'auto', threads: 'one per core' },
): Command {
  const names = backends.map(({ name }) => name).join(', ');
  return command
    .option('--backend <name>', `auto, ${names} (default: ${defaults.backend})`)
    .option('--kernel <name>', 'a native kernel, see "info" (default: the best)')
    .option('--threads <n>', `1 to 256; changes no result (default: ${defaults.threads})`, parseInteger);
}

/**
 * Refuses a kernel that does not exist, or that the chosen backend does not have. Accepts a kernel that cannot run here:
 * opening the environment reports it. @throws UsageError.
 */
export function checkEngineOptions({ backend = 'auto', kernel }: EngineOptions): void {
  if (kernel === undefined) return;
  const candidates = ASYNC_BACKENDS.filter(({ name }) => backend === 'auto' || backend === name);
  const names = candidates.flatMap((candidate) => candidate.kernels().map(({ name }) => name));
  // Without its addon, the native backend cannot list its kernels.
  const unknownKernels = takesKernel(ASYNC_BACKENDS, backend) && names.length === 0;
  if (candidates.length === 0 || unknownKernels || names.includes(kernel)) return;
  const [of, got] = [JSON.stringify(backend), JSON.stringify(kernel)];
  if (names.length === 0) {
    throw new UsageError(
      `Expected no --kernel for backend ${of}, because it has no kernels; got ${got}. Leave out --kernel or --backend.`,
    );
  }
  throw new UsageError(
    `Expected --kernel for backend ${of} to be one of ${names.join(', ')}; got ${got}.${didYouMean(kernel, names)}`,
  );
}

/** Parses a non-negative integer of at most 15 digits. */
export function parseInteger(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Expected a whole number of at most 15 digits, such as 4.');
}

/** Parses "a,b" as a list of names. A comma in a name is written as a backslash and a comma. */
export function parseNames(text: string): string[] {
  const names = text.split(/(?<!\\),/).map((name) => name.trim().replaceAll('\\,', ','));
  if (names.every((name) => name !== '')) return names;
  throw new InvalidArgumentError('Expected names separated by single commas.');
}

/** Parses "0-99" as a range of seeds. */
export function parseSeeds(text: string): SeedRange {
  const match = /^(\d{1,10})-(\d{1,10})$/.exec(text);
  const [first, last] = match?.slice(1).map(Number) ?? [];
  if (match !== null && first <= last && last <= MAX_U32) return { first, last };
  throw new InvalidArgumentError(
    `Expected A-B, two integers from 0 to ${MAX_U32} with A not above B, such as 0-99.`,
  );
}

/** Prints a note on seeds that are kept for evaluation, before the work, so that the user can choose others. */
export function noteEvalSeeds(seeds: SeedRange, consequence: string): void {
  const evalSeeds = evalSeedsIn(seeds).map(rangeText);
  if (evalSeeds.length > 0)
    process.stderr.write(`note: seeds ${evalSeeds.join(' and ')} are kept for evaluation: ${consequence}.\n`);
}

/** Parses "8-27" as a range of steps. The bounds are checked with the other options. */
export function parseSteps(text: string): { first: number; last: number } {
  const match = /^(\d{1,2})-(\d{1,2})$/.exec(text);
  const [first, last] = match?.slice(1).map(Number) ?? [];
  if (match !== null && first <= last) return { first, last };
  throw new InvalidArgumentError('Expected A-B, two integers from 0 to 27 with A not above B, such as 8-27.');
}

/** Parses a decimal, such as 0.6, or 1e-7 as dataset cards write it. The bounds are checked with the other options. */
export function parseDecimal(text: string): number {
  if (/^-?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text)) return Number(text);
  throw new InvalidArgumentError('Expected a decimal number, such as 0.6.');
}

/** The variables that number the tasks of a Kubernetes Indexed Job and of a Slurm array. */
const VARIABLES = ['JOB_COMPLETION_INDEX', 'SLURM_ARRAY_TASK_ID'];
/** The maximum number of shards, chosen by hand. */
const MAX_SHARDS = 1_000_000;

/** Parses "2/8" or "auto/8". @throws InvalidArgumentError. */
export function parseShard(text: string, environment: NodeJS.ProcessEnv = process.env): Shard {
  const [, given, countText] = /^(auto|\d{1,7})\/(\d{1,7})$/.exec(text) ?? [];
  const count = Number(countText);
  if (given === undefined || count < 1 || count > MAX_SHARDS) {
    throw new InvalidArgumentError(`Expected i/n or auto/n with n from 1 to ${MAX_SHARDS}, such as 0/4.`);
  }
  const [index, origin] = given === 'auto' ? indexIn(environment) : [Number(given), null];
  if (index < count) return { index, count };
  const variable = origin === null ? '' : ` in ${origin}`;
  throw new InvalidArgumentError(
    `Expected an index from 0 to ${count - 1}${variable}, got ${index}. Number the ${count} shards from 0.`,
  );
}

/** Returns the index of this task, and the variable that has it. @throws InvalidArgumentError. */
function indexIn(environment: NodeJS.ProcessEnv): [index: number, variable: string] {
  const names = VARIABLES.filter((name) => (environment[name] ?? '') !== '');
  const [name] = names;
  if (name === undefined) {
    throw new InvalidArgumentError(
      `Expected ${VARIABLES.join(' or ')} in the environment, got neither. Run the command in a Kubernetes Indexed Job or a Slurm array, or pass i/n.`,
    );
  }
  const values = names.map((each) => `${each}=${environment[each]}`);
  if (new Set(names.map((each) => environment[each])).size > 1) {
    throw new InvalidArgumentError(
      `Expected one index, got ${values.join(' and ')}. Unset one of these variables, or pass i/n.`,
    );
  }
  if (/^\d{1,7}$/.test(environment[name]!)) return [Number(environment[name]), name];
  throw new InvalidArgumentError(`Expected a whole number in ${name}, got ${values[0]}. Pass i/n.`);
}

/** Returns the option. @param what the output that has the format, such as "of --output". */
export const formatOption = (what: string): Option =>
  new Option('--format <name>', `the format ${what} (default: by its ending, else jsonl)`).choices(
    FORMAT_NAMES,
  );

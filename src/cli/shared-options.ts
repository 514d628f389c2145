/** Options that commands share, and their parsers. */
import { type Command, InvalidArgumentError } from 'commander';
import { ASYNC_BACKENDS } from '../engine/backends/node.js';
import { takesKernel } from '../engine/backends/open-batch.js';
import { didYouMean } from '../shared/names.js';
import type { SeedRange } from '../world/conditions.js';
import { MAX_U32 } from '../world/fields.js';
import { UsageError } from './command-errors.js';

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
    .option('--backend <name>', `auto, ${names}; changes no result (default: ${defaults.backend})`)
    .option('--kernel <name>', 'a kernel of the native backend, see "info" (default: the best)')
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

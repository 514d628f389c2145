/**
 * `npm run bench`: verifies every case, times it, and prints the rows and their ratios. `--help` lists the options.
 *
 * cases.ts has the table of cases, episodes.ts their work, measure.ts the timing, ratios.ts the targets. The
 * compiled package is timed: tools that run TypeScript directly can be many times slower.
 */
import { availableParallelism, loadavg } from 'node:os';
import { Command, InvalidArgumentError, Option } from 'commander';
import { exitCodeOf, messageOf } from '../dist/cli/command-errors.js';
import { checkOutput } from '../dist/cli/files/check-outputs.js';
import { openOutput } from '../dist/cli/files/output-file.js';
import { nativeBackend } from '../dist/engine/backends/native.js';
import { ASYNC_BACKENDS } from '../dist/engine/backends/node.js';
import { toSnakeCase } from '../dist/evaluation/result-json.js';
import { describeMachine } from '../dist/evaluation/run-info.js';
import { SCHEMAS } from '../dist/shared/schemas.js';
import { packageVersion } from '../dist/shared/version.js';
import { CASES, KERNELS, WRITES_LEGEND } from './cases.js';
import { openProcessorCore, renderCore } from './core/core.js';
import { webgpu } from './device.js';
import { WORLD } from './episodes.js';
import { evaluation } from './evaluation.js';
import { inference } from './inference.js';
import { language } from './language.js';
import { type Effort, measure, renderRows, slowRows } from './measure.js';
import { memory } from './memory.js';
import { page } from './page.js';
import { peers } from './peers/measure.js';
import { python } from './python.js';
import { ratiosOf } from './ratios.js';
import { digits, ratiosToJson, renderRatios, type Section } from './report.js';
import { showProgress } from './runner.js';
import { serve } from './serve.js';
import { sweep } from './sweep.js';
import { Mismatch } from './verify.js';

const HELP = `
docs/speed.md explains the columns of the rows. 'fused' plays whole episodes in one call, 'step' makes one call per step. Before
a case is timed, its outputs must have the reference's bits. A row that is too short for the timer is void, and ratios that need
it are left out.

Examples:
  npm run bench -- --rounds 5
  npm run bench -- --sweep --memory --evaluation --json bench.json
  npm run bench -- --evaluation --backend webgpu
  npm run bench -- --rounds 1 --webgpu --json bench/results/my-adapter.json
`;

/** The rounds and efforts are chosen by hand: larger ones give steadier medians, and take longer. */
const ROUNDS = 21;
const FULL: Effort = { rounds: ROUNDS, plays: 5, ms: 2, warmMs: 50 };
const SMALL: Effort = { rounds: 1, plays: 1, ms: 0, warmMs: 0 };

/** The optional measurements, in order, by their options. */
const SECTIONS: Readonly<Record<string, Section>> = {
  ...{ sweep, memory, evaluation, webgpu, language, inference, serve, python, peers, page },
};

interface Options {
  readonly rounds: number;
  readonly backend: string;
  readonly smoke?: boolean;
  readonly json?: string;
  /** Each section that is requested. */
  readonly [section: string]: unknown;
}

function parsePositive(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new InvalidArgumentError('Expected a positive integer.');
  return value;
}

function parseOptions(): Options {
  const names = ASYNC_BACKENDS.map(({ name }) => name);
  const command = new Command('bench');
  command.option('--rounds <n>', 'interleaved rounds over all cases', parsePositive, ROUNDS);
  for (const [name, { help }] of Object.entries(SECTIONS)) command.option(`--${name}`, `also: ${help}`);
  return command
    .addOption(new Option('--backend <name>', 'the backend of --evaluation').choices(names).default('native'))
    .option('--smoke', 'everything once with small sizes: verifies the benchmark without measuring speed')
    .option('--json <file>', 'also write the results as JSON; - is the standard output')
    .addHelpText('after', HELP)
    .exitOverride()
    .parse()
    .opts<Options>();
}

/** Measures the requested sections; in a smoke run with native kernels all sections, side by side. */
async function measureSections(options: Options, print: (text: string) => void) {
  const { smoke = false } = options;
  const chosen = Object.entries(SECTIONS).filter(([name]) => options[name] || (smoke && KERNELS.length > 0));
  const run = ([, section]: (typeof chosen)[number]) => section.measure(smoke, options);
  const reports = smoke ? await Promise.all(chosen.map(run)) : [];
  for (const [k, each] of chosen.entries()) {
    reports[k] ??= await run(each);
    print(reports[k].text);
  }
  return Object.fromEntries(chosen.map(([name], k) => [name, reports[k].figures]));
}

async function main(): Promise<void> {
  const options = parseOptions();
  const { smoke = false, json } = options;
  // The load average of the minute before the bench. If it is 1 or more, other processes used the machine.
  const loadAverage = loadavg()[0];
  if (json !== undefined) checkOutput('--json', json);
  // If JSON goes to the standard output, everything else goes to the standard error.
  const output = json === '-' ? process.stderr : process.stdout;
  const print = (text: string) => {
    showProgress('');
    output.write(`${text}\n`);
  };
  const effort = smoke ? SMALL : { ...FULL, rounds: options.rounds };
  if (smoke)
    print('Everything runs once with small sizes: this verifies results and does not measure speed.');
  if (loadAverage >= 1 && !smoke) {
    print(`The load average is ${digits(loadAverage, 1)}: measure on an idle machine.`);
  }
  const opened = openProcessorCore();
  if (typeof opened === 'string')
    print(`Rows have no cycles and no shares, because the processor core cannot be measured: ${opened}`);
  const measured = typeof opened === 'string' ? null : opened;
  const { rows, tick } = await measure(CASES, effort, measured);
  const core = measured?.figures() ?? null;
  const ratios = ratiosOf(rows, availableParallelism());
  print([renderRows(rows), WRITES_LEGEND, ...(smoke ? [] : [renderRatios(ratios)])].join('\n'));
  if (core !== null && !smoke) print([renderCore(core), ...slowRows(rows)].join('\n'));
  const { reason } = nativeBackend.availability();
  if (reason !== undefined) print(`No native rows: ${reason}`);
  const sections = await measureSections(options, print);
  const provenance = {
    schema: SCHEMAS.bench,
    version: packageVersion(),
    worldDigest: WORLD.digest,
    machine: describeMachine(),
    loadAverage,
  };
  const figures = { rounds: effort.rounds, timerTickNs: tick, core, rows, ...ratiosToJson(ratios) };
  if (json !== undefined) await writeJson(json, { ...provenance, ...figures, ...sections });
}

async function writeJson(path: string, value: unknown): Promise<void> {
  const output = await openOutput(path);
  try {
    await output.write(`${JSON.stringify(toSnakeCase(value), null, 2)}\n`);
    await output.commit();
  } finally {
    await output.discard();
  }
}

try {
  await main();
} catch (error) {
  showProgress('');
  const message = error instanceof Mismatch ? `error: ${error.message}` : messageOf(error);
  if (message !== '') console.error(message);
  process.exitCode = exitCodeOf(error);
}

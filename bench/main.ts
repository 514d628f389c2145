/**
 * `npm run bench`: verifies every case, times it, and prints the rows and their ratios. `--help` lists the options.
 *
 * cases.ts has the table of cases, plays.ts their work, measure.ts the timing, ratios.ts the targets. The
 * compiled package is timed: tools that run TypeScript directly can be many times slower.
 */
import { availableParallelism, loadavg } from 'node:os';
import { Command, InvalidArgumentError, Option } from 'commander';
import { exitCodeOf, messageOf } from '../dist/cli/command-errors.js';
import { checkOutput, openOutput } from '../dist/cli/files/output-file.js';
import { nativeBackend } from '../dist/engine/backends/native.js';
import { ASYNC_BACKENDS } from '../dist/engine/backends/node.js';
import { toSnakeCase } from '../dist/evaluation/evaluation-json.js';
import { describeMachine } from '../dist/evaluation/machine.js';
import { SCHEMAS } from '../dist/shared/schemas.js';
import { packageVersion } from '../dist/shared/version.js';
import { FULL_BODIES, measureBodies, renderBodies, SMALL_BODIES } from './bodies.js';
import { CASES, KERNELS } from './cases.js';
import { openProcessorCore } from './core/core.js';
import { FULL_DEVICE, measureDevice, SMALL_DEVICE } from './device.js';
import { deviceToJson, renderDevice } from './device-report.js';
import { FULL_EVALUATION, renderEvaluation, SMALL_EVALUATION, timeEvaluation } from './evaluation.js';
import { FULL_INFERENCE, measureInference, renderInference, SMALL_INFERENCE } from './inference.js';
import {
  FULL_LANGUAGE,
  languageToJson,
  measureLanguage,
  renderLanguage,
  SMALL_LANGUAGE,
} from './language.js';
import { FULL_LLM, llmToJson, measureLlm, renderLlm, SMALL_LLM } from './llm.js';
import { type Effort, measure } from './measure.js';
import { FULL_MEMORY, measureMemory, renderMemory, SMALL_MEMORY } from './memory.js';
import { FULL_PAGE, measurePage, renderPage, SMALL_PAGE } from './page.js';
import { FULL_PEERS, measurePeers, SMALL_PEERS } from './peers/measure.js';
import { peersToJson, renderPeers } from './peers/report.js';
import { FULL_PYTHON, measurePython, renderPython, SMALL_PYTHON } from './python.js';
import { ratiosOf } from './ratios.js';
import { digits, ratiosToJson, renderCore, renderRatios, renderRows } from './report.js';
import { WORLD } from './rig.js';
import { FULL_SERVE, measureServe, renderServe, SMALL_SERVE, serveToJson } from './serve.js';
import { FULL_SWEEP, renderSweep, SMALL_SWEEP, sweep } from './sweep.js';
import { Mismatch } from './verify.js';
import { WRITES_LEGEND } from './writes.js';

const HELP = `
A row has the wall time per step, in nanoseconds and in clock cycles; the clock rate is measured beside each sample.
'of bound' is the least time that a processor core needs for the operations of the rules and for the written bytes, divided by
the measured time. 'core' is the speed of the processor core around the row's samples, divided by its best speed in the run:
a low value shows that something slowed the core. Rows are of native kernels and of the reference. 'fused' plays whole
episodes in one call, 'step' makes one call per step. Before a case is timed, its outputs must have the reference's bits.
A row that is too short for the timer is void, and ratios that need it are left out.

Examples:
  npm run bench -- --rounds 5
  npm run bench -- --sweep --memory --evaluation --json bench.json
  npm run bench -- --evaluation --backend webgpu
  npm run bench -- --rounds 1 --webgpu --json bench/results/my-adapter.json
`;

/** The rounds and efforts (measure.ts) are chosen by hand: larger ones give steadier medians, and take longer. */
const ROUNDS = 21;
const BACKEND_NAMES = ASYNC_BACKENDS.map(({ name }) => name);
const FULL: Effort = { rounds: ROUNDS, plays: 5, ms: 2, warmMs: 50 };
const SMALL: Effort = { rounds: 1, plays: 1, ms: 0, warmMs: 0 };

const PROVENANCE = {
  schema: SCHEMAS.bench,
  version: packageVersion(),
  worldDigest: WORLD.digest,
  machine: describeMachine(),
  /** The load average of the minute before the bench. If it is 1 or more, other processes used the machine. */
  loadAverage: loadavg()[0],
};

interface Options {
  readonly rounds: number;
  readonly smoke?: boolean;
  readonly sweep?: boolean;
  readonly memory?: boolean;
  readonly evaluation?: boolean;
  readonly backend: string;
  readonly webgpu?: boolean;
  readonly language?: boolean;
  readonly inference?: boolean;
  readonly serve?: boolean;
  readonly llm?: boolean;
  readonly bodies?: boolean;
  readonly python?: boolean;
  readonly peers?: boolean;
  readonly page?: boolean;
  readonly json?: string;
}

function parsePositive(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new InvalidArgumentError('Expected a positive integer.');
  return value;
}

function parseOptions(): Options {
  return new Command('bench')
    .option('--rounds <n>', 'interleaved rounds over all cases', parsePositive, ROUNDS)
    .option('--sweep', 'also: 1 to 2^20 episodes on 1, 2 and all threads')
    .option('--memory', 'also: the memory of a million environments, and of a million prompts')
    .option('--evaluation', 'also: the time of the 150-episode evaluation, with and without start-up')
    .addOption(
      new Option('--backend <name>', 'the backend of --evaluation').choices(BACKEND_NAMES).default('native'),
    )
    .option('--webgpu', 'also: a device beside one native thread, with and without read-back')
    .option('--language', 'also: replay scoring, prompts and parsing, in rows per second on one thread')
    .option('--inference', 'also: the accuracy of inferred beliefs, and the time of an update')
    .option('--serve', 'also: the server, with a client in another process')
    .option('--llm', 'also: 150 episodes of a language model that answers in 50 ms, 16 at once')
    .option('--bodies', 'also: the cost of many kinds of bodies and messages for the server')
    .option('--python', 'also: the Python package beside VecEnv.step, in alternating plays on one thread')
    .option(
      '--peers',
      'also: this engine beside plain C++, numba, JAX, NumPy and the reference, by batch size',
    )
    .option('--page', 'also: the demo page in Chromium: the time to its first chart, and its longest tasks')
    .option('--smoke', 'everything once with small sizes: verifies the benchmark without measuring speed')
    .option('--json <file>', 'also write the results as JSON; - is the standard output')
    .addHelpText('after', HELP)
    .exitOverride()
    .parse()
    .opts<Options>();
}

/** The optional measurements, in order. Each returns its result for the JSON file, and its text. */
const SECTIONS = {
  sweep: async (small: boolean) => {
    const result = await sweep(small ? SMALL_SWEEP : FULL_SWEEP, progress);
    return { result, text: renderSweep(result) };
  },
  memory: async (small: boolean) => {
    const result = await measureMemory(small ? SMALL_MEMORY : FULL_MEMORY, progress);
    return { result, text: renderMemory(result) };
  },
  evaluation: async (small: boolean, { backend }: Options) => {
    const result = await timeEvaluation(backend, small ? SMALL_EVALUATION : FULL_EVALUATION, progress);
    return { result, text: renderEvaluation(result) };
  },
  webgpu: async (small: boolean) => {
    const figures = await measureDevice(small ? SMALL_DEVICE : FULL_DEVICE, progress);
    return { result: deviceToJson(figures), text: renderDevice(figures) };
  },
  language: async (small: boolean) => {
    const figures = await measureLanguage(small ? SMALL_LANGUAGE : FULL_LANGUAGE, progress);
    return { result: languageToJson(figures), text: renderLanguage(figures, !small) };
  },
  inference: async (small: boolean) => {
    const result = await measureInference(small ? SMALL_INFERENCE : FULL_INFERENCE, progress);
    return { result, text: renderInference(result) };
  },
  serve: async (small: boolean) => {
    const figures = await measureServe(small ? SMALL_SERVE : FULL_SERVE, progress);
    return { result: serveToJson(figures), text: renderServe(figures, !small) };
  },
  llm: async (small: boolean) => {
    const figures = await measureLlm(small ? SMALL_LLM : FULL_LLM, progress);
    return { result: llmToJson(figures), text: renderLlm(figures, !small) };
  },
  bodies: async (small: boolean) => {
    const result = await measureBodies(small ? SMALL_BODIES : FULL_BODIES, progress);
    return { result, text: renderBodies(result) };
  },
  python: async (small: boolean) => {
    const result = await measurePython(small ? SMALL_PYTHON : FULL_PYTHON, progress);
    return { result, text: renderPython(result) };
  },
  peers: async (small: boolean) => {
    const figures = await measurePeers(small ? SMALL_PEERS : FULL_PEERS, progress);
    return { result: peersToJson(figures), text: renderPeers(figures) };
  },
  page: async (small: boolean) => {
    const result = await measurePage(small ? SMALL_PAGE : FULL_PAGE, progress);
    return { result, text: renderPage(result) };
  },
} as const;

type SectionName = keyof typeof SECTIONS;

/** Returns the requested sections; in a smoke run with native kernels, all sections. */
const sectionsOf = (options: Options): SectionName[] =>
  (Object.keys(SECTIONS) as SectionName[]).filter(
    (name) => options[name] || (options.smoke && KERNELS.length > 0),
  );

/** Shows progress on one line of a terminal; '' clears it. */
function progress(what: string): void {
  const { isTTY, columns } = process.stderr;
  if (isTTY) process.stderr.write(`\r\x1b[K${what.slice(0, columns - 1)}`);
}

async function main(): Promise<void> {
  const options = parseOptions();
  const { smoke = false, json } = options;
  if (json !== undefined) checkOutput('--json', json);
  // If JSON goes to the standard output, everything else goes to the standard error.
  const output = json === '-' ? process.stderr : process.stdout;
  const print = (text: string) => {
    progress('');
    output.write(`${text}\n`);
  };
  const effort = smoke ? SMALL : { ...FULL, rounds: options.rounds };
  if (smoke)
    print('Everything runs once with small sizes: this verifies results and does not measure speed.');
  if (PROVENANCE.loadAverage >= 1 && !smoke) {
    print(`The load average is ${digits(PROVENANCE.loadAverage, 1)}: measure on an idle machine.`);
  }
  const opened = openProcessorCore();
  if (typeof opened === 'string')
    print(`Rows have no cycles and no shares, because the processor core cannot be measured: ${opened}`);
  const { rows, tick, core } = await measure(
    CASES,
    effort,
    typeof opened === 'string' ? null : opened,
    progress,
  );
  const ratios = ratiosOf(rows, availableParallelism());
  print([renderRows(rows), WRITES_LEGEND, ...(smoke ? [] : [renderRatios(ratios)])].join('\n'));
  if (core !== null && !smoke) print(renderCore(core, rows));
  const { reason } = nativeBackend.availability();
  if (reason !== undefined) print(`No native rows: ${reason}`);
  const sections: Record<string, unknown> = {};
  for (const name of sectionsOf(options)) {
    const { result, text } = await SECTIONS[name](smoke, options);
    sections[name] = result;
    print(text);
  }
  const figures = {
    rounds: effort.rounds,
    timerTickNs: tick,
    core,
    rows,
    ...ratiosToJson(ratios),
    ...sections,
  };
  if (json !== undefined) await writeJson(json, { ...PROVENANCE, ...figures });
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
  progress('');
  const message = error instanceof Mismatch ? `error: ${error.message}` : messageOf(error);
  if (message !== '') console.error(message);
  process.exitCode = exitCodeOf(error);
}

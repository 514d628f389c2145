/**
 * Measures the share of mutants that the tests of a room detect. Stryker changes `src` in small ways and runs the tests
 * that cover each change. It writes a report to reports/mutation.
 */
import { Stryker } from '@stryker-mutator/core';
import { Argument, Command } from 'commander';

/** Rooms and parts of rooms, with their sources and tests. */
const ROOMS = {
  engine: {
    mutate: ['src/engine/**/*.ts', '!src/engine/{reference,backends/webgpu}/**'],
    testFiles: ['test/engine/**/*.test.ts'],
  },
  // Not a part of `engine`: most tests of the engine run the reference, so each mutant of the reference would take long.
  reference: {
    mutate: ['src/engine/reference/**/*.ts'],
    testFiles: ['test/engine/{golden,one-seed,one-step}.test.ts', 'test/engine/reference/*.test.ts'],
  },
  rollouts: { mutate: ['src/rollouts/**/*.ts'], testFiles: ['test/rollouts/**/*.test.ts'] },
  server: { mutate: ['src/server/**/*.ts'], testFiles: ['test/server/**/*.test.ts'] },
  llm: {
    mutate: ['src/agents/llm/**/*.ts'],
    testFiles: [
      'test/agents/llm/**/*.test.ts',
      'test/training/teachers.test.ts',
      'test/cli/{eval,teach}-llm.test.ts',
    ],
  },
};
/** The plugin of Stryker that samples the mutants. */
const SAMPLE = new URL('mutate-sample.js', import.meta.url).href;

const command = new Command('mutate')
  .addArgument(new Argument('<room>').choices(Object.keys(ROOMS)))
  .option('--sample <percent>', 'percentage of the mutants to run', '100')
  .option('--seed <n>', 'chooses the sample', '1')
  .option('--files <globs...>', 'mutates these files only')
  .parse();
const [room] = command.args;
const { sample, seed, files } = command.opts();

// SAMPLE also runs in child processes of Stryker, which inherit these variables.
process.env.MUTATE_SHARE = String(Number(sample) / 100);
process.env.MUTATE_SEED = seed;
const { isInSample } = await import(SAMPLE);

const { mutate, testFiles } = ROOMS[room];
const results = await new Stryker({
  mutate: files ?? mutate,
  testFiles,
  mutator: { excludedMutations: ['StringLiteral'] },
  ignoreStatic: true,
  checkers: ['sample'],
  plugins: ['@stryker-mutator/vitest-runner', SAMPLE],
  testRunner: 'vitest',
  vitest: { configFile: 'scripts/mutate-vitest.config.ts', related: false },
  coverageAnalysis: 'perTest',
  ignorePatterns: ['docs/.site', 'reports'],
  reporters: ['survivors', 'progress-append-only', 'html', 'json'],
  htmlReporter: { fileName: `reports/mutation/${room}.html` },
  jsonReporter: { fileName: `reports/mutation/${room}.json` },
  // The time limits are chosen by hand. With lower ones, runs that are slow because of other work on the machine would fail,
  // or count as detected mutants.
  dryRunTimeoutMinutes: 60,
  timeoutFactor: 3,
  timeoutMS: 10_000,
  tempDirName: 'reports/.stryker',
  // Stryker would rewrite tsconfig.json by an API that this release of TypeScript lacks.
  tsconfigFile: 'none',
  disableTypeChecks: false,
}).runMutationTest();

const chosen = results.filter(isInSample);
const withStatus = (...statuses) => chosen.filter(({ status }) => statuses.includes(status));
const missed = withStatus('Survived', 'NoCoverage');
const detected = withStatus('Killed', 'Timeout').length;
const n = detected + missed.length;
const [low, high] = interval(detected, n);
const percent = (share) => `${(100 * share).toFixed(1)} %`;
console.log(
  `${room}: ${detected} of ${n} mutants detected, ${percent(detected / n)}`,
  `(95 % interval ${percent(low)} to ${percent(high)}); ${sample} % of all, seed ${seed};`,
  `not counted: ${withStatus('Ignored').length} static or of string literals; timeouts: ${withStatus('Timeout').length}`,
);

/** Returns Wilson's 95 % interval of the share hits / n. */
function interval(hits, n) {
  const z = 1.96;
  const middle = (hits + (z * z) / 2) / (n + z * z);
  const half = (z / (n + z * z)) * Math.sqrt((hits * (n - hits)) / n + (z * z) / 4);
  return [middle - half, middle + half];
}

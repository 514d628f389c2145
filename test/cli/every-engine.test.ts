/** Commands write the same files and outputs on the reference and on another engine. */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { ACTION_NAMES } from '../../src/world/fields.js';
import { NAMED_ENGINES, reportAbsentEngines } from '../support/async-engines.js';
import { runCli, temporaryDirectory } from '../support/cli.js';
import type { Engine } from '../support/engines.js';

reportAbsentEngines();

const pathOf = temporaryDirectory();
const [REFERENCE] = NAMED_ENGINES;
/** The fastest kernel, or the device in the project `gpu`. The tests of the engine compare all kernels. */
const OTHERS = NAMED_ENGINES.slice(1, 2);

const optionsOf = ({ backend, kernel }: Engine): string[] => [
  ...['--backend', backend],
  ...(kernel === undefined ? [] : ['--kernel', kernel]),
];

/** Runs a command on an engine. Returns what it wrote to the standard output. */
async function outputOf(args: readonly string[], engine: Engine): Promise<string> {
  const { code, stdout, stderr } = await runCli([...args, ...optionsOf(engine)]);
  expect(code, stderr).toBe(0);
  return stdout;
}

const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Returns the rows of a JSON output, without the engine. */
const rowsOf = (json: string): string => JSON.stringify(JSON.parse(json).rows);

const EVAL_150 = ['eval', '--conditions', 'in-distribution,ood'];
const FEW = ['--conditions', 'ood', '--episodes', '2'];
const POLICIES = 'heuristic,open-loop+constant,heuristic+inference,./examples/recurrent-policy.js';
const EVAL_FEW = ['eval', '--policies', POLICIES, ...FEW];
const TEACH = ['teach', '--policy', 'heuristic+inference', '--seeds'];
const [recorded, taught, taughtByOther, rows] = ['recorded', 'taught', 'other', 'rows'].map((name) =>
  pathOf(`${name}.jsonl`),
);
const ROWS = [
  { seed: 7, actions: ['sleep', 'deep_work', 'exercise'], beliefs: [null, [0.5, 0.25, 1], null] },
  { seed: 8, profile: 'discrete', actions: Array(28).fill('learn'), grader: 'v3' },
  ...Array.from({ length: 150 }, (_, seed) => ({
    ...{ seed, profile: seed % 2 ? 'discrete' : 'sampled', grader: seed % 3 ? 'v3' : 'v1' },
    actions: Array.from({ length: 28 - (seed % 5) }, (_, t) => ACTION_NAMES[(seed * 3 + t * 7) % 10]),
    beliefs: Array.from({ length: 28 - (seed % 5) }, (_, t) => (t % 4 ? [0.2, t / 28, 1.5] : null)),
  })),
];

/** Commands, and the part of their output that is the same on every engine. */
const COMMANDS: readonly [name: string, args: readonly string[], partOf: (output: string) => string][] = [
  ['eval of 150 seeds', [...EVAL_150, '--json', '-'], rowsOf],
  ['eval --json', [...EVAL_FEW, '--json', '-'], rowsOf],
  ['eval --trajectories', [...EVAL_FEW, '--trajectories', '-'], String],
  ['reeval', ['reeval', '--jsonl', recorded, '--json', '-'], rowsOf],
  ['teach', [...TEACH, '100-119', '--output', '-'], String],
  ['replay', ['replay', '--input', rows, '--output', '-'], String],
];

const SPLIT = ['--format', 'jsonl', '--validation', '0', '--output'];

/**
 * Commands that write a dataset: their arguments up to the output path, and the file of rows in the output folder; '' if the
 * output path is that file.
 */
const DATASETS: readonly [name: string, args: readonly string[], file: string][] = [
  ['dataset sft', ['dataset', 'sft', '--jsonl', taught, '--objective', 'none', ...SPLIT], 'train.jsonl'],
  ['dataset dpo', ['dataset', 'dpo', '--jsonl', taught, taughtByOther, ...SPLIT], 'train.jsonl'],
  ['dataset grpo', ['dataset', 'grpo', '--rows', '150', '--output'], ''],
];

async function datasetOf(args: readonly string[], file: string, engine: Engine): Promise<string> {
  const folder = [args[1], engine.name].join('-').replace(' ', '-');
  const path = pathOf(file === '' ? `${folder}/rows.jsonl` : folder);
  await outputOf([...args, path], engine);
  return readFileSync(join(path, file), 'utf8');
}

beforeAll(async () => {
  writeFileSync(rows, ROWS.map((row) => `${JSON.stringify(row)}\n`).join(''));
  await outputOf([...EVAL_FEW, '--trajectories', recorded], REFERENCE);
  await outputOf([...TEACH, '100-101', '--output', taught], REFERENCE);
  await outputOf(
    ['teach', '--policy', 'open-loop+inference', '--seeds', '100-101', '--output', taughtByOther],
    REFERENCE,
  );
}, 60_000);

describe.each(OTHERS)('$name writes what the reference writes', (engine) => {
  it.each(COMMANDS)('%s', async (_, args, partOf) => {
    const digest = async (each: Engine) => digestOf(partOf(await outputOf(args, each)));
    expect(await digest(engine)).toBe(await digest(REFERENCE));
  });

  it.each(DATASETS)('%s', async (_, args, file) => {
    const got = await datasetOf(args, file, engine);
    expect(got.split('\n').length).toBeGreaterThan(2);
    expect(digestOf(got)).toBe(digestOf(await datasetOf(args, file, REFERENCE)));
  });
});

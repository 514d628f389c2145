/** The options that `dataset sft` and `dataset dpo` share: files, and which episodes to take. */

import { basename, resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { FORMAT_NAMES, FORMATS, type RowFormat } from '../../shared/row-files/file-formats.js';
import type { EpisodeSelection } from '../../training/datasets/episode-selection.js';
import { rangeText } from '../../world/conditions.js';
import type { Shard } from '../shards/shard.js';
import {
  type EngineOptions,
  OPTIONS,
  parseDecimal,
  parseInteger,
  parseNames,
  parseSteps,
} from '../shared-options.js';

/** The paths, format and grader of a dataset. Its card names them. */
export interface SelectionTarget {
  readonly jsonl: readonly string[];
  readonly output: string;
  readonly format: string;
  readonly grader: string;
}

export interface SelectionCliOptions extends EngineOptions, SelectionTarget {
  readonly skipBad: boolean;
  readonly shard?: Shard;
}

/** Adds the shared options, except those of the engine. */
export function addSelectionOptions(command: Command): Command {
  const format = new Option('--format <name>', 'the format of train and validation');
  const grader = new Option('--grader <name|file>', 'the grader of scores: v1, v2, v3 or a grader file');
  return command
    .addOption(OPTIONS.jsonl)
    .requiredOption('--output <directory>', 'the directory for train, validation and README.md')
    .addOption(format.choices(FORMAT_NAMES).default('jsonl'))
    .addOption(OPTIONS.shard)
    .option('--teacher <names>', 'only these teachers, comma-separated (default: all)', parseNames)
    .option('--model <names>', 'only these models, comma-separated (default: all)', parseNames)
    .addOption(OPTIONS.conditions)
    .addOption(OPTIONS.seeds)
    .addOption(OPTIONS.allowEvalSeeds)
    .option('--allow-oracle', 'admit policies that used hidden state; the card notes this option')
    .option('--steps <A-B>', 'range of steps to take rows from (default: 0-27)', parseSteps)
    .addOption(grader.default('v2'))
    .option('--validation <share>', 'share of seeds for validation, 0 to 0.9 (default: 0.1)', parseDecimal)
    .option('--split-seed <n>', 'seed of the split (default: 0)', parseInteger)
    .addOption(OPTIONS.skipBad);
}

/** Returns the format that `--format` names. */
export const namedFormat = ({ format }: Pick<SelectionTarget, 'format'>): RowFormat =>
  FORMATS.find(({ name }) => name === format)!;

/**
 * Returns the command that reproduces the dataset, with all defaults written out. It has file names without
 * directories, because the card is published.
 * @param own the options that only this kind of dataset has, as words, such as `given('--by', 'score')`.
 */
export function datasetCommand(
  name: string,
  plan: EpisodeSelection,
  { jsonl, output, format, grader }: SelectionTarget,
  own: readonly string[],
): string {
  return commandText(name, [
    ...['--jsonl', ...jsonl.map((path) => shellWord(basename(path)))],
    ...own,
    ...given('--teacher', plan.teacher?.join(',')),
    ...given('--model', plan.model?.join(',')),
    ...given('--conditions', plan.conditions?.join(',')),
    ...given('--seeds', rangeText(plan.seeds)),
    ...flag('--allow-eval-seeds', plan.allowEvalSeeds),
    ...flag('--allow-oracle', plan.allowOracle),
    ...given('--steps', rangeText(plan.steps)),
    ...given('--grader', basename(grader)),
    ...given('--validation', plan.validation),
    ...given('--split-seed', plan.splitSeed),
    ...given('--format', format),
    ...given('--output', basename(resolve(output))),
  ]);
}

/** Returns a command that makes a dataset. */
export const commandText = (name: string, words: readonly string[]): string =>
  `rhythm-vec dataset ${name} ${words.join(' ')}`;

/** Quotes a word for a shell: returns it in single quotes, unless it consists of ASCII letters, digits and ./,:=+-_ */
const shellWord = (word: string): string =>
  /^[\w./,:=+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;

/** Returns an option and its value as words; [] without a value. */
export const given = (option: string, value: string | number | null | undefined): string[] =>
  value === null || value === undefined ? [] : [option, shellWord(String(value))];

/** Returns an option that has no value, if it is set; else []. */
export const flag = (option: string, isSet: boolean): string[] => (isSet ? [option] : []);

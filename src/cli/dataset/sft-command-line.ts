/** Builds the command that reproduces a dataset for SFT, with all defaults written out. */
import { rangeText } from '../../training/datasets/dataset-seeds.js';
import type { SftPlan } from '../../training/datasets/sft/sft-options.js';
import { shellWord } from '../shell-word.js';

/** The options that are not part of the plan. */
interface Paths {
  readonly jsonl: readonly string[];
  readonly output: string;
  readonly format: string;
  readonly grader: string;
}

/** Returns the command line. */
export function sftCommandOf(plan: SftPlan, { jsonl, output, format, grader }: Paths): string {
  const words = [
    ...['--jsonl', ...jsonl.map(shellWord)],
    ...given('--objective', plan.objective),
    ...given('--teacher', plan.teacher?.join(',')),
    ...given('--model', plan.model?.join(',')),
    ...given('--conditions', plan.conditions?.join(',')),
    ...given('--seeds', rangeText(plan.seeds)),
    ...(plan.allowEvalSeeds ? ['--allow-eval-seeds'] : []),
    ...(plan.allowOracle ? ['--allow-oracle'] : []),
    ...given('--steps', rangeText(plan.steps)),
    ...(plan.onlyParsed ? ['--only-parsed'] : []),
    ...given('--grader', grader),
    ...given('--min-score', plan.minScore),
    ...given('--min-margin', plan.minMargin),
    ...given('--max-belief-error', plan.maxBeliefError),
    ...given('--validation', plan.validation),
    ...given('--split-seed', plan.splitSeed),
    ...given('--format', format),
    ...given('--output', output),
  ];
  return `rhythm-vec dataset sft ${words.join(' ')}`;
}

const given = (option: string, value: string | number | null | undefined): string[] =>
  value === null || value === undefined ? [] : [option, shellWord(String(value))];

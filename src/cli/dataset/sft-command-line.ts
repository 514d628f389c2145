/** The command that makes a dataset for SFT again, whatever was left to defaults. */
import { rangeText } from '../../dataset/seeds.js';
import type { SftPlan } from '../../dataset/sft/options.js';
import { shellWord } from '../shell-word.js';

/** What a plan does not know. */
interface Paths {
  readonly jsonl: readonly string[];
  readonly output: string;
  readonly format: string;
  readonly grader: string;
}

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

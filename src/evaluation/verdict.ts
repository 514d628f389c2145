/** Verdicts on policies, and their words: whether a policy was shown to infer, and the bands of a good student that RhythmEnv's author published. */
import type { Interval } from '../shared/statistics.js';
import { decimals, listed } from './format-results.js';
import { BELIEF_BAND, SCORE_BANDS } from './published-scores.js';
import { INFER_NOTHING } from './stored-scores.js';

/** The comparison of a policy with the best policy that infers nothing, in the same episodes. */
export interface Verdict {
  /** The policy of the yardstick with the highest mean score in these episodes. */
  readonly reference: string;
  /** The mean difference of the policy's final scores from those of `reference`. */
  readonly difference: Interval;
  /** The policies of the yardstick whose scores in these episodes are unknown. */
  readonly missing: readonly string[];
}

/** A policy's row of an evaluation. */
export interface JudgedRow {
  /** The policy's name, with `+constant` for the constant belief. */
  readonly name: string;
  readonly oracle: boolean;
  readonly condition: string;
  readonly profiles: string;
  readonly grader: string;
  readonly finalScore: Interval;
  readonly beliefMae: number;
  readonly verdict: Verdict | null;
}

/** Whether a policy may infer the profile: it is no oracle and no built-in policy that infers nothing. */
export const mayInfer = ({ name, oracle }: Pick<JudgedRow, 'name' | 'oracle'>): boolean =>
  !oracle && !INFER_NOTHING.has(name);

/** Whether a policy scores more than all known policies that infer nothing, with the whole 95 % interval. */
export const isAbove = ({ difference }: Verdict): boolean => difference.low !== null && difference.low > 0;

/** Returns whether a row is shown without details. The episodes of `discrete:NAME` are also those of `discrete`. */
export const isMain = <Row extends { readonly condition: string }>(
  { condition }: Row,
  rows: readonly Row[],
): boolean => !condition.startsWith('discrete:') || rows.every((row) => row.condition !== 'discrete');

/** A verdict in words. */
export interface VerdictText {
  /** The policy and the condition. */
  readonly about: string;
  readonly text: string;
}

/** Returns the verdict on each policy that may infer, under each condition. */
export const verdictTexts = (rows: readonly JudgedRow[]): VerdictText[] =>
  rows.flatMap((row) => {
    if (row.verdict === null || !mayInfer(row)) return [];
    const bands = hasBands(row) ? ` ${bandText(row)}` : '';
    return [{ about: `${row.name}, ${row.condition}`, text: `${sentenceOf(row.verdict)}${bands}` }];
  });

/** Returns a note on the verdicts, or why there are none; '' if there is nothing to say. */
export function verdictNote(rows: readonly JudgedRow[]): string {
  if (!rows.some(mayInfer)) return 'No verdict: none of these policies may infer the profile.';
  return rows.some((row) => mayInfer(row) && hasBands(row)) ? BANDS_NOTE : '';
}

function sentenceOf(verdict: Verdict): string {
  const { reference, difference, missing } = verdict;
  const best =
    missing.length === 0
      ? `${reference}, the best without inference`
      : `${reference}, the best without inference that played (${listed(missing)} did not)`;
  return isAbove(verdict)
    ? `${differenceText(difference)} over ${best}.`
    : `not shown to infer by its score, ${differenceText(difference)} against ${best}.`;
}

/** Formats a difference with its sign and its interval: "+0.084 (0.071 to 0.097)". */
export function differenceText({ mean, low, high }: Interval): string {
  const signed = `${Number(decimals(mean)) > 0 ? '+' : ''}${decimals(mean)}`;
  return low === null || high === null ? signed : `${signed} (${decimals(low)} to ${decimals(high)})`;
}

/** The author published the bands for grader v2, with sampled profiles. */
const hasBands = ({ grader, profiles, condition }: JudgedRow): boolean =>
  grader === 'v2' && profiles === 'sampled' && condition !== 'custom';

function bandText({ finalScore, beliefMae }: JudgedRow): string {
  const band = SCORE_BANDS.find(({ above }) => finalScore.mean > above)!;
  const belief =
    beliefMae <= BELIEF_BAND.most
      ? `at most ${BELIEF_BAND.most}, "${BELIEF_BAND.meaning}"`
      : `above ${BELIEF_BAND.most}`;
  return `Author's bands: ${band.range}, "${band.meaning}"; belief error ${belief}.`;
}

const BANDS_NOTE =
  "Author's bands: what RhythmEnv calls a good student (docs/results.md). open-loop+constant reaches both of the best bands " +
  'in-distribution, so they are no evidence of inference.';

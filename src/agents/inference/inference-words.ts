/** Describes an inference about one profile in a few sentences. */
import { formatHundredths } from '../../rollouts/text/format-hundredths.js';
import { spell } from '../../rollouts/text/system-message.js';
import type { BeliefError } from './belief-error.js';
import type {
  Estimate,
  Factor,
  Finding,
  InferenceReport,
  StepFindings,
  TargetEstimate,
} from './inference-report.js';
import { phrasesOf } from './phrases.js';

/** Returns the digit, 0 to 9, that states a belief in [0, 1] in an answer. */
export const digitOf = (belief: number): number => Math.round(belief * 9);

// The limits below are chosen by hand. They affect only the words.

/** A step is informative about a trait if it ruled out at least this share of the trait's range. */
const MIN_NARROWING = 0.04;
/** A reward is described if it changed the mean of a weight by at least this. */
const MIN_WEIGHT_CHANGE = 0.012;
/** Bounds of `share` (inference-report.ts): a trait or weight is low below LITTLE, high above MUCH. */
const [LITTLE, MUCH] = [0.38, 0.62];
/**
 * Bounds of `relativeWidth` (inference-report.ts): an estimate is sure below SURE, likely below LIKELY, unknown above UNSEEN.
 */
const [SURE, LIKELY, UNSEEN] = [0.25, 0.6, 0.97];
/** A belief nearer to 0.5 than this counts as neither low nor high. */
const MIDDLE_WIDTH = 0.09;
/** The expected error of a belief is small below this. */
const SMALL = 0.05;

/**
 * Describes the latest step's evidence, the belief with its reasons, and its least certain number (or what the reward
 * showed), in three short sentences on one line. The text has no answer line and no `<reasoning>` tags.
 * @param error the error that the stated belief minimises: as for `Inference.beliefs`. Default 'absolute'.
 */
export function inferenceWords(report: InferenceReport, error: BeliefError = 'absolute'): string {
  const { last, traits, weights, targets } = report;
  if (last === null)
    return `Nothing was seen of this person yet. ${beliefWords(targets, error)} ${doubtWords(targets)}`;
  const evidence = contradictionWords(last) ?? stepWords(last, traits);
  // If a reward changed the weights, its sentence replaces the sentence on doubt, so that the text stays short.
  return [evidence, beliefWords(targets, error), rewardWords(last, weights) ?? doubtWords(targets)].join(' ');
}

function contradictionWords({ findings, contradictions, action }: StepFindings): string | null {
  const contradictory = findings.find((finding) => finding.contradiction);
  const what =
    contradictory?.meter ?? (contradictions.changes ? 'change' : contradictions.reward ? 'reward' : null);
  return (
    what && `The ${what} after ${spell(action)} does not fit what was seen before, so more is possible again.`
  );
}

function stepWords(last: StepFindings, traits: readonly Estimate[]): string {
  const finding = mostInformativeFinding(last);
  const actionAndTime = `${spell(last.action)} ${last.slot === 'night' ? 'at' : 'in the'} ${last.slot}`;
  if (finding.remaining > 1 - MIN_NARROWING)
    return stressWords(last, traits) ?? nothingNewWords(finding, actionAndTime, traits);
  const trait = traits.find(({ name }) => name === finding.trait)!;
  return `${actionAndTime}: ${finding.meter} anomaly ${formatHundredths(finding.anomaly)}, ${compareWithNoise(finding)} ${hedgedClauseOf(trait)}.`;
}

/**
 * Compares an anomaly with the noise, in hundredths as in prompts. Equal hundredths count as the limit of the noise. The
 * text calls noise luck, because the prompts do.
 */
function compareWithNoise({ anomaly, noise }: Finding): string {
  const [size, most] = [Math.round(100 * Math.abs(anomaly)), Math.round(100 * noise)];
  if (size > most) return `luck adds at most ${formatHundredths(noise)}, so`;
  if (size === most) return 'at the limit of luck, which rules out extremes:';
  return `within luck's limit of ${formatHundredths(noise)}, which rules out extremes:`;
}

/**
 * Returns the finding of the trait whose range narrowed most. If several ranges narrowed equally, returns the finding with the
 * largest anomaly relative to its noise.
 */
function mostInformativeFinding({ findings }: StepFindings): Finding {
  const relativeSize = ({ anomaly, noise }: Finding): number => Math.abs(anomaly) / (noise || 1);
  return findings.reduce((a, b) => {
    if (a.trait === null || b.trait === null) return a.trait === null ? b : a;
    return b.remaining < a.remaining || (b.remaining === a.remaining && relativeSize(b) > relativeSize(a))
      ? b
      : a;
  });
}

function stressWords({ stress }: StepFindings, traits: readonly Estimate[]): string | null {
  if (stress.remaining > 1 - MIN_NARROWING) return null;
  const threshold = traits.find(({ name }) => name === 'stress_threshold')!;
  const verb = threshold.low >= stress.serenity ? 'brought' : 'brought no';
  return `Serenity ${formatHundredths(stress.serenity)} ${verb} stress, which begins near ${formatHundredths(threshold.median)}.`;
}

function nothingNewWords({ trait }: Finding, actionAndTime: string, traits: readonly Estimate[]): string {
  if (trait === null) return `${actionAndTime} acts on everyone alike, so its anomalies are luck.`;
  return `${actionAndTime} fits what was known: ${hedgedClauseOf(traits.find(({ name }) => name === trait)!)}.`;
}

/** Returns the clause for a trait, with a hedge if the estimate is uncertain. */
function hedgedClauseOf(trait: Estimate): string {
  const phrase = clauseOf(trait);
  return trait.relativeWidth < SURE
    ? phrase
    : trait.relativeWidth < LIKELY
      ? `it seems ${phrase}`
      : `perhaps ${phrase}`;
}

function clauseOf({ name, share }: Estimate): string {
  const { low, middle, high } = phrasesOf(name);
  return share < LITTLE ? low : share > MUCH ? high : middle;
}

function rewardWords(last: StepFindings, weights: readonly Estimate[]): string | null {
  const { expectedReward, reward, rewardNoise, weightChange } = last;
  if (expectedReward === null || Math.abs(weightChange.change) < MIN_WEIGHT_CHANGE) return null;
  const difference = reward - expectedReward;
  const weight = weights.find(({ name }) => name === weightChange.meter)!;
  return (
    `Reward ${formatHundredths(Math.abs(difference))} ${difference < 0 ? 'below' : 'above'} expectation, luck up to ` +
    `${formatHundredths(rewardNoise)}: ${weight.name} matters ${weightChange.change > 0 ? 'more' : 'less'}, about ${formatHundredths(weight.median)}.`
  );
}

function beliefWords(targets: readonly TargetEstimate[], error: BeliefError): string {
  const untested = targets.filter(({ factors }) =>
    factors.every(({ relativeWidth }) => relativeWidth > LIKELY),
  );
  const parts = targets.map((target) => {
    const why = untested.includes(target)
      ? untested.length === targets.length
        ? null
        : 'untested'
      : mainReasonOf(target);
    const belief = error === 'squared' ? target.mean : target.median;
    return `${target.name} ${digitOf(belief)}${why === null ? '' : ` (${why})`}`;
  });
  return `Belief: ${parts.join(', ')}${untested.length === targets.length ? ', all untested' : ''}.`;
}

/** Returns the main reason why a belief is low or high; null if it is neither, or no known factor explains it. */
function mainReasonOf({ median, factors }: TargetEstimate): string | null {
  if (Math.abs(median - 0.5) < MIDDLE_WIDTH) return null;
  const reasons = factors.filter(
    ({ relativeWidth, shift }) => relativeWidth < LIKELY && shift * (median - 0.5) > 0,
  );
  return reasons.length === 0
    ? null
    : clauseOf(reasons.reduce((a, b) => (Math.abs(b.shift) > Math.abs(a.shift) ? b : a)));
}

function doubtWords(targets: readonly TargetEstimate[]): string {
  const leastSure = targets.reduce((a, b) => (b.error > a.error ? b : a));
  const [low, high] = [digitOf(leastSure.low), digitOf(leastSure.high)];
  const range = low === high ? String(low) : `${low} to ${high}`;
  const widest = leastSure.factors.reduce((a, b) => (b.targetWidth > a.targetWidth ? b : a));
  return `${leastSure.error < SMALL ? 'Nearly sure, least of' : 'Least sure is'} ${leastSure.name} (${range}): ${reasonOfDoubt(widest)}.`;
}

function reasonOfDoubt({ name, isWeight, relativeWidth, low, high }: Factor): string {
  const { unseen, about } = phrasesOf(name);
  if (relativeWidth > UNSEEN) return unseen;
  if (isWeight)
    return `by rewards alone, ${name} weighs ${formatHundredths(low)} to ${formatHundredths(high)}`;
  return `luck blurs ${about}`;
}

/** Describes an inference about one profile in a few sentences. */

import { digitOf, formatHundredths, spell } from '../../rollouts/text/spelling.js';
import type {
  Estimate,
  Factor,
  Finding,
  InferenceReport,
  StepFindings,
  TargetEstimate,
} from './inference-report.js';
import type { BeliefError } from './samples.js';

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

/** Clauses about a trait or a reward weight, for the middle of a sentence. */
export interface Phrases {
  /** For a low, a middle and a high value. */
  readonly low: string;
  readonly middle: string;
  readonly high: string;
  /** Why the value is unknown, if it is. */
  readonly unseen: string;
  /** The question that the value answers. */
  readonly about: string;
}

const TRAIT_PHRASES: Readonly<Record<string, Phrases>> = {
  social_vitality_multiplier: {
    low: 'company costs them little energy',
    middle: 'company tires them somewhat',
    high: 'company drains them',
    unseen: 'company is untried',
    about: 'how much company tires them',
  },
  social_serenity_bonus: {
    low: 'company does not calm them',
    middle: 'company calms them a little',
    high: 'company calms them',
    unseen: 'company is untried',
    about: 'whether company calms them',
  },
  morning_focus: {
    low: 'their mornings are dull',
    middle: 'their mornings are ordinary',
    high: 'their mornings are sharp',
    unseen: 'morning work is untried',
    about: 'how sharp their mornings are',
  },
  night_focus: {
    low: 'late work goes badly',
    middle: 'late work goes as usual',
    high: 'late work goes well',
    unseen: 'late work is untried',
    about: 'how late work goes',
  },
  work_vitality_recovery: {
    low: 'work gives them no energy',
    middle: 'work gives them a little energy',
    high: 'work gives them energy',
    unseen: 'work is untried',
    about: 'what work does to their energy',
  },
  progress_serenity_bonus: {
    low: 'work brings them no peace',
    middle: 'work calms them a little',
    high: 'work calms them',
    unseen: 'work is untried',
    about: 'whether work calms them',
  },
  solo_serenity_bonus: {
    low: 'time alone does not calm them',
    middle: 'time alone calms them a little',
    high: 'time alone calms them',
    unseen: 'time alone is untried',
    about: 'whether time alone calms them',
  },
  leisure_guilt: {
    low: 'idling leaves little guilt',
    middle: 'idling leaves some guilt',
    high: 'idling leaves much guilt',
    unseen: 'idling is untried',
    about: 'whether idling leaves guilt',
  },
  stress_threshold: {
    low: 'stress comes late',
    middle: 'stress comes as for most',
    high: 'stress comes early',
    unseen: 'serenity was never low',
    about: 'when stress comes',
  },
  metabolic_rate: {
    low: 'their energy lasts',
    middle: 'their energy fades as for most',
    high: 'their energy fades fast',
    // The rate shows only in the changes of vitality. A change that was clamped at 0 or 1 gives only a bound.
    unseen: 'vitality hid it',
    about: 'how fast their energy fades',
  },
  event_impact: {
    low: 'events hardly touch them',
    middle: 'events touch them as most',
    high: 'events hit them hard',
    unseen: 'no event came',
    about: 'how hard events hit them',
  },
};

/** Returns the phrases of a reward weight, which is named by its meter. */
const weightPhrases = (meter: string): Phrases => ({
  low: `${meter} matters little to them`,
  middle: `${meter} matters to them as to most`,
  high: `${meter} matters much to them`,
  unseen: `the worth of ${meter} shows only in rewards`,
  about: `what ${meter} is worth to them`,
});

/** Returns the phrases of a trait or weight. @param name in TRAIT_NAMES, or in METER_NAMES for a weight. */
export const phrasesOf = (name: string): Phrases => TRAIT_PHRASES[name] ?? weightPhrases(name);

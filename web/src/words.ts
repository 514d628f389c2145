/**
 * What visitors read in place of code names and numbers, and the colours of policies. Views show the visitor's name of a policy,
 * with the code name as a subtitle (PolicyName in parts/content.tsx).
 */
import { decimal, kindOf, type PolicyKind } from '../../src/figures/theme.js';
import type { Interval } from '../../src/shared/statistics.js';

/** A visitor's name, and a sentence for the line below a control. */
type Words = readonly [name: string, sentence: string];

/** By the code name of the policy, without `+constant` and `+inference`. */
const POLICIES: Readonly<Record<string, Words>> = {
  hand: ['you', 'You choose each action.'],
  random: ['random actions', 'Acts at random.'],
  heuristic: ['daily rules of thumb', 'Follows a daily schedule, and a few rules for low meters.'],
  'open-loop': ['same week for everybody', 'Plays the same 28 actions for everybody, whatever happens.'],
  reactive: ['rules for the meters', 'Chooses by the time and the meters alone.'],
  planner: ['planner', 'Infers who the person is, and plans the rest of the week for the highest score.'],
  'planner-wellbeing': [
    'planner for a good week',
    'Infers who the person is, and plans a week that is good for the person.',
  ],
  'planner-prior': [
    'planner that reads nobody',
    'Plans for the highest score, but never infers who the person is.',
  ],
  'planner-oracle': [
    'planner that knows the person',
    'Plans for the highest score with the hidden profile in hand.',
  ],
};

/** A student of the package. */
const packagedStudent = (grader: string, isClone: boolean): Words =>
  isClone
    ? [
        `student that copies the planner (${grader})`,
        `A small network that imitates the planner under ${grader}.`,
      ]
    : [
        `student trained for ${grader}`,
        `A small network that imitated the planner, then improved by playing under ${grader}.`,
      ];

/** What a suffix of a policy's code name says about its beliefs. */
const SUFFIXES: Readonly<Record<string, Words>> = {
  constant: ['guessing 0.5', 'States the belief 0.5 about everybody.'],
  inference: ['reading the person', 'Infers who the person is.'],
};

function actionsOf(actions: string): Words {
  const [, trainedFor, clone] = /^student-(v[23])(-clone)?$/.exec(actions) ?? [];
  if (trainedFor !== undefined) return packagedStudent(trainedFor, clone !== undefined);
  const [, foundFor] = /^open-loop-(v\d)$/.exec(actions) ?? [];
  const known = foundFor === undefined ? actions : 'open-loop';
  // A student that was trained on the page has the name that the visitor gave it, such as "constructor".
  if (!Object.hasOwn(POLICIES, known)) return [actions, 'A student that was trained in this browser.'];
  const [name, sentence] = POLICIES[known];
  return [foundFor === undefined ? name : `${name} (${foundFor})`, sentence];
}

function policyOf(code: string): Words {
  const [actions, suffix] = code.split('+');
  const [name, sentence] = actionsOf(actions);
  if (suffix === undefined) return [name, sentence];
  return [`${name}, ${SUFFIXES[suffix][0]}`, `${sentence} ${SUFFIXES[suffix][1]}`];
}

/** Returns the visitor's name of a policy: "same week for everybody, guessing 0.5" for "open-loop+constant". */
export const policyName = (code: string): string => policyOf(code)[0];

/** Returns both names of a policy, for lists that show one line each: "daily rules of thumb (heuristic)". */
export function policyLabel(code: string): string {
  const name = policyName(code);
  return name === code ? name : `${name} (${code})`;
}

/** Describes a policy in a sentence or two. */
export const policyWords = (code: string): string => policyOf(code)[1];

/** What 0 and 1 mean in the three numbers of a belief, by BELIEF_NAMES. */
export const BELIEF_WORDS: Readonly<Record<string, { readonly low: string; readonly high: string }>> = {
  social: { low: 'hates company', high: 'loves company' },
  morning: { low: 'night owl', high: 'morning person' },
  work: { low: 'avoids work', high: 'lives for work' },
};

/** The components of a grade, by COMPONENT_NAMES: the visitor's name, and what earns it. */
export const COMPONENT_WORDS: Readonly<Record<string, { name: string; sentence: string }>> = {
  crash_free: { name: 'no crashes', sentence: 'meters that stay out of the red' },
  progress: { name: 'final progress', sentence: 'the meter at the end of the week' },
  connection: { name: 'final connection', sentence: 'the meter at the end of the week' },
  adaptation: { name: 'better second half', sentence: 'a gain over the first half of the week' },
  efficiency: { name: 'reward', sentence: 'the mean over all slots' },
  belief_accuracy: { name: 'final belief', sentence: 'the distance from the truth at the end' },
  wellbeing: { name: 'good week', sentence: 'the meters, as this person values them' },
  belief_skill: { name: 'beliefs all week', sentence: 'better than 0.5, from day 3 on' },
};

/** The graders. */
export const GRADER_WORDS: Readonly<Record<string, string>> = {
  v1: 'Pays most for a second half that is better than the first, and nothing for beliefs.',
  v2: 'Pays for the same as v1, and also for a last belief that is close to the truth.',
  v3: 'Pays for a good week, and for accurate beliefs from the third day on.',
};

/**
 * Formats a whole number with commas: "100,000". `toLocaleString` would load the browser's tables of languages, which takes
 * as long as drawing the page.
 */
export const grouped = (value: number): string => String(value).replace(/\B(?=(\d{3})+$)/g, ',');

/** Returns the CSS variable with the colour of a kind of policy. */
export const variableOf = (kind: PolicyKind): string => `--policy-${kind}`;

/** Returns the colour of a policy, as CSS. A policy of no known kind is a student that was trained on the page. */
export const colourOf = (policy: string): string => `var(${variableOf(kindOf(policy) ?? 'student')})`;

/** Formats the half-width of the 95 % interval: "±0.0012"; '' for a single value. */
export const halfWidth = ({ mean, high }: Interval, digits: number): string =>
  high === null ? '' : `±${decimal(high - mean, digits)}`;

/** Formats a share: "12.5 %". */
export const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;

/** Writes the texts of prompts. Their words are in text.json, which the Python package reads too. */
import { type GraderLike, graderWeights } from '../../engine/graders/grader.js';
import { HISTORY_STEPS } from '../../engine/observe/history.js';
import {
  ACTION_NAMES,
  COMPONENT_NAMES,
  EVENT_NAMES,
  GRADER_NAMES,
  NUM_METERS,
  NUM_SLOTS,
  NUM_STEPS,
  OBSERVATION,
} from '../../world/fields.js';
import { RHYTHM } from '../../world/numbers.js';
import { PAST } from './observation-row.js';
import { formatHundredths, hundredthsAfterSpace, spell } from './spelling.js';
import TEXT from './text.json' with { type: 'json' };

type Values = Readonly<Record<string, string | number>>;

/** Puts values in the places of a template that are named in braces. Values that are left out keep their place. */
const fill = (template: string, values: Values): string =>
  template.replace(/\{(\w+)\}/g, (place, name: string) => String(values[name] ?? place));

const { grading, state } = TEXT;
/** How a model answers: with a line such as `4 6 5 SLEEP`, or by calling the tool `act`. */
export type AnswerForm = 'line' | 'tools';
/** Returns the rules with what the grader pays for. */
const rulesOf = (grading: string, form: AnswerForm): string =>
  fill(TEXT.rules.join('\n'), { grading, answer: TEXT.answer_forms[form].join('\n') });
const PAID: Readonly<Record<string, string>> = TEXT.components;

/** Describes the components whose weights are not 0, the largest magnitude first. @param weights f32 [8]. */
function gradingOf(weights: Float32Array): string {
  const lines = COMPONENT_NAMES.map((name, k) => ({ weight: weights[k], component: PAID[name] }))
    .filter(({ weight }) => weight !== 0)
    .sort((a, b) => Math.abs(b.weight) - Math.abs(a.weight))
    .map(({ weight, component }) => fill(weight < 0 ? grading.punished : grading.paid, { component }));
  return [grading.title, ...lines].join('\n');
}

const BUILT_IN = GRADER_NAMES.map((name) => {
  const weights = graderWeights(name);
  return {
    weights,
    grading: name === 'v3' ? gradingOf(weights) : grading.v1_and_v2,
  };
});

/**
 * Returns the system message under a grader: the rules of an episode, what its grader pays for and how to answer, the same for
 * every profile. It depends on the weights alone. Its text about grading is one sentence for the weights of v1 and v2; for other
 * weights it has a line for each component whose weight is not 0.
 * @throws InputError as `graderWeights`.
 */
export function systemText(grader: GraderLike = 'v2', form: AnswerForm = 'line'): string {
  const weights = graderWeights(grader);
  const builtIn = BUILT_IN.find((each) => each.weights.every((weight, k) => weight === weights[k]));
  return rulesOf(builtIn?.grading ?? gradingOf(weights), form);
}

const ACTIONS = ACTION_NAMES.map(spell);
const EVENTS = EVENT_NAMES.map((name) => fill(state.event, { name }));
/** The day and time of each step, [28]. */
const TIMES = Array.from({ length: NUM_STEPS }, (_, step) =>
  fill(state.time, { day: 1 + Math.floor(step / NUM_SLOTS), slot: RHYTHM.slots[step % NUM_SLOTS] }),
);

/** Splits a template into the texts between the places that are still open. */
const between = (template: string): string[] => template.split(/\{\w+\}/);
/** The first lines by the number of steps taken, [29], around the values of the meters. */
const NOW = [...TIMES, state.over].map((time, step) =>
  between(fill(state.now, { time, remaining: NUM_STEPS - step })),
);
/** Around the last reward and the event, by action. */
const LAST = ACTIONS.map((action) => between(fill(state.last, { action })));
/** Around the changes and the anomalies of the last step. */
const CHANGES = between(state.changes);
/** Around the reward, the changes and the anomalies, by step and action. */
const PAST_STEPS = TIMES.map((time) =>
  ACTIONS.map((action) => between(fill(state.past_step, { time, action }))),
);

export const HISTORY_FORMS = ['whole', 'new'] as const;
/** The past steps in a user message. 'whole': all that are known, at most seven; 'new': the last one. */
export type HistoryForm = (typeof HISTORY_FORMS)[number];

/**
 * Returns the text of a user message. Its lines are joined at once: a text made by additions alone would take three times as
 * long and five times the memory.
 * @param rows f32, validated: the row begins at index `base`. It has ROW_SIZE numbers, or OBSERVATION_SIZE if `history` is 'new'.
 * @param form with 'line' the text ends with a request for one, before the last step.
 */
export function userText(
  rows: Float32Array,
  base: number,
  history: HistoryForm = 'whole',
  form: AnswerForm = 'line',
): string {
  const number = (at: number): string => formatHundredths(rows[base + at]);
  const step = rows[base + OBSERVATION.step];
  const now = NOW[step];
  let meters = now[0];
  for (let m = 0; m < NUM_METERS; m++) meters += number(OBSERVATION.meters + m) + now[m + 1];
  const lines = [meters];
  const action = rows[base + OBSERVATION.lastAction];
  if (action < 0) {
    lines.push(state.no_last);
  } else {
    const [before, comma, end] = LAST[action];
    const event = EVENTS[rows[base + OBSERVATION.event]] ?? state.no_event;
    lines.push(before + number(OBSERVATION.reward) + comma + event + end);
    if (history === 'new') lines.push(changesText(rows, base));
  }
  if (history === 'whole') pushPast(lines, rows, base, step - HISTORY_STEPS);
  if (form === 'line' && rows[base + OBSERVATION.remaining] > 0) lines.push(state.request);
  return lines.join('');
}

/** Returns the line of the last step's changes and anomalies. */
function changesText(rows: Float32Array, base: number): string {
  const [before, between, end] = CHANGES;
  const deltas = metersText(rows, base + OBSERVATION.deltas);
  return before + deltas + between + metersText(rows, base + OBSERVATION.anomalies) + end;
}

/** Adds a title and a line for each past step, the oldest first; nothing without past steps. @param first the oldest step. */
function pushPast(lines: string[], rows: Float32Array, base: number, first: number): void {
  let isFirst = true;
  for (let k = 0; k < HISTORY_STEPS; k++) {
    const action = rows[base + PAST.actions + k];
    if (action < 0) continue;
    if (isFirst) lines.push(state.past);
    isFirst = false;
    const [before, toDeltas, toAnomalies, end] = PAST_STEPS[first + k][action];
    const reward = formatHundredths(rows[base + PAST.rewards + k]);
    const deltas = metersText(rows, base + PAST.deltas + k * NUM_METERS);
    const anomalies = metersText(rows, base + PAST.anomalies + k * NUM_METERS);
    lines.push(before + reward + toDeltas + deltas + toAnomalies + anomalies + end);
  }
}

/** Returns the values of all meters, separated by spaces. */
function metersText(rows: Float32Array, from: number): string {
  let values = formatHundredths(rows[from]);
  for (let m = 1; m < NUM_METERS; m++) values += hundredthsAfterSpace(rows[from + m]);
  return values;
}

/** Writes the user message of a prompt. */
import { HISTORY_STEPS } from '../../engine/observe/past-step.js';
import {
  ACTION_NAMES,
  EVENT_NAMES,
  METER_NAMES,
  NUM_METERS,
  NUM_SLOTS,
  NUM_STEPS,
  OBSERVATION,
} from '../../world/fields.js';
import { RHYTHM } from '../../world/numbers.js';
import { PAST } from './observation-row.js';
import { ANSWER_FORM, spell } from './system-message.js';
import { fragmentOf, numbersAfter, type TextWriter } from './text-writer.js';

/** Names of actions in upper case, by code. */
const ACTIONS = ACTION_NAMES.map(spell);
/** Day and time of each step, [28]. */
const TIMES = Array.from(
  { length: NUM_STEPS },
  (_, step) => `day ${1 + Math.floor(step / NUM_SLOTS)} ${RHYTHM.slots[step % NUM_SLOTS]}`,
);
const slotsLeft = (remaining: number): string => `${remaining} of ${NUM_STEPS} slots left`;
/** The first line by the number of steps taken, [29]. */
const NOW = [
  ...TIMES.map((time, step) => `Now: ${time}, ${slotsLeft(NUM_STEPS - step)}`),
  `Now: the week is over, ${slotsLeft(0)}`,
];

/** The first line and the name of the first meter, by step. A number follows each fragment (text-writer.ts) named TO_... */
const TO_FIRST_METER = NOW.map((now) => fragmentOf(`${now}\nMeters: ${METER_NAMES[0]}`));
const TO_OTHER_METER = METER_NAMES.map((name) => fragmentOf(`, ${name}`));
const TO_LAST_REWARD = ACTIONS.map((action) => fragmentOf(`\nLast: ${action}, reward`));
const TO_PAST_REWARD = TIMES.map((time) => ACTIONS.map((action) => fragmentOf(`\n${time}: ${action}`)));
/** Numbers after a space, and after a bar. */
const AFTER_SPACE = numbersAfter(' ');
const AFTER_BAR = numbersAfter(' | ');

const NO_LAST_STEP = fragmentOf('\nLast: nothing yet, this is the first slot');
/** The text of each event, by code. The last entry is for no event, code -1. */
const EVENTS = [...EVENT_NAMES.map((name) => `event ${name}`), 'no event'].map((text) =>
  fragmentOf(`, ${text}`),
);
const PAST_TITLE = fragmentOf(
  `\nLast slots, oldest first: action, reward | changes | anomalies (${METER_NAMES.join(' ')})`,
);
const ENDING = fragmentOf(`\n\nAnswer with one line: ${ANSWER_FORM}`);

/** Writes the text of a user message. @param rows f32, validated: the row of ROW_SIZE numbers begins at index `base`. */
export function writeUserContent(writer: TextWriter, rows: Float32Array, base: number): void {
  writer.put(TO_FIRST_METER[rows[base + OBSERVATION.step]]);
  const meters = base + OBSERVATION.meters;
  writer.putNumbers(AFTER_SPACE, rows, meters, 1);
  for (let k = 1; k < NUM_METERS; k++) {
    writer.put(TO_OTHER_METER[k]);
    writer.putNumbers(AFTER_SPACE, rows, meters + k, 1);
  }
  writeLastStep(writer, rows, base);
  writePastSteps(writer, rows, base);
  if (rows[base + OBSERVATION.remaining] > 0) writer.put(ENDING);
}

function writeLastStep(writer: TextWriter, rows: Float32Array, base: number): void {
  const action = rows[base + OBSERVATION.lastAction];
  if (action < 0) {
    writer.put(NO_LAST_STEP);
    return;
  }
  writer.put(TO_LAST_REWARD[action]);
  writer.putNumbers(AFTER_SPACE, rows, base + OBSERVATION.reward, 1);
  const event = rows[base + OBSERVATION.event];
  writer.put(EVENTS[event < 0 ? EVENT_NAMES.length : event]);
}

/** Writes a title and a line for each past step, the oldest first; nothing without past steps. */
function writePastSteps(writer: TextWriter, rows: Float32Array, base: number): void {
  const first = rows[base + OBSERVATION.step] - HISTORY_STEPS;
  let isFirst = true;
  for (let k = 0; k < HISTORY_STEPS; k++) {
    const action = rows[base + PAST.actions + k];
    if (action < 0) continue;
    if (isFirst) writer.put(PAST_TITLE);
    isFirst = false;
    writer.put(TO_PAST_REWARD[first + k][action]);
    writer.putNumbers(AFTER_SPACE, rows, base + PAST.rewards + k, 1);
    writeMeters(writer, rows, base + PAST.deltas + k * NUM_METERS);
    writeMeters(writer, rows, base + PAST.anomalies + k * NUM_METERS);
  }
}

/** Writes one value per meter. */
function writeMeters(writer: TextWriter, rows: Float32Array, from: number): void {
  writer.putNumbers(AFTER_BAR, rows, from, 1);
  writer.putNumbers(AFTER_SPACE, rows, from + 1, NUM_METERS - 1);
}

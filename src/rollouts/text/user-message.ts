/** Writes the user message: the current state and the last seven steps. */
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
import { formatHundredths } from './format-hundredths.js';
import { PAST } from './observation-row.js';
import { ANSWER_FORM, spell } from './system-message.js';

/** Names in upper case, by code. */
const ACTIONS = ACTION_NAMES.map(spell);
/** Day and time of each step, [28]. */
const TIMES = Array.from(
  { length: NUM_STEPS },
  (_, step) => `day ${1 + Math.floor(step / NUM_SLOTS)} ${RHYTHM.slots[step % NUM_SLOTS]}`,
);
const PAST_TITLE = `Last slots, oldest first: action, reward | changes | anomalies (${METER_NAMES.join(' ')})`;
const ENDING = ['', `Answer with one line: ${ANSWER_FORM}`];

/** Returns the text of a user message. @param rows f32, validated: the row of ROW_SIZE numbers begins at index `base`. */
export function userContent(rows: Float32Array, base: number): string {
  const lines = [
    nowLine(rows, base),
    metersLine(rows, base),
    lastStepLine(rows, base),
    ...pastLines(rows, base),
  ];
  if (rows[base + OBSERVATION.remaining] > 0) lines.push(...ENDING);
  // `join` returns one flat string. Concatenation would keep its hundred parts in memory.
  return lines.join('\n');
}

function nowLine(rows: Float32Array, base: number): string {
  const remaining = rows[base + OBSERVATION.remaining];
  const left = `${remaining} of ${NUM_STEPS} slots left`;
  if (remaining === 0) return `Now: the week is over, ${left}`;
  const day = rows[base + OBSERVATION.day] + 1;
  return `Now: day ${day} ${RHYTHM.slots[rows[base + OBSERVATION.slot]]}, ${left}`;
}

function metersLine(rows: Float32Array, base: number): string {
  const from = base + OBSERVATION.meters;
  const meters = METER_NAMES.map((name, k) => `${name} ${formatHundredths(rows[from + k])}`);
  return `Meters: ${meters.join(', ')}`;
}

function lastStepLine(rows: Float32Array, base: number): string {
  const action = rows[base + OBSERVATION.lastAction];
  if (action < 0) return 'Last: nothing yet, this is the first slot';
  const event = rows[base + OBSERVATION.event];
  const eventText = event < 0 ? 'no event' : `event ${EVENT_NAMES[event]}`;
  return `Last: ${ACTIONS[action]}, reward ${formatHundredths(rows[base + OBSERVATION.reward])}, ${eventText}`;
}

/** Returns a line for each past step in a row, the oldest first, after a title. No past steps give no lines. */
function pastLines(rows: Float32Array, base: number): readonly string[] {
  const first = rows[base + OBSERVATION.step] - HISTORY_STEPS;
  const lines: string[] = [];
  for (let k = 0; k < HISTORY_STEPS; k++) {
    const action = rows[base + PAST.actions + k];
    if (action < 0) continue;
    const what = `${TIMES[first + k]}: ${ACTIONS[action]} ${formatHundredths(rows[base + PAST.rewards + k])}`;
    const changes = meterValues(rows, base + PAST.deltas + k * NUM_METERS);
    lines.push(`${what} |${changes} |${meterValues(rows, base + PAST.anomalies + k * NUM_METERS)}`);
  }
  return lines.length === 0 ? lines : [PAST_TITLE, ...lines];
}

/** Formats one value per meter. */
function meterValues(rows: Float32Array, from: number): string {
  let text = '';
  for (let k = 0; k < NUM_METERS; k++) text += ` ${formatHundredths(rows[from + k])}`;
  return text;
}

/** Emits `python/rhythm_vec/_world.py`: names, sizes, layouts and the numbers of the published world. */
import packageFile from '../package.json' with { type: 'json' };
import { OUTPUT_ARRAYS } from '../src/engine/backends/outputs.js';
import { toGrader } from '../src/engine/graders/grader.js';
import { largestMagnitudes } from '../src/engine/observe/bounds.js';
import { encodingOf } from '../src/engine/observe/encoding.js';
import { HISTORY_SIZE, HISTORY_STEPS, RECORD_FIELDS } from '../src/engine/observe/history.js';
import {
  FORMAT,
  HEADER_FIELDS,
  HEADER_LENGTH,
  MAGIC,
  stateLayoutDigest,
} from '../src/engine/snapshot/format.js';
import { SMALLEST_TRAIT } from '../src/engine/snapshot/legal-states.js';
import { SKILL_ROUNDING, SKILL_ROUNDING_SHARE } from '../src/engine/validate/float-bounds.js';
import { FIRST_NONZERO, MIN_VALUE } from '../src/engine/validate/starts.js';
import { AUTORESET_MODES } from '../src/engine/vec-env/autoreset.js';
import { EXPLORATION, REPETITION, REWARD_STACK } from '../src/rollouts/rewards/compute-rewards.js';
import TEXT from '../src/rollouts/text/text.json' with { type: 'json' };
import { snakeCase } from '../src/shared/names.js';
import { BLOCK_LAYOUT, layoutDigest } from '../src/world/block.js';
import {
  ACTION_NAMES,
  BELIEF_NAMES,
  COMPONENT_NAMES,
  EVENT_NAMES,
  type Field,
  GRADER_NAMES,
  MAX_ENVS,
  MAX_MAGNITUDE,
  MAX_SUM,
  MAX_THREADS,
  METER_NAMES,
  MIN_MAGNITUDE,
  NUM_STEPS,
  OBSERVATION_FIELDS,
  PROFILE_NAMES,
  PROFILE_SIZE,
  STATE_FIELDS,
  TRAIT_NAMES,
} from '../src/world/fields.js';
import { RHYTHM } from '../src/world/numbers.js';
import { SUM_TOLERANCE } from '../src/world/validate-world.js';
import { createWorld } from '../src/world/world.js';

/** Returns a value as a Python literal: JSON with tuples for lists. The values contain neither booleans nor null. */
function literal(value: unknown): string {
  if (Array.isArray(value)) {
    const entries = value.map(literal);
    return `(${entries.join(', ')}${entries.length === 1 ? ',' : ''})`;
  }
  if (typeof value === 'object' && value !== null) {
    return `{${Object.entries(value)
      .map(([key, entry]) => `${JSON.stringify(key)}: ${literal(entry)}`)
      .join(', ')}}`;
  }
  // Whole numbers above 2^53 are written as floats, which NumPy compares faster.
  if (typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER) return value.toExponential();
  return JSON.stringify(value);
}

/** Formats rows, one per line. */
const rows = (entries: readonly (readonly unknown[])[]): string =>
  `(\n${entries.map((entry) => `    ${literal(entry)},\n`).join('')})`;

/** Formats u32 words, ten per line. */
function words(values: Uint32Array): string {
  const lines = Array.from({ length: Math.ceil(values.length / 10) }, (_, line) =>
    Array.from(values.subarray(10 * line, 10 * line + 10)).join(', '),
  );
  return `(\n${lines.map((line) => `    ${line},\n`).join('')})`;
}

const fieldRows = (fields: readonly Field[]) =>
  rows(fields.map(({ name, offset, size, word, low, high }) => [name, offset, size, word, low, high]));

/** Sizes of one-hot blocks, by field. Fields without codes are left out. */
const oneHotSizes = () =>
  Object.fromEntries(
    encodingOf(createWorld(), { oneHot: true })
      .filter(({ encoding }) => encoding === 'one_hot')
      .map(({ source, field }) => [source.name, field.size]),
  );

/** Returns an object with its keys in snake_case, at every depth. */
const snakeKeys = (value: object): object =>
  Object.fromEntries(
    Object.entries(value).map(([name, entry]) => [
      snakeCase(name),
      typeof entry === 'object' ? snakeKeys(entry) : entry,
    ]),
  );

/** Returns the text of `python/rhythm_vec/_world.py`. */
export function emitPythonWorld(): string {
  const world = createWorld();
  const constants = {
    VERSION: literal(packageFile.version),
    LAYOUT_DIGEST: literal(layoutDigest()),
    WORLD_VERSION: literal(RHYTHM.version),
    WORLD_DIGEST: literal(world.digest),
    ACTION_NAMES: literal(ACTION_NAMES),
    EVENT_NAMES: literal(EVENT_NAMES),
    METER_NAMES: literal(METER_NAMES),
    TRAIT_NAMES: literal(TRAIT_NAMES),
    BELIEF_NAMES: literal(BELIEF_NAMES),
    COMPONENT_NAMES: literal(COMPONENT_NAMES),
    PROFILE_NAMES: literal(PROFILE_NAMES),
    GRADER_NAMES: literal(GRADER_NAMES),
    GRADERS: literal(Object.fromEntries(GRADER_NAMES.map((name) => [name, toGrader(name).weights]))),
    AUTORESET_MODES: literal(AUTORESET_MODES),
    NUM_STEPS: literal(NUM_STEPS),
    PROFILE_SIZE: literal(PROFILE_SIZE),
    MAX_ENVS: literal(MAX_ENVS),
    MAX_THREADS: literal(MAX_THREADS),
    MIN_MAGNITUDE: literal(MIN_MAGNITUDE),
    MAX_MAGNITUDE: literal(MAX_MAGNITUDE),
    MAX_SUM: literal(MAX_SUM),
    SUM_TOLERANCE: literal(SUM_TOLERANCE),
    MIN_START: literal(MIN_VALUE),
    FIRST_NONZERO: literal(FIRST_NONZERO),
    SMALLEST_TRAIT: literal(SMALLEST_TRAIT),
    SKILL_ROUNDING: literal(SKILL_ROUNDING),
    SKILL_ROUNDING_SHARE: literal(SKILL_ROUNDING_SHARE),
    HISTORY_STEPS: literal(HISTORY_STEPS),
    RECORD_START: literal(RECORD_FIELDS[0].offset),
    HISTORY_SIZE: literal(HISTORY_SIZE),
    ONE_HOT_SIZES: literal(oneHotSizes()),
    OUTPUTS: literal(
      Object.fromEntries(Object.entries(OUTPUT_ARRAYS).map(([name, entry]) => [snakeCase(name), entry])),
    ),
    REWARD_STACK: literal(snakeKeys(REWARD_STACK)),
    REPETITION: literal(REPETITION),
    EXPLORATION: literal(EXPLORATION),
    SNAPSHOT_MAGIC: literal(MAGIC),
    SNAPSHOT_FORMAT: literal(FORMAT),
    SNAPSHOT_LENGTH: literal(HEADER_LENGTH),
    STATE_LAYOUT_DIGEST: literal(stateLayoutDigest()),
    SNAPSHOT_HEADER: rows(HEADER_FIELDS.map(({ name, offset, size }) => [name, offset, size])),
    STATE_FIELDS: fieldRows(STATE_FIELDS),
    OBSERVATION_FIELDS: fieldRows(OBSERVATION_FIELDS),
    BLOCK: rows(BLOCK_LAYOUT.map(({ name, word, offset, shape }) => [name, word, offset, shape])),
    SLOT_NAMES: literal(RHYTHM.slots),
    PROMPT_RULES: literal(TEXT.rules),
    PROMPT_ANSWER_FORMS: literal(TEXT.answer_forms),
    TOOLS: literal(TEXT.tools),
    BELIEF_MEANINGS: literal(TEXT.beliefs),
    PROMPT_GRADING: literal(TEXT.grading),
    PROMPT_COMPONENTS: literal(TEXT.components),
    PROMPT_STATE: literal(TEXT.state),
    ANSWER_PATTERNS: literal(TEXT.answer),
    MAGNITUDES: literal(largestMagnitudes(world.params)),
    WORDS: words(world.words),
  };
  const lines = Object.entries(constants).map(([name, value]) => `${name} = ${value}`);
  return `"""Names, sizes, layouts, and the numbers of the published world.\n\nGenerated by \`npm run generate\`. Do not edit.\n"""\n\n${lines.join('\n')}\n`;
}

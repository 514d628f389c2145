/** Truth tables of what a vector environment shows, call by call. */
import { expect } from 'vitest';
import type { StepResult } from '../../src/vec-env/options.js';
import type { VecEnv } from '../../src/vec-env.js';
import { NUM_ACTIONS, NUM_BELIEFS, NUM_STEPS, OBSERVATION } from '../../src/world/fields.js';
import { type Columns, rowsOf, shown } from './bits.js';
import { expectRefusal } from './refusals.js';

/**
 * Plays the calls of a table's first column and expects what the others say, one entry a slot.
 *
 * Calls. `reset`, of all; `reset 010`, of a mask; `run 27 3 5`, to these stops; `step 011`, of a mask, in which `x` takes
 * part with an action that none may do; `illegal 01x` and `over 111`, steps that are refused for that.
 *
 * Columns. `step`: the number in the observation. `reward`: `r`, or 0. `terminated`, `finalMask`: as they are. `grade`: `g`
 * if there is one, 0 if all of it is 0. `final`: the step number in the final observation, 0 for none, `-` if none are
 * kept. `episode`: its number. `seed`: that of the present episode. An empty cell says that nothing has changed.
 */
export function expectTable(env: VecEnv, table: string): void {
  const cells = table
    .trim()
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim().split(/ +/).join(' ')));
  const [[, ...columns], ...rows] = cells;
  let result: StepResult;
  let last: string[] = [];
  const got = rows.map(([call, ...expected]) => {
    result = make(env, call, result);
    const row = columns.map((column) => COLUMNS[column](env, result).join(' '));
    const changed = row.map((cell, k) => (expected[k] === '' && cell === last[k] ? '' : cell));
    last = row;
    return [call, ...changed];
  });
  expect(got).toEqual(rows);
}

/** What a table's seeds begin with: slot i plays FIRST_SEED + i. */
export const FIRST_SEED = 100;

function make(env: VecEnv, call: string, before: StepResult): StepResult {
  const [name, ...rest] = call.split(' ');
  const slots = [...(rest[0] ?? '')];
  if (name === 'reset') {
    return env.reset({
      seed: FIRST_SEED,
      ...(rest.length > 0 && { mask: slots.map((slot) => slot === '1') }),
    });
  }
  if (name === 'run') return env.run('heuristic', { stops: rest.map(Number), beliefs: [0.3, 0.4, 0.6] });
  const step = () => {
    const actions = slots.map((slot, i) => (slot === '1' ? (3 * i) % NUM_ACTIONS : NUM_ACTIONS));
    const beliefs = new Float32Array(NUM_BELIEFS * env.numEnvs).fill(0.3);
    return env.step(Uint8Array.from(actions), { mask: slots.map((slot) => slot !== '0'), beliefs });
  };
  if (name === 'step') return step();
  expectRefusal(step, name === 'over' ? 'episode_over' : 'illegal_action');
  return before;
}

const entries = (column: ArrayLike<number | string>): string[] => Array.from(column, String);

const COLUMNS: Record<string, (env: VecEnv, result: StepResult) => string[]> = {
  step: (env, result) => slotsOf(env, result, ({ observations }) => Number(observations[OBSERVATION.step])),
  reward: (_, { rewards }) => Array.from(rewards, (reward) => (reward === 0 ? '0' : 'r')),
  terminated: (_, { terminated }) => entries(terminated),
  truncated: (_, { truncated }) => entries(truncated),
  finalMask: (_, { finalMask }) => entries(finalMask),
  grade: (env, result) => slotsOf(env, result, gradeOf),
  final: (env, result) => slotsOf(env, result, finalOf),
  episode: (env) => entries(env.episodeNumbers),
  seed: (env) => entries(env.seeds),
};

/** One entry a slot, made from the slot's row of everything that is shown. */
function slotsOf(env: VecEnv, result: StepResult, entry: (row: Columns) => number | string): string[] {
  const columns = shown(result);
  return Array.from(env.seeds, (_, i) => String(entry(rowsOf(columns, env.numEnvs, [i]))));
}

const GRADE_NUMBERS = [
  'finalScores',
  'beliefMae',
  'earlyMeans',
  'lateMeans',
  'episodeReturns',
  'episodeLengths',
];

/** All of a grade is there, or nothing is; `?` for anything between. */
function gradeOf({ components, ...columns }: Columns): string {
  const numbers = GRADE_NUMBERS.map((name) => columns[name][0]);
  if (numbers.every((x) => x === 0) && components.every((x) => x === 0)) return '0';
  const whole =
    numbers.every((x) => x !== 0) &&
    columns.episodeLengths[0] === NUM_STEPS &&
    components.some((x) => x !== 0);
  return whole ? 'g' : '?';
}

function finalOf({ finalObservations }: Columns): string {
  if (finalObservations === undefined) return '-';
  return finalObservations.every((x) => x === 0) ? '0' : String(finalObservations[OBSERVATION.step]);
}

/** Compares the outputs of a vector environment with truth tables, call by call. */
import { expect } from 'vitest';
import type { VecEnv } from '../../src/engine/node.js';
import type { StepResult } from '../../src/engine/vec-env/vec-env-options.js';
import { NUM_ACTIONS, NUM_BELIEFS, NUM_STEPS, OBSERVATION } from '../../src/world/fields.js';
import { type Columns, copyOutputs, rowsOf } from './bits.js';
import { expectRefusal } from './refusals.js';

/**
 * Makes the calls in a table's first column, and compares the outputs with the other columns. A cell has an entry for each
 * environment.
 *
 * Calls:
 * - `reset` resets all environments, `reset 010` those of a mask.
 * - `run 27 3 5` runs the environments to these steps.
 * - `step 011` steps with a mask. An `x` in a mask steps the environment with an illegal action.
 * - `illegal 01x` is a step that is refused with `illegal_action`.
 * - `over 111` is a step that is refused with `episode_over`.
 *
 * Columns (an empty cell means the value of the row above):
 * - `step`: the step in the observation.
 * - `reward`: `r` for a reward, 0 for none.
 * - `terminated`, `truncated`, `finalMask`: the values.
 * - `grade`: `g` for a grade, 0 if all its numbers are 0.
 * - `final`: the step in the final observation, 0 for none, `-` in an environment without final observations.
 * - `episode`: the episode's number. `seed`: the episode's seed.
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
    result = applyCall(env, call, result);
    const row = columns.map((column) => COLUMNS[column](env, result).join(' '));
    const changed = row.map((cell, k) => (expected[k] === '' && cell === last[k] ? '' : cell));
    last = row;
    return [call, ...changed];
  });
  expect(got).toEqual(rows);
}

/** The seed of environment 0; environment i has FIRST_SEED + i. */
export const FIRST_SEED = 100;

function applyCall(env: VecEnv, call: string, before: StepResult): StepResult {
  const [name, ...rest] = call.split(' ');
  const marks = [...(rest[0] ?? '')];
  if (name === 'reset') {
    return env.reset({
      seed: FIRST_SEED,
      ...(rest.length > 0 && { mask: marks.map((mark) => mark === '1') }),
    });
  }
  if (name === 'run') return env.run('heuristic', { stops: rest.map(Number), beliefs: [0.3, 0.4, 0.6] });
  const step = () => {
    const actions = marks.map((mark, i) => (mark === '1' ? (3 * i) % NUM_ACTIONS : NUM_ACTIONS));
    const beliefs = new Float32Array(NUM_BELIEFS * env.numEnvs).fill(0.3);
    return env.step(Uint8Array.from(actions), { mask: marks.map((mark) => mark !== '0'), beliefs });
  };
  if (name === 'step') return step();
  expectRefusal(step, name === 'over' ? 'episode_over' : 'illegal_action');
  return before;
}

const entries = (column: ArrayLike<number | string>): string[] => Array.from(column, String);

const COLUMNS: Record<string, (env: VecEnv, result: StepResult) => string[]> = {
  step: (env, result) =>
    entriesByEnv(env, result, ({ observations }) => Number(observations[OBSERVATION.step])),
  reward: (_, { rewards }) => Array.from(rewards, (reward) => (reward === 0 ? '0' : 'r')),
  terminated: (_, { terminated }) => entries(terminated),
  truncated: (_, { truncated }) => entries(truncated),
  finalMask: (_, { finalMask }) => entries(finalMask),
  grade: (env, result) => entriesByEnv(env, result, gradeOf),
  final: (env, result) => entriesByEnv(env, result, finalStepOf),
  episode: (env) => entries(env.episodeNumbers),
  seed: (env) => entries(env.seeds),
};

/** Returns an entry for each environment, computed from its row of all outputs. */
function entriesByEnv(env: VecEnv, result: StepResult, entry: (row: Columns) => number | string): string[] {
  const columns = copyOutputs(result);
  return Array.from(env.seeds, (_, i) => String(entry(rowsOf(columns, env.numEnvs, [i]))));
}

const GRADE_NUMBERS = [
  'finalScores',
  'beliefMae',
  'firstHalfMeans',
  'secondHalfMeans',
  'episodeReturns',
  'episodeLengths',
];

/** Returns `g` for the grade of a whole episode, `0` if all its numbers are 0, and `?` otherwise. */
function gradeOf({ components, ...columns }: Columns): string {
  const numbers = GRADE_NUMBERS.map((name) => columns[name][0]);
  if (numbers.every((x) => x === 0) && components.every((x) => x === 0)) return '0';
  const isComplete =
    numbers.every((x) => x !== 0) &&
    columns.episodeLengths[0] === NUM_STEPS &&
    components.some((x) => x !== 0);
  return isComplete ? 'g' : '?';
}

function finalStepOf({ finalObservations }: Columns): string {
  if (finalObservations === undefined) return '-';
  return finalObservations.every((x) => x === 0) ? '0' : String(finalObservations[OBSERVATION.step]);
}

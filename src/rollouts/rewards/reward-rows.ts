/** Validates the rows of the reward stack. */

import { illegalAction, isAction, NO_ACTION } from '../../engine/validate/steps.js';
import { InputError, Place } from '../../shared/errors.js';
import {
  checkInteger,
  checkLength,
  checkRecord,
  describe,
  isList,
  kindOf,
  wrongType,
} from '../../shared/values.js';
import { MAX_SUM, NUM_ACTIONS, NUM_STEPS } from '../../world/fields.js';

/** Parsed and replayed completions. */
export interface RewardRows {
  /** `[n]`: codes of the parsed actions, -1 for no action. */
  readonly actions: ArrayLike<number>;
  /** `[n]`: whether a belief parsed. 0, NaN and false mean no; any other number and true mean yes. */
  readonly given: ArrayLike<number> | readonly boolean[];
  /** `[n]`: the step's reward in the replay; NaN if missing. Ignored for rows without an action. */
  readonly stepRewards: ArrayLike<number>;
  /** `[n]`: the belief's mean absolute error, in [0, 1]; NaN if missing. Ignored for rows without a belief. */
  readonly beliefMae: ArrayLike<number>;
  /**
   * `[n]`: the belief's term of belief_skill, in [-1, 1]; NaN if missing. Ignored for rows without a belief. Without the array
   * the reward `beliefSkill` is missing in all rows.
   */
  readonly beliefSkill?: ArrayLike<number>;
  /** u8 [n, 28], row-major: the actions before the row's action. Only shaping needs it. */
  readonly histories?: Uint8Array;
  /** `[n]`: the number of actions before the row's action, 0 to 27. Only shaping needs it. */
  readonly stepIndices?: ArrayLike<number>;
}

/** Validated copies of the rows. */
export interface CheckedRows {
  /** i8 [n]: codes, -1 for no action. */
  readonly actions: Int8Array;
  /** u8 [n]: 1 where a belief parsed. */
  readonly given: Uint8Array;
  /** `[n]`: 0 for rows without an action. */
  readonly stepRewards: Float32Array | Float64Array;
  /** `[n]`: 0 for rows without a belief. */
  readonly beliefMae: Float32Array | Float64Array;
  /** `[n]`: 0 for rows without a belief; null without the array. */
  readonly beliefSkill: Float32Array | Float64Array | null;
}

/**
 * Validates and copies rows. Reads each entry at most once.
 * @throws InputError `wrong_type`, `wrong_length`, `out_of_range` or `illegal_action`.
 */
export function checkRewardRows(rows: RewardRows): CheckedRows {
  const { actions, given, stepRewards, beliefMae, beliefSkill } = checkRecord('rows', rows, 'actions');
  const length = checkList('actions', actions).length;
  for (const [what, list] of Object.entries({ given, stepRewards, beliefMae, beliefSkill })) {
    if (what === 'beliefSkill' && list === undefined) continue;
    checkLength(what, checkList(what, list).length, length, 'one for each action');
  }
  const checked = {
    actions: new Int8Array(length),
    given: new Uint8Array(length),
    stepRewards: new Float64Array(length),
    beliefMae: new Float64Array(length),
    beliefSkill: beliefSkill === undefined ? null : new Float64Array(length),
  };
  for (let row = 0; row < length; row++) {
    checked.actions[row] = toActionOrNone(row, actions[row]);
    checked.given[row] = toFlagCode(row, given[row]);
    if (checked.actions[row] !== NO_ACTION) {
      checked.stepRewards[row] = checkBetween('stepRewards', row, stepRewards[row], -MAX_SUM, MAX_SUM);
    }
    if (checked.given[row] === 0) continue;
    checked.beliefMae[row] = checkBetween('beliefMae', row, beliefMae[row], 0, 1);
    if (checked.beliefSkill === null) continue;
    checked.beliefSkill[row] = checkBetween('beliefSkill', row, beliefSkill?.[row], -1, 1);
  }
  return checked;
}

/** The history of each row: `steps(row)` action codes from index `row * 28` of `codes` on. */
export interface Histories {
  readonly codes: Uint8Array;
  /**
   * Returns the number of actions in a row's history.
   * @throws InputError `wrong_type`, `out_of_range`, or `illegal_action` for an invalid code.
   */
  steps(row: number): number;
}

/** Validates type and length of the histories, which shaping needs. @throws InputError `wrong_type` or `wrong_length`. */
export function historiesOf({ histories, stepIndices }: RewardRows, numRows: number): Histories {
  if (kindOf(histories) !== 'Uint8Array') {
    throw wrongType(
      'histories',
      'a Uint8Array, which shaping needs',
      histories,
      `Pass [n, ${NUM_STEPS}] codes, or leave shaping out.`,
    );
  }
  const codes = histories as Uint8Array;
  checkLength('codes in histories', codes.length, numRows * NUM_STEPS, `actions x ${NUM_STEPS}`);
  const indices = checkList('stepIndices', stepIndices) as ArrayLike<number>;
  checkLength('stepIndices', indices.length, numRows, 'one for each action');
  const steps = (row: number): number => {
    const count = isStepIndex(indices[row]) ? indices[row] : refuseStepIndex(row, indices[row]);
    for (let at = row * NUM_STEPS; at < row * NUM_STEPS + count; at++) {
      if (codes[at] >= NUM_ACTIONS) refuseAction('histories', at, codes[at]);
    }
    return count;
  };
  return { codes, steps };
}

function checkList<T>(what: string, list: T): T & ArrayLike<unknown> {
  if (isList(list)) return list;
  throw wrongType(what, 'an array', list, 'Pass one entry for each completion.');
}

const toActionOrNone = (row: number, code: number): number =>
  code === NO_ACTION || isAction(code) ? code : refuseAction('actions', row, code);

function refuseAction(what: 'actions' | 'histories', index: number, code: unknown): never {
  const or = what === 'actions' ? `, or ${NO_ACTION} where no action parsed,` : '';
  const row = what === 'actions' ? index : Math.floor(index / NUM_STEPS);
  const place =
    what === 'actions' ? new Place(what, row) : new Place(what, row, `${what}[${index}] (row ${row})`);
  const remedy = `Pass a code from 0 to ${NUM_ACTIONS - 1}${what === 'actions' ? `, or ${NO_ACTION}` : ''}.`;
  throw illegalAction(place, code, { or, remedy });
}

const isStepIndex = (steps: number): boolean => Number.isInteger(steps) && steps >= 0 && steps < NUM_STEPS;

const refuseStepIndex = (row: number, steps: unknown): number =>
  checkInteger(`stepIndices[${row}]`, steps, 0, NUM_STEPS - 1);

function toFlagCode(row: number, value: unknown): number {
  if (typeof value === 'boolean' || typeof value === 'number') return Number(Boolean(value));
  throw new InputError('wrong_type', {
    expected: `true, false or a number at given[${row}]`,
    got: describe(value),
    remedy: 'Pass true or false.',
  });
}

function checkBetween(what: string, row: number, value: unknown, low: number, high: number): number {
  if (typeof value === 'number' && !(value < low || value > high)) return value;
  throw new InputError(typeof value === 'number' ? 'out_of_range' : 'wrong_type', {
    expected: `a number from ${low} to ${high} at ${what}[${row}]`,
    got: describe(value),
    remedy: 'Pass NaN for a missing number.',
  });
}

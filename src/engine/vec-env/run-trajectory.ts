/** The trajectory of a run: which fields it records, and which of them it returns. */

import { checkName, isList, toFlag, wrongType } from '../../shared/values.js';
import type { RecordedTrajectory, TrajectoryField, TrajectoryOf } from '../backends/backend.js';
import { allocateTrajectory, TRAJECTORY_FIELDS } from '../backends/outputs.js';
import { HISTORY_FIELDS } from '../observe/history.js';
import { LAYOUTS, type RunOptionsFrom } from './vec-env-options.js';

/** The trajectory options of a run. */
export type TrajectoryOptions = Pick<RunOptionsFrom<unknown>, 'trajectory' | 'layout'>;

/** Returns the fields that a run returns. @throws InputError `wrong_type`, `unknown_name`. */
function toFields(value: TrajectoryOptions['trajectory']): readonly TrajectoryField[] {
  if (value === undefined || typeof value === 'boolean') {
    return toFlag('trajectory', value) ? TRAJECTORY_FIELDS : [];
  }
  if (!isList(value)) {
    throw wrongType(
      'trajectory',
      'a boolean or a list of fields',
      value,
      "Pass true, or ['rewards'], for instance.",
    );
  }
  return Array.from(value, (name, k) => checkName(`trajectory[${k}]`, name, TRAJECTORY_FIELDS));
}

/**
 * Allocates the trajectory of a run; null if it records nothing.
 * @param hasHistory whether histories are computed from the trajectory. @throws InputError `wrong_type`, `unknown_name`.
 */
export function toTrajectory(
  { trajectory, layout = 'row-major' }: TrajectoryOptions,
  numEnvs: number,
  hasHistory: boolean,
): RecordedTrajectory | null {
  const isColumnMajor = checkName('layout', layout, LAYOUTS) === 'column-major';
  const fields = new Set([...toFields(trajectory), ...(hasHistory ? HISTORY_FIELDS : [])]);
  return fields.size === 0 ? null : allocateTrajectory(numEnvs, [...fields], isColumnMajor);
}

/** Returns the requested fields of a recorded trajectory; null if there are none. */
export function requestedFields<Field extends TrajectoryField>(
  recorded: RecordedTrajectory | null,
  { trajectory }: TrajectoryOptions,
): TrajectoryOf<Field> | null {
  const fields = toFields(trajectory);
  if (recorded === null || fields.length === 0) return null;
  const arrays = Object.fromEntries(fields.map((name) => [name, recorded[name]]));
  return { ...arrays, columnStride: recorded.columnStride } as TrajectoryOf<Field>;
}

/** Computes final scores from stored components, without stepping. */
import { InputError } from '../../shared/errors.js';
import { checkInteger, checkLength, describe, isFloats } from '../../shared/values.js';
import { COMPONENT_NAMES, NUM_COMPONENTS } from '../../world/fields.js';
import { finalScore } from '../reference/grade.js';
import { type GraderLike, graderWeights } from './grader.js';

/** The layout of components from a column-major result. */
export interface ComponentLayout {
  /** The result's `columnStride`. */
  readonly columnStride: number;
  /** The number of episodes. Entries between it and the stride are padding. */
  readonly numEnvs: number;
}

const ROW_MAJOR: ComponentLayout = { columnStride: 0, numEnvs: 0 };

/**
 * Grades finished episodes again, from their components alone.
 * @returns f32 [n] in [0, 1], newly allocated: the final scores of these episodes under this grader, exact to the bit.
 * @param components f32 [n, 6], by COMPONENT_FIELDS, each in [0, 1], row-major unless `layout` says otherwise.
 * @throws InputError `wrong_type`, `wrong_length`, `out_of_range` (an invalid component); for a grader as
 *   `graderWeights`.
 */
export function regrade(
  components: Float32Array,
  grader: GraderLike,
  layout: ComponentLayout = ROW_MAJOR,
): Float32Array {
  const rows = checkComponents('components', components, layout);
  return gradeRows(rows, graderWeights(grader));
}

/** Does the same as `regrade`, without checks. @param weights f32 [6], which need not sum to 1. */
export const gradeAll = (components: Float32Array, weights: Float32Array): Float32Array =>
  gradeRows(rowMajor('components', components), weights);

function gradeRows(rows: Rows, weights: Float32Array): Float32Array {
  const scores = new Float32Array(rows.count);
  eachRow(rows, (row, i) => {
    scores[i] = finalScore(weights, row);
  });
  return scores;
}

/** Components and their layout: number k of episode i is at `i * step + k * stride`. */
interface Rows {
  readonly components: Float32Array;
  readonly count: number;
  readonly step: number;
  readonly stride: number;
}

/** Calls `visit` with each episode's six components, in an array that is reused. */
function eachRow(
  { components, count, step, stride }: Rows,
  visit: (row: Float32Array, i: number) => void,
): void {
  const row = new Float32Array(NUM_COMPONENTS);
  for (let i = 0; i < count; i++) {
    for (let k = 0; k < NUM_COMPONENTS; k++) row[k] = components[i * step + k * stride];
    visit(row, i);
  }
}

/** Checks components. @throws InputError `wrong_type`, `wrong_length` or `out_of_range`. */
export function checkComponents(what: string, components: Float32Array, layout = ROW_MAJOR): Rows {
  if (!isFloats(components)) {
    throw new InputError(
      'wrong_type',
      `Expected ${what} to be a Float32Array, got ${describe(components)}. Pass [n, ${NUM_COMPONENTS}], as in results.`,
    );
  }
  const rows = layout.columnStride === 0 ? rowMajor(what, components) : columns(what, components, layout);
  eachRow(rows, (row, i) => {
    const k = row.findIndex((component) => !(component >= 0 && component <= 1));
    if (k >= 0) refuseComponent(`${COMPONENT_NAMES[k]} of episode ${i} in ${what}`, row[k]);
  });
  return rows;
}

function rowMajor(what: string, components: Float32Array): Rows {
  const count = Math.ceil(components.length / NUM_COMPONENTS);
  checkLength(`floats in ${what}`, components.length, count * NUM_COMPONENTS, `${NUM_COMPONENTS} an episode`);
  return { components, count, step: NUM_COMPONENTS, stride: 1 };
}

function columns(what: string, components: Float32Array, { columnStride, numEnvs }: ComponentLayout): Rows {
  const most = Math.floor(components.length / NUM_COMPONENTS);
  const stride = checkInteger('columnStride', columnStride, 0, most);
  checkLength(
    `floats in ${what}`,
    components.length,
    stride * NUM_COMPONENTS,
    `columnStride x ${NUM_COMPONENTS}`,
  );
  return { components, count: checkInteger('numEnvs', numEnvs, 0, stride), step: 1, stride };
}

function refuseComponent(where: string, value: number): never {
  throw new InputError(
    'out_of_range',
    `Expected a component from 0 to 1 at ${where}, got ${value}. Pass the components of a result.`,
  );
}

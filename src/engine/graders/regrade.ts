/** Computes final scores from stored components, without stepping. */
import { InputError } from '../../shared/errors.js';
import { checkInteger, checkLength, isFloats, wrongType } from '../../shared/values.js';
import { COMPONENT_FIELDS, COMPONENT_NAMES, NUM_COMPONENTS } from '../../world/fields.js';
import { finalScore } from '../reference/grade.js';
import { type GraderLike, graderWeights } from './grader.js';

/** The layout of components. */
export interface ComponentLayout {
  /** The result's `columnStride`: 0 for row-major components. */
  readonly columnStride: number;
  /**
   * The number of episodes. Column-major: the entries of a column after these are padding. Row-major: 0 if it is unknown.
   */
  readonly numEnvs: number;
}

const ROW_MAJOR: ComponentLayout = { columnStride: 0, numEnvs: 0 };

/**
 * Regrades finished episodes from their components alone.
 * @returns f32 [n] in [0, 1], newly allocated: the final scores of these episodes under this grader, exact to the bit.
 * @param components f32 [n, 8], by COMPONENT_FIELDS and in their ranges, row-major unless `layout` has a stride.
 * @param layout the layout of a result.
 * @throws InputError `wrong_type`, `wrong_length`, `out_of_range` (an invalid component or layout); for an invalid grader
 *   as `graderWeights`.
 */
export function regrade(
  components: Float32Array,
  grader: GraderLike,
  layout: ComponentLayout = ROW_MAJOR,
): Float32Array {
  return gradeRows(checkComponents('components', components, layout), graderWeights(grader));
}

/**
 * Does the same as `regrade` for row-major f32 [n, 8], without checking the ranges of components or weights.
 * @param weights f32 [8], which need not sum to 1.
 */
export const gradeAll = (components: Float32Array, weights: Float32Array): Float32Array =>
  gradeRows(rowMajor('components', components), weights);

function gradeRows(rows: Rows, weights: Float32Array): Float32Array {
  const scores = new Float32Array(rows.count);
  eachRow(rows, (row, i) => {
    scores[i] = finalScore(weights, row);
  });
  return scores;
}

/** Components and their layout: component k of episode i is at `i * rowStride + k * columnStride`. */
interface Rows {
  readonly components: Float32Array;
  readonly count: number;
  readonly rowStride: number;
  readonly columnStride: number;
}

/** Calls `visit` with each episode's components, in an array that is reused. */
function eachRow(
  { components, count, rowStride, columnStride }: Rows,
  visit: (row: Float32Array, i: number) => void,
): void {
  const row = new Float32Array(NUM_COMPONENTS);
  for (let i = 0; i < count; i++) {
    for (let k = 0; k < NUM_COMPONENTS; k++) row[k] = components[i * rowStride + k * columnStride];
    visit(row, i);
  }
}

/** Checks components. @returns them with their layout. @throws InputError `wrong_type`, `wrong_length` or `out_of_range`. */
export function checkComponents(what: string, components: Float32Array, layout = ROW_MAJOR): Rows {
  if (!isFloats(components)) {
    throw wrongType(what, 'a Float32Array', components, `Pass [n, ${NUM_COMPONENTS}], as in results.`);
  }
  const rows =
    layout.columnStride === 0
      ? rowMajor(what, components, layout.numEnvs)
      : columnMajor(what, components, layout);
  eachRow(rows, (row, i) => {
    const k = row.findIndex((component, k) => !(component >= COMPONENT_FIELDS[k].low && component <= 1));
    if (k >= 0)
      refuseComponent(`${COMPONENT_NAMES[k]} of episode ${i} in ${what}`, row[k], COMPONENT_FIELDS[k].low);
  });
  return rows;
}

/** Returns the layout of row-major components. @param numEnvs the number of episodes; 0 if it is unknown. */
function rowMajor(what: string, components: Float32Array, numEnvs = 0): Rows {
  const { length } = components;
  // Rounded up, so that the check refuses an incomplete last episode.
  const count = numEnvs || Math.ceil(length / NUM_COMPONENTS);
  checkLength(`floats in ${what}`, length, count * NUM_COMPONENTS, `${NUM_COMPONENTS} an episode`);
  return { components, count, rowStride: NUM_COMPONENTS, columnStride: 1 };
}

/** Returns the layout of column-major components. */
function columnMajor(
  what: string,
  components: Float32Array,
  { columnStride, numEnvs }: ComponentLayout,
): Rows {
  const maxStride = Math.floor(components.length / NUM_COMPONENTS);
  const stride = checkInteger('columnStride', columnStride, 0, maxStride);
  checkLength(
    `floats in ${what}`,
    components.length,
    stride * NUM_COMPONENTS,
    `columnStride x ${NUM_COMPONENTS}`,
  );
  const count = checkInteger('numEnvs', numEnvs, 0, stride);
  return { components, count, rowStride: 1, columnStride: stride };
}

function refuseComponent(where: string, value: number, low: number): never {
  throw new InputError('out_of_range', {
    expected: `a component from ${low} to 1 at ${where}`,
    got: `${value}`,
    remedy: 'Pass the components of a result.',
  });
}

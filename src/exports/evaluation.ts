/**
 * The subpath `rhythm-vec/evaluation` in Node. `rhythm-vec` exports these too, except the tables: they load a package that
 * most programs do not need.
 * @module
 */

export { type Cell, evaluationTable, type TableColumn, textTable } from '../cli/tables.js';
export * from './evaluation-base.js';

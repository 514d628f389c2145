/**
 * The subpath `rhythm-vec/evaluation` in Node. `rhythm-vec` exports the same, but for the tables, which load a package
 * that it does not.
 * @module
 */

export { type Cell, evaluationTable, type TableColumn, textTable } from '../cli/tables.js';
export * from './evaluation-base.js';

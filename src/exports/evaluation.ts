/**
 * The subpath `rhythm-vec/evaluation` in Node: evaluation, audits, statistics of scores, text tables. `rhythm-vec` exports
 * all but the tables, which load the package cli-table3.
 * @module
 */

export { type Cell, evaluationTable, type TableColumn, textTable } from '../cli/tables.js';
export * from './evaluation-base.js';

/** The main entry point of rhythm-vec in Node: a batched simulation engine of the Rhythm life simulator. */

export * from './exports/agents.js';
export * from './exports/env.js';
export * from './exports/evaluation-base.js';
export * from './exports/rollouts.js';

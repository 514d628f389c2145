/** The public API of rhythm-vec in browsers. It imports no Node module. */

export * from './exports/browser/env.js';
export * from './exports/browser/rollouts.js';
export * from './exports/common/agents.js';
export * from './exports/common/evaluation.js';

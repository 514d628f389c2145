/**
 * The subpath `rhythm-vec/training`: episodes of teachers, and states to train on with GRPO.
 * @module
 */

export type { DatasetOptions } from '../training/datasets/grpo/grpo-options.js';
export { type GrpoState, grpoStates, grpoStatesAsync } from '../training/datasets/grpo/grpo-states.js';
export type { Engine } from '../training/datasets/state-sampler.js';
export { type TeachOptions, teach } from '../training/teaching/planner-teacher.js';
export type { SeedRange } from '../world/conditions.js';

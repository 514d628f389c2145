/**
 * The subpath `rhythm-vec/training`: students, episodes of teachers, and states to train on with GRPO.
 * @module
 */

export { type GrpoState, grpoStates, grpoStatesAsync } from '../training/datasets/grpo/grpo-rows.js';
export type { DatasetOptions, Engine } from '../training/datasets/state-sampler.js';
export type { RefinementFigures } from '../training/student/checkpoint.js';
export type { EpochFigures, Played } from '../training/student/episodes.js';
export type { TrainProgress } from '../training/student/train.js';
export type { TrainOptions } from '../training/student/train-options.js';
export { type TrainStudentOptions, trainStudent } from '../training/student/train-student.js';
export { type TeachOptions, teach } from '../training/teaching/policy-teacher.js';
export type { SeedRange } from '../world/conditions.js';

/** Exports of `rhythm-vec/evaluation` for every platform: rankings, sensitivity to weights, statistics of scores. */

export { type PolicyComponents, rankPolicies, type Standing } from '../../evaluation/ranking.js';
export { interquartileMean, runMeans } from '../../evaluation/statistics/aggregates.js';
export type {
  BootstrapInterval,
  BootstrapMethod,
  BootstrapOptions,
} from '../../evaluation/statistics/bootstrap.js';
export {
  type BootstrapIntervalOptions,
  bootstrapInterval,
  improvementInterval,
  probabilityOfImprovement,
  type StatisticName,
} from '../../evaluation/statistics/bootstrap-interval.js';
export {
  type IntervalOptions,
  meanInterval,
  pairedDifference,
} from '../../evaluation/statistics/mean-interval.js';
export type { TaskScores } from '../../evaluation/statistics/scores.js';
export {
  type Flip,
  type LeadSensitivity,
  type WeightSensitivity,
  weightSensitivity,
} from '../../evaluation/weight-sensitivity.js';
export type { Interval } from '../../shared/statistics.js';

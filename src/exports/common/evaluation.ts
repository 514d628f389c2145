/** Exports of `rhythm-vec/evaluation` for every platform: rankings, sensitivity to weights, statistics of scores. */

export {
  type IntervalOptions,
  interquartileMean,
  meanInterval,
  pairedDifference,
  runMeans,
  type TaskScores,
} from '../../evaluation/aggregates.js';
export {
  type BootstrapInterval,
  type BootstrapIntervalOptions,
  type BootstrapMethod,
  type BootstrapOptions,
  bootstrapInterval,
  improvementInterval,
  probabilityOfImprovement,
  type StatisticName,
} from '../../evaluation/bootstrap.js';
export { type PolicyComponents, rankPolicies, type Standing } from '../../evaluation/ranking.js';
export {
  type Flip,
  type LeadSensitivity,
  type WeightSensitivity,
  weightSensitivity,
} from '../../evaluation/weight-sensitivity.js';
export type { Interval } from '../../shared/statistics.js';

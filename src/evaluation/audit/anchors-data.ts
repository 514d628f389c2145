/** The anchors of v1, v2 and v3 (see Anchor in anchors.ts). Made by `npm run audits`; do not edit. */
import type { GraderAnchors } from './anchors-of.js';

export const ANCHORS_DATA: readonly GraderAnchors[] = [
  {
    grader: 'v1',
    graderWeights: {
      crash_free: 0.2,
      progress: 0.25,
      connection: 0.15,
      adaptation: 0.3,
      efficiency: 0.1,
      belief_accuracy: 0,
      wellbeing: 0,
      belief_skill: 0,
    },
    version: '0.3.0',
    worldDigest: '155aa5c0249f5f7ea7ad51390ac6f1f2040ede617072eb069d12d237ac1d2e8d',
    anchors: {
      sampled: {
        sequence: { mean: 0.75274, low: 0.7522, high: 0.75328 },
        sequenceSeeds: '20000-119999',
        oracle: { mean: 0.83134, low: 0.81658, high: 0.84611 },
        oracleSeeds: '20000-20099',
      },
      discrete: {
        sequence: { mean: 0.81931, low: 0.81849, high: 0.82014 },
        sequenceSeeds: '20000-119999',
        oracle: { mean: 0.87631, low: 0.8569, high: 0.89571 },
        oracleSeeds: '20000-20099',
      },
    },
  },
  {
    grader: 'v2',
    graderWeights: {
      crash_free: 0.15,
      progress: 0.2,
      connection: 0.1,
      adaptation: 0.25,
      efficiency: 0.1,
      belief_accuracy: 0.2,
      wellbeing: 0,
      belief_skill: 0,
    },
    version: '0.3.0',
    worldDigest: '155aa5c0249f5f7ea7ad51390ac6f1f2040ede617072eb069d12d237ac1d2e8d',
    anchors: {
      sampled: {
        sequence: { mean: 0.74928, low: 0.74882, high: 0.74975 },
        sequenceSeeds: '20000-119999',
        oracle: { mean: 0.85488, low: 0.84291, high: 0.86685 },
        oracleSeeds: '20000-20099',
      },
      discrete: {
        sequence: { mean: 0.78428, low: 0.78358, high: 0.78497 },
        sequenceSeeds: '20000-119999',
        oracle: { mean: 0.89065, low: 0.87449, high: 0.9068 },
        oracleSeeds: '20000-20099',
      },
    },
  },
  {
    grader: 'v3',
    graderWeights: {
      crash_free: 0.1,
      progress: 0.1,
      connection: 0.1,
      adaptation: 0,
      efficiency: 0,
      belief_accuracy: 0,
      wellbeing: 0.35,
      belief_skill: 0.35,
    },
    version: '0.3.0',
    worldDigest: '155aa5c0249f5f7ea7ad51390ac6f1f2040ede617072eb069d12d237ac1d2e8d',
    anchors: {
      sampled: {
        sequence: { mean: 0.55107, low: 0.54962, high: 0.55252 },
        sequenceSeeds: '20000-119999',
        oracle: { mean: 0.96381, low: 0.9545, high: 0.97312 },
        oracleSeeds: '20000-20099',
      },
      discrete: {
        sequence: { mean: 0.54393, low: 0.54336, high: 0.5445 },
        sequenceSeeds: '20000-119999',
        oracle: { mean: 0.96862, low: 0.95795, high: 0.9793 },
        oracleSeeds: '20000-20099',
      },
    },
  },
];

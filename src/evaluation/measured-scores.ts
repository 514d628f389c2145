/** Scores of audits. Made by `npm run audits`; do not edit. */

export const MEASURED = {
  /** Version of the package that measured the scores, and digest of the world. */
  version: '0.3.0',
  worldDigest: '155aa5c0249f5f7ea7ad51390ac6f1f2040ede617072eb069d12d237ac1d2e8d',
  /** Anchors (audit/read-anchors.ts): seeds, then mean, low and high by grader, kind of profiles and anchor. */
  sequenceSeeds: '20000-119999',
  oracleSeeds: '20000-20099',
  anchors: {
    v1: {
      sampled: { sequence: [0.75274, 0.7522, 0.75328], oracle: [0.83134, 0.81658, 0.84611] },
      discrete: { sequence: [0.81931, 0.81849, 0.82014], oracle: [0.87631, 0.8569, 0.89571] },
    },
    v2: {
      sampled: { sequence: [0.74928, 0.74882, 0.74975], oracle: [0.85488, 0.84291, 0.86685] },
      discrete: { sequence: [0.78428, 0.78358, 0.78497], oracle: [0.89065, 0.87449, 0.9068] },
    },
    v3: {
      sampled: { sequence: [0.55107, 0.54962, 0.55252], oracle: [0.96381, 0.9545, 0.97312] },
      discrete: { sequence: [0.54393, 0.54336, 0.5445], oracle: [0.96862, 0.95795, 0.9793] },
    },
  },
};

/** Scores of audits and of the yardstick's policies. Made by `npm run audits`; do not edit. */

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
  /** By grader and condition: the mean scores of YARDSTICK_POLICIES (yardstick.ts). */
  yardsticks: {
    v1: {
      'in-distribution': [0.76218, 0.76218, 0.77975, 0.77767],
      ood: [0.74765, 0.74765, 0.76572, 0.76501],
      'discrete:introvert_morning': [0.70462, 0.70462, 0.7247, 0.72232],
      'discrete:extrovert_night_owl': [0.80693, 0.80693, 0.84797, 0.85833],
      'discrete:workaholic_stoic': [0.91959, 0.91959, 0.94777, 0.93145],
      discrete: [0.81038, 0.81038, 0.84015, 0.83737],
    },
    v2: {
      'in-distribution': [0.59808, 0.75714, 0.77046, 0.77111],
      ood: [0.58572, 0.74273, 0.75452, 0.7607],
      'discrete:introvert_morning': [0.54828, 0.67167, 0.68941, 0.68601],
      'discrete:extrovert_night_owl': [0.63543, 0.75117, 0.78308, 0.79499],
      'discrete:workaholic_stoic': [0.72858, 0.88838, 0.90944, 0.89995],
      discrete: [0.63743, 0.77041, 0.79397, 0.79365],
    },
    v3: {
      'in-distribution': [0.53455, 0.53074, 0.53264, 0.54194],
      ood: [0.55495, 0.53494, 0.53965, 0.54441],
      'discrete:introvert_morning': [0.4453, 0.10911, 0.15562, 0.16972],
      'discrete:extrovert_night_owl': [0.63099, 0.28099, 0.27384, 0.27233],
      'discrete:workaholic_stoic': [0.59534, 0.43101, 0.42644, 0.42626],
      discrete: [0.55721, 0.2737, 0.2853, 0.28944],
    },
  },
};

/** The best fixed action sequences that the audits found. Made by `npm run audits`; do not edit. */

export const OPEN_LOOP_SEQUENCES = {
  /** Version of the package that found the sequences, and digest of the world. */
  version: '0.3.0',
  worldDigest: '155aa5c0249f5f7ea7ad51390ac6f1f2040ede617072eb069d12d237ac1d2e8d',
  /** Seeds of the search, evenly spaced in this range. */
  trainingSeeds: { count: 512, first: 100, last: 9999 },
  /** Seeds of `freshScore`, which the search does not use: all in this range. */
  freshSeeds: { first: 20000, last: 29999 },
  /** Seed of the search's random numbers. */
  seed: 0,
  /**
   * By grader. `evaluations` is the number of sequences that the search scored. Scores are means to five decimals, without
   * a belief.
   */
  sequences: {
    v1: {
      days: [
        ['exercise', 'exercise', 'exercise', 'exercise'],
        ['binge_watch', 'exercise', 'exercise', 'exercise'],
        ['exercise', 'exercise', 'binge_watch', 'binge_watch'],
        ['binge_watch', 'binge_watch', 'family_time', 'sleep'],
        ['deep_work', 'family_time', 'family_time', 'sleep'],
        ['sleep', 'deep_work', 'family_time', 'sleep'],
        ['deep_work', 'deep_work', 'family_time', 'family_time'],
      ],
      evaluations: 301317,
      trainingScore: 0.75092,
      freshScore: 0.75323,
    },
    v2: {
      days: [
        ['exercise', 'exercise', 'exercise', 'exercise'],
        ['exercise', 'exercise', 'exercise', 'exercise'],
        ['exercise', 'binge_watch', 'binge_watch', 'binge_watch'],
        ['binge_watch', 'binge_watch', 'family_time', 'sleep'],
        ['deep_work', 'family_time', 'family_time', 'sleep'],
        ['sleep', 'deep_work', 'family_time', 'sleep'],
        ['deep_work', 'deep_work', 'family_time', 'family_time'],
      ],
      evaluations: 301317,
      trainingScore: 0.58867,
      freshScore: 0.59055,
    },
    v3: {
      days: [
        ['sleep', 'sleep', 'family_time', 'sleep'],
        ['meditate', 'deep_work', 'family_time', 'sleep'],
        ['sleep', 'deep_work', 'family_time', 'sleep'],
        ['sleep', 'learn', 'family_time', 'sleep'],
        ['meditate', 'learn', 'family_time', 'sleep'],
        ['sleep', 'learn', 'family_time', 'sleep'],
        ['learn', 'sleep', 'family_time', 'deep_work'],
      ],
      evaluations: 301317,
      trainingScore: 0.54626,
      freshScore: 0.55145,
    },
  },
} as const;

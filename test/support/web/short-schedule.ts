/**
 * Replaces web/src/training/schedule.ts and measured.ts in the page of the tests, with fewer episodes. The epochs take seconds,
 * so that a test can stop the training before it ends.
 */
export const SCHEDULES = {
  stored: { episodes: 60, rounds: 0, epochs: 8 },
  played: { episodes: 60, rounds: 1, roundEpisodes: 20, epochs: 8 },
};
export const MEASURED = { first: 20_000, count: 32 };

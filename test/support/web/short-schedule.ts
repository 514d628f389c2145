/**
 * Replaces web/src/training/schedule.ts in the page of the tests, with fewer episodes. The epochs after the first take
 * seconds, in which tests stop the training.
 */
export const SCHEDULE = { episodes: 60, rounds: 1, roundEpisodes: 20, epochs: 8 };

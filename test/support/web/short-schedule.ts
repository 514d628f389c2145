/**
 * Replaces web/src/training/schedule.ts in the page of the tests, which train with fewer episodes. The page does the same for
 * every number of episodes. After the first epoch, which a test waits for, a training goes on for seconds, in which a test stops it.
 */
export const SCHEDULE = { episodes: 60, rounds: 1, roundEpisodes: 20, epochs: 12 };

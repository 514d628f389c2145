/**
 * Replaces web/src/training/schedule.ts in the page of the tests, which train with fewer episodes. The page does the same for
 * every number of episodes. After the first epoch, for which a test waits, a training goes on for seconds. In this time tests
 * stop it.
 */
export const SCHEDULE = { episodes: 60, rounds: 1, roundEpisodes: 20, epochs: 12 };

/**
 * Replaces web/src/sizes.ts in the page of the tests. Fewer people: without a GPU, run-sequence.ts plays them in two calls, of 1000
 * people each. Crowds are played on SwiftShader. Trainings have fewer episodes; their epochs take seconds, so that a test can
 * stop the training before it ends.
 */
export const PEOPLE = { first: 20_000, count: 2000 };
export const GPU_RULES = { acceptsSoftware: true, isFaster: (): boolean => true };
export const SCHEDULES = {
  stored: { episodes: 60, rounds: 0, epochs: 8 },
  played: { episodes: 60, rounds: 1, roundEpisodes: 20, epochs: 8 },
};
export const MEASURED = { first: 20_000, count: 32 };

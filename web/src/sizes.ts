/** Sizes that the page of the tests replaces by smaller ones (test/support/web/small-sizes.ts). */

/** The first seed of the people, and their number, chosen by hand. No stored sequence was searched on these seeds. */
export const PEOPLE = { first: 20_000, count: 10_000 };

/** Decides whether a graphics device plays crowds. */
export const GPU_RULES = {
  /** Whether an adapter counts that the processor emulates. It is slower than WebAssembly. */
  acceptsSoftware: false,
  /** @param gpu the device's speed; that of the workers is `workers`, both in steps per second. */
  isFaster: (gpu: number, workers: number): boolean => gpu > workers,
};

/**
 * Short trainings: TrainOptions (src/training/student/train-options.ts) with fewer episodes and rounds than by default. Chosen
 * by hand, for a training of about half a minute.
 */
export const SCHEDULES = {
  /** The planner's stored episodes teach (training/episodes.ts), from the first on. */
  stored: { episodes: 3000, rounds: 0, epochs: 8 },
  /** The teacher plays. */
  played: { episodes: 480, rounds: 1, roundEpisodes: 160, epochs: 30 },
};

/**
 * The seeds of the episodes in which students are measured: the first seed, and how many. Training and, by default, `eval` use
 * other seeds. The count is chosen by hand: more episodes give a more exact score and take longer.
 */
export const MEASURED = { first: 20_000, count: 128 };

/** A short training: options of TrainOptions (src/training/student/train-options.ts) whose defaults take longer. */
export const SCHEDULE = { episodes: 480, rounds: 1, roundEpisodes: 160, epochs: 30 };

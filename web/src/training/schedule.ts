/** A short training: TrainOptions (src/training/student/train-options.ts) with fewer episodes and rounds than by default. */
export const SCHEDULE = { episodes: 480, rounds: 1, roundEpisodes: 160, epochs: 30 };
